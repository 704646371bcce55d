# SPDX-License-Identifier: Apache-2.0
"""The networks of WEFT_DATA in ONNX Runtime with the provider, one process each; see network.py.

With WEFT_LEVEL=test-full all of them, else those of FEW. With WEFT_LOG, a file gets a line for each.
"""
import pytest

import network                  # it knows where the plugins' common tests are
from data import look_at, names

FEW = ["zoo/models/unet.qop_u8s8_pc", "zoo/models/misc.qdq_s8s8_pc", "zoo/models/unet.dyn", "zoo/models/lstm.qdq_s8s8_pc",
       "migraphx_onnx/qlinearconv_test", "migraphx_onnx/qlinearmatmul_3D_test", "migraphx_onnx/matmulinteger_test", "ort_testdata/mnist",
       "onnx_node/test_qlinearconv/model", "onnx_node/test_qlinearmatmul_3D_int8_float16/model", "onnx_node/test_matmulinteger/model", "onnx_node/test_convinteger_with_padding/model",
       "migraphx_onnx/convinteger_no_bias_test"]


@pytest.mark.parametrize("name", names(".onnx", FEW))
def test_network(name):
    log, r = look_at(network, f"{name}.onnx")
    if r["share"] is not None and r["fixed"]:
        assert abs(log["share"] - r["share"]) <= 1
