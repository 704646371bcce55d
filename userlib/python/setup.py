# SPDX-License-Identifier: Apache-2.0
"""Build the Python package around the library.

The package is Python alone and calls libweft through cffi's ABI mode. What it
needs from the tree lies inside the wheel: libweft.so, the Verilated simulators,
the firmware, and the declarations of the public headers (_cdef.h), which the C
preprocessor writes from include/weft.

WEFT_BUILD names a folder that already holds a build (default: ../../build); if
libweft.so is not there, `make` runs in the tree first. WEFT_BUNDLE=no leaves the
native parts out, for a distribution that has them in packages of their own; the
module then opens the system's libweft.so.0.
"""
import os
import pathlib
import shutil
import subprocess
import sys

from setuptools.command.build_py import build_py

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT / "userlib"))
from native_package import setup_native  # noqa: E402

OUT = ROOT / "build" / "python"
HEADERS = ("weft.h", "dev.h", "cards.h", "convert.h")
EMPTY = ("stdbool.h", "stddef.h", "stdint.h", "errno.h", "assert.h", "string.h")


def declarations():
    """The public headers as cffi reads them: no includes, no attributes, no inline functions."""
    fake = OUT / "fake"
    fake.mkdir(parents=True, exist_ok=True)
    for name in EMPTY:
        (fake / name).write_text("")
    source = "".join("#include <weft/%s>\n" % h for h in HEADERS)
    flags = ["-E", "-P", "-nostdinc", "-DWEFT_API=", "-D__attribute__(x)=", "-I", str(fake), "-I", str(ROOT / "include")]
    text = subprocess.run([os.environ.get("CC", "cc"), *flags, "-x", "c", "-"], input=source, text=True, check=True,
                          capture_output=True).stdout
    return "\n".join(line for line in text.splitlines() if not line.startswith(("_Static_assert", "#")))


def find_build():
    """The folder of a finished build."""
    build = pathlib.Path(os.environ.get("WEFT_BUILD", ROOT / "build"))
    if not (build / "libweft.so").exists():
        subprocess.run(["make", "-C", str(ROOT), "O=%s" % build, "all", "firmware"], check=True)
    return build


class Build(build_py):
    """Adds the native parts to the package."""

    def run(self):
        super().run()
        package = pathlib.Path(self.build_lib) / "weft"
        (package / "_cdef.h").write_text(declarations())
        shutil.rmtree(package / "lib", ignore_errors=True)      # what an earlier build has left
        if os.environ.get("WEFT_BUNDLE") == "no":
            return
        build = find_build()
        wanted = [("lib", [build / "libweft.so"]), ("lib/rtl", sorted((build / "rtl").glob("weft-rtl-*.so"))),
                  ("lib/firmware", [build / "firmware" / "boot.bin", build / "firmware" / "weft-fw.img"])]
        for folder, files in wanted:
            (package / folder).mkdir(parents=True, exist_ok=True)
            for f in files:
                if f.exists():
                    shutil.copy(f.resolve(), package / folder / f.name)


setup_native(OUT, Build)
