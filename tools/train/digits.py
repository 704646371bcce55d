#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Trains the demo network, 8x8 handwritten digits, and writes it as int8,
int16x8, float8 and float32.

usage: digits.py [folder]        default: tests/models

Data: sklearn's load_digits(), 1797 images with pixels 0..16. Every fifth
sample (index 0, 5, 10, ...) is held out and used for nothing but the printed
accuracy and the test files. Calibration runs over the training samples.
"""

import os

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"      # before numpy: one order of summation, one result

import sys
import zlib
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

import digits_onnx
import float_net
import fp8_net
import int16_net
import int8_net
import tflite_writer as tfl
from digits_files import tflite_bytes, tosa_bytes
from png_writer import gray_png

SEED, N_EPOCHS, HOLD_EVERY = 1, 40, 5


def load():
    """(x, labels) of the training and of the held-out part; x = p/16, float32."""
    data = load_digits()
    x = (data.images / 16).astype(np.float32)[..., None]
    held = np.arange(len(x)) % HOLD_EVERY == 0
    return (x[~held], data.target[~held]), (x[held], data.target[held])


def write_pngs(folder, x, labels):
    """The first held-out digit of each class."""
    folder.mkdir(parents=True, exist_ok=True)
    for digit in range(float_net.N_CLASSES):
        i = int(np.flatnonzero(labels == digit)[0])
        gray = (x[i, :, :, 0].astype(np.int16) + 128).astype(np.uint8)
        png = gray_png([row.tobytes() for row in gray])
        (folder / ("%03d_label%d.png" % (i, digit))).write_bytes(png)


def percent(name, scores, labels, crc=False):
    """The CRC-32 is shown of a file's own outputs."""
    n_right = int((scores.argmax(axis=1) == labels).sum())
    text = "   outputs' CRC-32 %08x" % zlib.crc32(scores.tobytes()) if crc or scores.dtype != np.float32 else ""
    print("%-20s %d/%d = %.2f %%%s" % (name, n_right, len(labels), 100 * n_right / len(labels), text))


def write(path, network):
    path.write_bytes(network)
    print("%s: %d bytes" % (path, len(network)))


def quantise_int8(folder, params, acts, test_x, test_y):
    """Returns the held-out images as the int8 network takes them."""
    layers = int8_net.quantise_net(params, acts)
    x = int8_net.quantise(test_x, int8_net.INPUT)
    percent("int8, held out", int8_net.forward(layers, x)[1], test_y)
    write(folder / "digits_int8.tflite",
          tflite_bytes("8x8 handwritten digits, int8", tfl.INT8, layers, int8_net.OUTPUT))
    scores = digits_onnx.forward(layers, (np.float32(x) + 128) / np.float32(255))
    percent("ONNX, held out", scores, test_y, crc=True)
    write(folder / "digits_qdq.onnx", digits_onnx.qdq_bytes(layers))
    write(folder / "digits_qlinear.onnx", digits_onnx.qlinear_bytes(layers))
    return x


def quantise_int16(folder, params, acts, pixels, test_y):
    layers = int16_net.quantise_net(params, acts)
    x = int16_net.quantise(pixels)
    percent("int16x8, held out", int16_net.forward(layers, x)[1], test_y)
    write(folder / "digits_int16x8.tflite",
          tflite_bytes("8x8 handwritten digits, int16x8", tfl.INT16, layers, int16_net.OUTPUT))


def quantise_fp8(folder, params, acts, pixels, test_y):
    exponent = fp8_net.choose_exponent(acts)
    layers = fp8_net.quantise_net(params, exponent)
    percent("E4M3, held out", fp8_net.forward(layers, fp8_net.e4m3(pixels)), test_y)
    print("the E4M3 network's logits are the real ones times 2^%d" % exponent)
    write(folder / "digits_fp8.tosa", tosa_bytes(layers))


def main(folder):
    (train_x, train_y), (test_x, test_y) = load()
    print("training %d, held out %d" % (len(train_x), len(test_x)))
    params = float_net.train(train_x, train_y, SEED, N_EPOCHS)
    acts = float_net.forward(params, train_x)
    percent("float, training", acts[-1], train_y)
    percent("float, held out", float_net.forward(params, test_x)[-1], test_y)

    write(folder / "digits_float.onnx", digits_onnx.float_bytes(params))
    test_q = quantise_int8(folder, params, acts, test_x, test_y)
    # The other two get what a PNG holds: 8-bit pixels g, of which each takes g / 255.
    pixels = (np.float32(test_q) + 128) / np.float32(255)
    quantise_int16(folder, params, acts, pixels, test_y)
    quantise_fp8(folder, params, acts, pixels, test_y)
    write_pngs(folder / "digits", test_q, test_y)
    np.save(folder / "digits_test_x.npy", test_q)
    np.save(folder / "digits_test_y.npy", test_y.astype(np.uint8))


if __name__ == "__main__":
    if len(sys.argv) > 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]) if len(sys.argv) == 2
         else Path(__file__).resolve().parents[2] / "tests" / "models")
