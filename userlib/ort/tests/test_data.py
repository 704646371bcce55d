# SPDX-License-Identifier: Apache-2.0
"""The networks of WEFT_DATA in ONNX Runtime with the provider, one process each; see network.py.

With WEFT_LEVEL=test-full all of them, else those of FEW. With WEFT_LOG, a file gets a line for each.
"""
import json
import os
import pathlib
import subprocess
import sys

import pytest

from network import LINE, said

HERE, DATA = pathlib.Path(__file__).parent, pathlib.Path(os.environ["WEFT_DATA"])
FEW = ["zoo/models/unet.qop_u8s8_pc", "zoo/models/misc.qdq_s8s8_pc", "zoo/models/unet.dyn", "zoo/models/lstm.qdq_s8s8_pc",
       "migraphx_onnx/qlinearconv_test", "migraphx_onnx/qlinearmatmul_3D_test", "migraphx_onnx/matmulinteger_test", "ort_testdata/mnist",
       "onnx_node/test_qlinearconv/model", "onnx_node/test_qlinearmatmul_3D_int8_float16/model", "onnx_node/test_matmulinteger/model", "onnx_node/test_convinteger_with_padding/model",
       "migraphx_onnx/convinteger_no_bias_test"]
ALL = sorted(str(p.relative_to(DATA))[:-5] for p in DATA.rglob("*.onnx"))


@pytest.mark.parametrize("name", ALL if os.environ.get("WEFT_LEVEL") == "test-full" else FEW)
def test_network(name):
    p = subprocess.run([sys.executable, HERE / "network.py", DATA / f"{name}.onnx"], capture_output=True, text=True, timeout=1800)
    assert p.stdout.startswith("begin\n"), p.stderr[-2000:]
    if "plain\n" not in p.stdout:
        pytest.skip(f"the runtime alone does not run it: {(p.stderr.strip() or 'it ends').splitlines()[-1][:200]}")
    assert p.returncode == 0, p.stderr[-2000:]
    log = said(next(line for line in p.stderr.splitlines() if LINE.search(line)))
    r = json.loads(p.stdout.splitlines()[-1])
    if "WEFT_LOG" in os.environ:
        with open(os.environ["WEFT_LOG"], "a", encoding="utf-8") as f:
            f.write(f"{name}\t{log['nodes']}/{log['of']}\t{log['parts']}\t{log['share']}\t{r['share']}\t{r['like_runtime']}\t{r['like_weft']}\t{r['open']}\n")
    if log["nodes"] == log["of"]:
        assert r["like_weft"]
    if r["share"]:
        assert log["nodes"], "a quantised network of which nothing was taken"
    if r["share"] is not None and not r["open"]:
        assert abs(log["share"] - r["share"]) <= 1
