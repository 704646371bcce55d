# SPDX-License-Identifier: Apache-2.0
"""The demo network as .onnx: in float32, and with the int8 network's weights
and scales as QDQ and as QLinear operators.

All take the image as float32 [1][1][8][8], 8-bit gray g as g / 255, and give
float32 logits [1][10].
"""

import numpy as np

import onnx_writer as onnx
from float_net import CONVS, N_CLASSES, N_FLAT, same_pad, windows

OPSET = 13
MICROSOFT = "com.microsoft"         # QGemm's domain


def begin(name):
    graph = onnx.Graph(name)
    graph.add_output("logits", onnx.FLOAT, [1, N_CLASSES])
    return graph, graph.add_input("image", onnx.FLOAT, [1, 1, 8, 8])


def channels_first(i, w):
    """Weights [Co][Kh][Kw][Ci] as [Co][Ci][Kh][Kw]; of the last layer, whose inputs are [4][4][32], likewise."""
    if i < len(CONVS):
        return np.ascontiguousarray(w.transpose(0, 3, 1, 2))
    size, channels = 4, CONVS[-1][1]
    return np.ascontiguousarray(w.reshape(-1, size, size, channels).transpose(0, 3, 1, 2).reshape(-1, N_FLAT))


def conv_attributes(size, stride):
    before, after, _ = same_pad(size, stride)
    return {"kernel_shape": [3, 3], "strides": [stride] * 2, "pads": [before] * 2 + [after] * 2}


def float_bytes(params):
    graph, at = begin("digits")
    size = 8
    for i, (_, _, stride) in enumerate(CONVS):
        name = "conv%d" % (i + 1)
        w, b = channels_first(i, params[2 * i]), params[2 * i + 1]
        operands = [at, graph.add_constant(name + "/w", onnx.FLOAT, w.shape, w.astype("<f4").tobytes()),
                    graph.add_constant(name + "/b", onnx.FLOAT, b.shape, b.astype("<f4").tobytes())]
        y = graph.add_node("Conv", operands, name + "/sum", **conv_attributes(size, stride))
        at = graph.add_node("Relu", [y], name)
        size = same_pad(size, stride)[2]
    flat = graph.add_node("Flatten", [at], "flat")
    w, b = channels_first(len(CONVS), params[-2]), params[-1]
    operands = [flat, graph.add_constant("dense/w", onnx.FLOAT, w.shape, w.astype("<f4").tobytes()),
                graph.add_constant("dense/b", onnx.FLOAT, b.shape, b.astype("<f4").tobytes())]
    graph.add_node("Gemm", operands, "logits", transB=1)
    return graph.to_bytes(OPSET, "digits, float32")


def add_qparams(graph, name, qparams):
    """Names of scale and zero point."""
    return [graph.add_float(name + "/scale", float(qparams[0])),
            graph.add_constant(name + "/zp", onnx.INT8, [], np.int8(qparams[1]).tobytes())]


def add_weights(graph, name, i, layer):
    """Names of weights, their scales and zero points, and the bias."""
    w, n = channels_first(i, layer["w"]), len(layer["scale_w"])
    shape = [n] if n > 1 else []
    return [graph.add_constant(name + "/w", onnx.INT8, w.shape, w.tobytes()),
            graph.add_constant(name + "/w/scale", onnx.FLOAT, shape, layer["scale_w"].astype("<f4").tobytes()),
            graph.add_constant(name + "/w/zp", onnx.INT8, shape, bytes(n)),
            graph.add_constant(name + "/b", onnx.INT32, layer["b"].shape, layer["b"].astype("<i4").tobytes())]


def qlinear_bytes(layers):
    """ReLU is the lowest code: activations behind one have the zero point -128."""
    graph, image = begin("digits")
    q = add_qparams(graph, "image", layers[0]["x"])
    at, size = graph.add_node("QuantizeLinear", [image] + q, "image/q"), 8
    for i, (_, _, stride) in enumerate(CONVS):
        name = "conv%d" % (i + 1)
        assert layers[i]["y"][1] == -128
        w, scale, zp, b = add_weights(graph, name, i, layers[i])
        y = add_qparams(graph, name, layers[i]["y"])
        at = graph.add_node("QLinearConv", [at] + q + [w, scale, zp] + y + [b], name, **conv_attributes(size, stride))
        q, size = y, same_pad(size, stride)[2]
    flat = graph.add_node("Flatten", [at], "flat")
    w, scale, zp, b = add_weights(graph, "dense", len(CONVS), layers[-1])
    y = add_qparams(graph, "logits", layers[-1]["y"])
    last = graph.add_node("QGemm", [flat] + q + [w, scale, zp, b] + y, "dense", domain=MICROSOFT, transB=1)
    graph.add_node("DequantizeLinear", [last] + y, "logits")
    return graph.to_bytes(OPSET, "digits, QLinear")


def qdq_weights(graph, name, i, layer):
    """Weights and bias behind DequantizeLinear."""
    w, scale, zp, b = add_weights(graph, name, i, layer)
    n = len(layer["scale_w"])
    scale_b = graph.add_constant(name + "/b/scale", onnx.FLOAT, [n] if n > 1 else [], layer["scale_b"].astype("<f4").tobytes())
    axis = {"axis": 0} if n > 1 else {}
    return [graph.add_node("DequantizeLinear", [w, scale, zp], name + "/w/real", **axis),
            graph.add_node("DequantizeLinear", [b, scale_b], name + "/b/real", **axis)]


def qdq_bytes(layers):
    graph, image = begin("digits")

    def quantised(x, name, qparams):
        q = add_qparams(graph, name, qparams)
        codes = graph.add_node("QuantizeLinear", [x] + q, name + "/q")
        return graph.add_node("DequantizeLinear", [codes] + q, "logits" if name == "dense" else name + "/real")

    at, size = quantised(image, "image", layers[0]["x"]), 8
    for i, (_, _, stride) in enumerate(CONVS):
        name = "conv%d" % (i + 1)
        operands = [at] + qdq_weights(graph, name, i, layers[i])
        y = graph.add_node("Conv", operands, name + "/sum", **conv_attributes(size, stride))
        at = quantised(graph.add_node("Relu", [y], name), name, layers[i]["y"])
        size = same_pad(size, stride)[2]
    flat = graph.add_node("Flatten", [at], "flat")
    y = graph.add_node("Gemm", [flat] + qdq_weights(graph, "dense", len(CONVS), layers[-1]), "dense/sum", transB=1)
    quantised(y, "dense", layers[-1]["y"])
    return graph.to_bytes(OPSET, "digits, QDQ")


def requantise(acc, layer):
    """ONNX: the real number, to nearest even. float64 errs by 2^-50, far less than these sums' distance from ties."""
    (scale_x, _), (scale_y, zp_y) = layer["x"], layer["y"]
    y = acc * (np.float64(scale_x) * np.float64(layer["scale_w"]) / np.float64(scale_y))
    assert np.abs(y - np.floor(y) - 0.5).min() > 2.0 ** -30
    return np.clip(np.rint(y) + zp_y, -128, 127).astype(np.int8)


def forward(layers, pixels):
    """pixels [N][8][8][1], g / 255 in float32. Returns the logits, float32 [N][10]."""
    x = np.clip(np.rint(pixels / layers[0]["x"][0]) + layers[0]["x"][1], -128, 127).astype(np.int8)
    for layer, (_, co, stride) in zip(layers, CONVS):
        zp_x, out = layer["x"][1], same_pad(x.shape[1], stride)[2]
        cols = windows(np.int32(x), stride, fill=zp_x) - zp_x
        acc = cols @ layer["w"].reshape(co, -1).T.astype(np.int32) + layer["b"]
        x = requantise(acc, layer).reshape(len(x), out, out, co)
    last = layers[-1]
    acc = (np.int32(x.reshape(len(x), -1)) - last["x"][1]) @ last["w"].T.astype(np.int32) + last["b"]
    return (np.int32(requantise(acc, last)) - last["y"][1]).astype(np.float32) * np.float32(last["y"][0])
