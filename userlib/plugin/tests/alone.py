# SPDX-License-Identifier: Apache-2.0
"""A plugin in a folder of its own, with the library or without it, and with no simulators but those that a test puts there."""
import os
import shutil
import subprocess
import sys

BUILD = os.environ["WEFT_BUILD"]


def alone(folder, plugin, library=True, simulator=None):
    """Copies the plugin there, and libweft; simulator, any file, becomes the one of w16. Returns the plugin's path."""
    for name in [plugin] + ["libweft.so.0"] * library:
        shutil.copy(os.path.join(BUILD, name), folder / name)
    if simulator:
        (folder / "rtl").mkdir()
        shutil.copy(simulator, folder / "rtl" / "weft-rtl-w16.so")
    return str(folder / plugin)


def last_line(program, *arguments):
    """The last line that a program in Python prints, in a process of its own: the libraries of this one are loaded."""
    p = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True)
    return (p.stdout.splitlines() or [p.stderr])[-1]
