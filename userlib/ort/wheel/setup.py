# SPDX-License-Identifier: Apache-2.0
"""Build the package weft-onnxruntime: the provider, the library beside it, and the simulators.

WEFT_BUILD names a folder that holds a build (default: ../../../build).
"""
import os
import pathlib
import shutil
import sys

from setuptools.command.build_py import build_py

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "userlib"))
from native_package import setup_native  # noqa: E402

BUILD = pathlib.Path(os.environ.get("WEFT_BUILD", ROOT / "build"))
OUT = BUILD / "weft-onnxruntime"


class Build(build_py):
    """Adds the native parts to the package."""

    def run(self):
        super().run()
        lib = pathlib.Path(self.build_lib) / "weft_onnxruntime" / "lib"
        shutil.rmtree(lib, ignore_errors=True)                  # what an earlier build has left
        (lib / "rtl").mkdir(parents=True)
        for name in "libweft_ort_ep.so", "libweft.so.0":
            shutil.copy(BUILD / name, lib / name)
        for simulator in sorted((BUILD / "rtl").glob("weft-rtl-w*.so")):
            shutil.copy(simulator.resolve(), lib / "rtl" / simulator.name)


setup_native(OUT, Build)
