# SPDX-License-Identifier: Apache-2.0
"""Quantisation to int16x8, and TensorFlow Lite's arithmetic for it in numpy.

Activations int16 with zero point 0, weights as in int8_net, bias int64 at
scale_x * scale_w. An accumulator holds at most 512 products of 2^15 * 127 and
a bias of the same order: below 2^32, and below 2^48 times the multiplier.
"""

import numpy as np

from float_net import CONVS, N_CLASSES, same_pad, windows
from int8_net import fixed_multiplier, high_mul, quantise_weights, round_away, rounding_shift

INPUT = (np.float32(1 / 32640), 0)      # so that an 8-bit gray pixel g is 128 * g
OUTPUT = (np.float32(1 / 32768), 0)     # what TensorFlow Lite demands of softmax
STEPS = 512                             # of softmax's tables


def quantise(x):
    return np.clip(round_away(np.float64(x) / INPUT[0]), -32768, 32767).astype(np.int16)


def quantise_net(params, acts):
    """acts: the float network's activations over the calibration set."""
    ranges = [INPUT] + [(np.float32(np.abs(a).max() / np.float64(32767)), 0) for a in acts[1:]]
    layers = []
    for i in range(len(params) // 2):
        layer = quantise_weights(params[2 * i], params[2 * i + 1], ranges[i][0],
                                 per_channel=i < len(CONVS), bias_type=np.int64)
        layer["x"], layer["y"] = ranges[i], ranges[i + 1]
        layers.append(layer)
    return layers


def requantise(acc, reals, low):
    """One rounding, with the multiplier cut to 16 bits."""
    pairs = [fixed_multiplier(r) for r in reals]
    m, s = (np.array(column) for column in zip(*pairs))
    m = np.where(m < 0x7FFF0000, (m + (1 << 15)) >> 16, 0x7FFF)
    shift = 15 - s
    return np.clip((acc * m + (np.int64(1) << (shift - 1))) >> shift, low, 32767).astype(np.int16)


def conv(x, layer, stride):
    co = len(layer["b"])
    out = same_pad(x.shape[1], stride)[2]
    acc = windows(np.int64(x), stride) @ np.int64(layer["w"].reshape(co, -1).T) + layer["b"]
    reals = np.float64(layer["x"][0]) * np.float64(layer["scale_w"]) / np.float64(layer["y"][0])
    return requantise(acc, reals, 0).reshape(len(x), out, out, co)


def fully_connected(x, layer):
    """Product of the two scales rounded to float32 before the division."""
    acc = np.int64(x) @ np.int64(layer["w"].T) + layer["b"]
    real = np.float64(np.float32(layer["x"][0] * layer["scale_w"][0])) / np.float64(layer["y"][0])
    return requantise(acc, [real], -32768)


def table(f, low, high):
    """32768 * f over [low, high] in float32, moved by half the error of straight lines."""
    one = np.float32
    step = one((one(high) - one(low)) / one(STEPS))
    x = one(low) + np.arange(STEPS + 1).astype(one) * step
    at = f(x) * one(32768)
    middle = round_away(f(x[:-1] + step / one(2)) * one(32768))
    line = round_away((at[1:] + round_away(at[:-1])) / one(2))
    moved = round_away(at[:-1]) - round_away((line - middle) / one(2))
    last = round_away(f(one(high)) * one(32768))
    return np.clip(np.append(moved, last), -32768, 32767).astype(np.int64)


def look_up(t, x):
    """x in Q9.7, 0 in the table's middle; between two entries rounded linearly."""
    x = np.clip(x, -32768, 32767)
    i, part = (x >> 7) + STEPS // 2, x & 127
    return t[i] + (((t[i + 1] - t[i]) * part + 64) >> 7)


def softmax(q, scale):
    """int16 logits of one tensor -> int16 at OUTPUT's scale. beta = 1."""
    exp = table(lambda v: np.exp(np.float64(v)).astype(np.float32), -10, 0)
    inverse = table(lambda v: np.float32(1) / (np.float32(1) + v), 0, 1)
    m, s = fixed_multiplier(np.float64(scale) / (10 / 65535))
    diff = np.int64(q) - np.int64(q).max(axis=1, keepdims=True)
    scaled = rounding_shift(high_mul(diff << max(s, 0), m), max(-s, 0))
    e = look_up(exp, scaled + 32767)
    total = e.sum(axis=1, keepdims=True)
    lead = 31 - np.floor(np.log2(total)).astype(np.int64)   # leading zeros of 32 bits
    part = ((total << (lead - 1)) + (1 << 13)) >> 14        # 1..2 as 2^16..2^17
    r = look_up(inverse, part - (1 << 16) - (1 << 15))
    return np.clip((e * r + (np.int64(1) << (30 - lead))) >> (31 - lead), 0, 32767).astype(np.int16)


def forward(layers, x):
    """x [N][8][8][1] int16. Returns (logits, probabilities), int16 [N][10]."""
    for layer, (_, _, stride) in zip(layers, CONVS):
        x = conv(x, layer, stride)
    logits = fully_connected(x.reshape(len(x), -1), layers[-1])
    assert logits.shape[1] == N_CLASSES
    return logits, softmax(logits, layers[-1]["y"][0])
