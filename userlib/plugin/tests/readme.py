# SPDX-License-Identifier: Apache-2.0
"""The programs on the project's first page."""
import os
import textwrap


def program(begin):
    """The indented lines behind the one that begins so, with the paths of this build."""
    root = os.path.join(os.path.dirname(__file__), "../../..")
    text = open(os.path.join(root, "README.md"), encoding="utf-8").read()
    block = text[text.index("\n" + begin):].split("\n\n")[1]
    assert all(line.startswith("    ") for line in block.splitlines())
    return textwrap.dedent(block).replace("build/", os.environ["WEFT_BUILD"] + "/").replace("tests/models/", os.environ["WEFT_MODELS"] + "/")
