# SPDX-License-Identifier: Apache-2.0
"""The networks of WEFT_DATA in a runtime with a plugin, one process each."""
import json
import os
import pathlib
import subprocess
import sys

import pytest

DATA = pathlib.Path(os.environ["WEFT_DATA"])


def names(suffix, few):
    """With WEFT_LEVEL=test-full the names of all files of that suffix, without it; else those of few."""
    if os.environ.get("WEFT_LEVEL") != "test-full":
        return few
    return sorted(str(p.relative_to(DATA))[:-len(suffix)] for p in DATA.rglob("*" + suffix))


def look_at(network, name, *options):
    """
    Has network, a module such as ort/tests/network.py, look at a file of DATA, in a process of its own. Returns what the plugin's
    line of log says, and what network.py prints. Skips what the runtime alone does not run. What holds of every network is
    asserted here: if the plugin took all nodes the bits are those of `weft run`, and of a network with multiplications for the NPU
    it took something. With WEFT_LOG, that file gets a line.
    """
    p = subprocess.run([sys.executable, network.__file__, DATA / name, *options], capture_output=True, text=True, timeout=1800)
    assert p.stdout.startswith("begin\n"), p.stderr[-2000:]
    if "plain\n" not in p.stdout:
        pytest.skip(f"the runtime alone does not run it: {(p.stderr.strip() or 'it ends').splitlines()[-1][:200]}")
    assert p.returncode == 0, p.stderr[-2000:]
    log = network.said(next(line for line in p.stderr.splitlines() if network.LINE.search(line)))
    r = json.loads(p.stdout.splitlines()[-1])
    if "WEFT_LOG" in os.environ:
        with open(os.environ["WEFT_LOG"], "a", encoding="utf-8") as f:
            f.write(f"{name}\t{log['nodes']}/{log['of']}\t{log['parts']}\t{log['share']}\t{r['share']}\t{r['like_runtime']}\t{r['like_weft']}\t{r['fixed']}\n")
    if log["nodes"] == log["of"]:
        assert r["like_weft"]
    if r["share"]:
        assert log["nodes"], "a quantised network of which nothing was taken"
    return log, r
