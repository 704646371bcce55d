# SPDX-License-Identifier: Apache-2.0
"""Quantisation to int8, and TensorFlow Lite's integer arithmetic in numpy.

Real value = scale * (q - zero_point). Activations: one scale and zero point
per tensor. Weights: zero point 0, -127..127, one scale per output channel in
convolutions and one for the whole fully connected layer. Bias: int32 at
scale_x * scale_w. Scales are float32, as the file stores them.

Accumulators stay below 2^31: |x - zp| <= 255, |w| <= 127, at most 512
products (< 2^24), and a bias of the same order.
"""

import numpy as np

from float_net import CONVS, N_CLASSES, same_pad, windows

INPUT = (np.float32(1 / 255), -128)     # so that an 8-bit gray pixel g is g - 128
OUTPUT = (np.float32(1 / 256), -128)    # what TensorFlow Lite demands of softmax


def round_away(x):
    return np.where(x < 0, np.ceil(x - 0.5), np.floor(x + 0.5))


def quantise(x, qparams):
    scale, zp = qparams
    return np.clip(round_away(np.float64(x) / scale) + zp, -128, 127).astype(np.int8)


def activation_qparams(low, high):
    """The range is widened to hold 0, which must be exact."""
    low, high = min(float(low), 0.0), max(float(high), 0.0)
    scale = np.float32((high - low) / 255)
    return scale, int(np.clip(round_away(-128 - low / scale), -128, 127))


def quantise_weights(w, b, scale_x, per_channel, bias_type=np.int32):
    top = np.abs(w).reshape(len(w), -1).max(axis=1)
    if not per_channel:
        top = top.max(keepdims=True)
    scale_w = (top / 127).astype(np.float32)
    q = round_away(np.float64(w) / scale_w.reshape((-1,) + (1,) * (w.ndim - 1)))
    scale_b = scale_x * scale_w
    return {"w": np.clip(q, -127, 127).astype(np.int8), "scale_w": scale_w,
            "b": round_away(np.float64(b) / scale_b).astype(bias_type), "scale_b": scale_b}


def quantise_net(params, acts):
    """acts: the float network's activations over the calibration set."""
    ranges = [INPUT] + [activation_qparams(a.min(), a.max()) for a in acts[1:]]
    layers = []
    for i in range(len(params) // 2):
        layer = quantise_weights(params[2 * i], params[2 * i + 1], ranges[i][0],
                                 per_channel=i < len(CONVS))
        layer["x"], layer["y"] = ranges[i], ranges[i + 1]
        layers.append(layer)
    return layers


def fixed_multiplier(real):
    """real = m / 2^31 * 2^s with m in 2^30..2^31-1; s > 0 is a left shift."""
    fraction, s = np.frexp(float(real))
    m = int(round_away(fraction * 2.0 ** 31))
    return (2 ** 30, int(s) + 1) if m == 2 ** 31 else (m, int(s))


def high_mul(a, b):
    """High half of the doubled product, rounded; a and b in int32's range."""
    return np.minimum((np.int64(a) * np.int64(b) + (1 << 30)) >> 31, 2 ** 31 - 1)


def rounding_shift(x, n):
    """x / 2^n, ties away from zero; n >= 0."""
    x, n = np.int64(x), np.int64(n)
    half = (np.int64(1) << n) >> 1
    return np.where(x < 0, -((-x + half) >> n), (x + half) >> n)


def rescale(acc, m, s):
    """Two roundings: the multiplication, then the right shift."""
    return rounding_shift(high_mul(np.int64(acc) << np.maximum(s, 0), m), np.maximum(-s, 0))


def requantise(acc, reals, zp, low):
    pairs = [fixed_multiplier(r) for r in reals]
    m, s = (np.array(column) for column in zip(*pairs))
    return np.clip(rescale(acc, m, s) + zp, low, 127).astype(np.int8)


def conv(x, layer, stride):
    """Ratio of scales in double. ReLU: the lowest output is the zero point."""
    (scale_x, zp_x), (scale_y, zp_y) = layer["x"], layer["y"]
    co = len(layer["b"])
    out = same_pad(x.shape[1], stride)[2]
    cols = windows(np.int32(x), stride, fill=zp_x) - zp_x
    acc = cols @ layer["w"].reshape(co, -1).T.astype(np.int32) + layer["b"]
    reals = np.float64(scale_x) * np.float64(layer["scale_w"]) / np.float64(scale_y)
    return requantise(acc, reals, zp_y, zp_y).reshape(len(x), out, out, co)


def fully_connected(x, layer):
    """Product of the two scales rounded to float32 before the division."""
    (scale_x, zp_x), (scale_y, zp_y) = layer["x"], layer["y"]
    acc = (np.int32(x) - zp_x) @ layer["w"].T.astype(np.int32) + layer["b"]
    real = np.float64(np.float32(scale_x * layer["scale_w"][0])) / np.float64(scale_y)
    return requantise(acc, [real], zp_y, -128)


def q31(real):
    return int(round_away(real * 2.0 ** 31))


def exp_negative(a):
    """e^a for a <= 0 in Q5.26; result Q0.31.

    a = -remainder + t, with t in [-1/4, 0) and remainder a multiple of 1/4.
    e^t is a Taylor polynomial about -1/8; each bit of remainder multiplies
    by its own constant.
    """
    quarter = 1 << 24
    t = (a & (quarter - 1)) - quarter
    x = (t << 5) + (1 << 28)
    x2 = high_mul(x, x)
    x3, x4 = high_mul(x2, x), high_mul(x2, x2)
    tail = rounding_shift(high_mul(rounding_shift(x4, 2) + x3, q31(1 / 3)) + x2, 1)
    centre = q31(np.exp(-0.125))
    result = centre + high_mul(centre, x + tail)
    for power in range(-2, 5):
        bit = ((t - a) >> (26 + power)) & 1
        result = np.where(bit, high_mul(result, q31(np.exp(-2.0 ** power))), result)
    return np.where(a == 0, 2 ** 31 - 1, result)


def reciprocal_1_plus(a):
    """1 / (1 + a) for a in [0, 1), Q0.31: three Newton steps in Q2.29 on half of 1 + a."""
    half = (a + 2 ** 31) >> 1                   # a >= 0: mean of a and 1 - 2^-31, rounded up
    x = int(round_away(48 / 17 * 2 ** 29)) + high_mul(half, int(round_away(-32 / 17 * 2 ** 29)))
    for _ in range(3):
        x = x + (high_mul(x, (1 << 29) - high_mul(half, x)) << 2)
    return np.minimum(x << 1, 2 ** 31 - 1)


def softmax(q, scale):
    """int8 logits of one tensor -> int8 at OUTPUT's scale. beta = 1."""
    m, s = fixed_multiplier(min(float(scale) * 2 ** 26, 2.0 ** 31 - 1))
    lowest = -int(31 * 2.0 ** 26 / 2.0 ** s)    # differences below it give exactly 0
    diff = np.int64(q) - np.int64(q).max(axis=1, keepdims=True)
    kept = diff >= lowest
    e = exp_negative(rescale(np.where(kept, diff, 0), m, s))
    total = np.where(kept, rounding_shift(e, 12), 0).sum(axis=1, keepdims=True)
    lead = 31 - np.floor(np.log2(total)).astype(np.int64)   # leading zeros of 32 bits; >= 2^19
    inverse = reciprocal_1_plus((total << lead) - 2 ** 31)
    p = rounding_shift(high_mul(inverse, e), 12 - lead + 31 - 8)
    return np.where(kept, np.clip(p - 128, -128, 127), -128).astype(np.int8)


def forward(layers, x):
    """x [N][8][8][1] int8. Returns (logits, probabilities), int8 [N][10]."""
    for layer, (_, _, stride) in zip(layers, CONVS):
        x = conv(x, layer, stride)
    logits = fully_connected(x.reshape(len(x), -1), layers[-1])
    assert logits.shape[1] == N_CLASSES
    return logits, softmax(logits, layers[-1]["y"][0])
