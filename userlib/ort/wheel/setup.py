# SPDX-License-Identifier: Apache-2.0
"""Build the package weft-onnxruntime: the provider, the library beside it, and the simulators.

WEFT_BUILD names a folder that holds a build (default: ../../../build).
"""
import os
import pathlib
import shutil

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:
    from wheel.bdist_wheel import bdist_wheel

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILD = pathlib.Path(os.environ.get("WEFT_BUILD", ROOT / "build"))
OUT = BUILD / "weft-onnxruntime"


class Build(build_py):
    """Adds the native parts to the package."""

    def run(self):
        super().run()
        lib = pathlib.Path(self.build_lib) / "weft_onnxruntime" / "lib"
        (lib / "rtl").mkdir(parents=True, exist_ok=True)
        for name in "libweft_ort_ep.so", "libweft.so.0":
            shutil.copy(BUILD / name, lib / name)
        for simulator in sorted((BUILD / "rtl").glob("weft-rtl-w*.so")):
            shutil.copy(simulator.resolve(), lib / "rtl" / simulator.name)


class Native(Distribution):
    """A package with native code, though none of it is an extension module."""

    def has_ext_modules(self):
        return True


class Wheel(bdist_wheel):
    """Any Python 3, but this platform's library."""

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


OUT.mkdir(parents=True, exist_ok=True)
setup(distclass=Native, options={"build": {"build_base": str(OUT)}, "egg_info": {"egg_base": str(OUT)}}, cmdclass={"build_py": Build, "bdist_wheel": Wheel})
