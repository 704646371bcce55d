# SPDX-License-Identifier: Apache-2.0
"""Quantisation to float8 E4M3, and TOSA's float8 arithmetic in numpy.

Values, not codes, are held in float64 until they are written: E4M3's values,
their products and the sums of up to 2^13 products (multiples of 2^-18 below
2^31) are exact in it, so numpy may add in any order. A sum is rounded once to
fp16, the bias added in fp16, the result clamped to 0..448 and rounded to E4M3.

A network of ReLUs does not care about positive factors: from the first layer
on every activation is 2^e times the real one, which uses more of E4M3's normal
numbers (2^-6 and up). So the first layer's weights and every bias carry 2^e,
and the logits do.
"""

import numpy as np

from float_net import CONVS, same_pad, windows

MOST = 448.0            # E4M3's largest value; what is greater would become NaN


def e4m3(x):
    """The nearest E4M3 value, ties to even; what is too large becomes the largest."""
    x = np.float64(x)
    exponent = np.maximum(np.frexp(x)[1] - 1, -6)       # below 2^-6 the steps stay 2^-9
    return np.clip(np.ldexp(np.rint(np.ldexp(x, 3 - exponent)), exponent - 3), -MOST, MOST)


def codes(x):
    """Bytes of E4M3 values."""
    fraction, exponent = np.frexp(np.abs(x))            # fraction in 1/2..1
    normal = ((exponent + 6) << 3) + np.int64(16 * fraction) - 8
    code = np.where(np.abs(x) < 2.0 ** -6, np.int64(np.abs(x) * 512), normal)
    return (code | np.where(np.signbit(x), 0x80, 0)).astype(np.uint8)


def choose_exponent(acts):
    """The largest that keeps every activation of the calibration set in half of E4M3's range."""
    return int(np.floor(np.log2(MOST / 2 / max(float(a.max()) for a in acts[1:-1]))))


def quantise_net(params, exponent):
    layers = []
    for i in range(len(params) // 2):
        w, b = np.float64(params[2 * i]), np.float64(params[2 * i + 1]) * 2.0 ** exponent
        layers.append({"w": e4m3(w if i else w * 2.0 ** exponent), "b": b.astype(np.float16)})
    return layers


def layer_sum(rows, layer):
    """fp16: the exact sum, rounded, plus the bias."""
    w = layer["w"].reshape(len(layer["w"]), -1)
    return (rows @ w.T).astype(np.float16) + layer["b"]


def forward(layers, x):
    """x: E4M3 values [N][8][8][1]. Returns fp16 logits [N][10], times 2^e."""
    for layer, (_, co, stride) in zip(layers, CONVS):
        out = same_pad(x.shape[1], stride)[2]
        y = np.clip(layer_sum(windows(x, stride), layer), np.float16(0), np.float16(MOST))
        x = e4m3(y).reshape(len(x), out, out, co)
    return layer_sum(x.reshape(len(x), -1), layers[-1])
