# SPDX-License-Identifier: Apache-2.0
"""What the Python packages of this tree (userlib/python, userlib/ort/wheel) have in common: how setuptools makes them."""
from setuptools import Distribution, setup

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:
    from wheel.bdist_wheel import bdist_wheel


class Native(Distribution):
    """A package with native code, though none of it is an extension module."""

    def has_ext_modules(self):
        return True


class Wheel(bdist_wheel):
    """Any Python 3, but this platform's library."""

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


def setup_native(out, build):
    """Make the package of the current folder: what is made on the way goes to the folder out, build is the command build_py."""
    out.mkdir(parents=True, exist_ok=True)
    setup(distclass=Native, options={"build": {"build_base": str(out)}, "egg_info": {"egg_base": str(out)}},
          cmdclass={"build_py": build, "bdist_wheel": Wheel})
