#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Trains, quantises and writes the demo network: 8x8 handwritten digits.

usage: digits.py [folder]        default: tests/models

Data: sklearn's load_digits(), 1797 images with pixels 0..16. Every fifth
sample (index 0, 5, 10, ...) is held out and used for nothing but the printed
accuracy and the test files. Calibration runs over the training samples.
"""

import os

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"      # before numpy: one order of summation, one result

import sys
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

import float_net
import int8_net
import tflite_writer as tfl
from png_writer import gray_png

SEED, N_EPOCHS, HOLD_EVERY = 1, 40, 5


def load():
    """(x, labels) of the training and of the held-out part; x = p/16, float32."""
    data = load_digits()
    x = (data.images / 16).astype(np.float32)[..., None]
    held = np.arange(len(x)) % HOLD_EVERY == 0
    return (x[~held], data.target[~held]), (x[held], data.target[held])


def add_weights(model, name, layer):
    """The weight and bias tensors; returns their numbers."""
    n = len(layer["scale_w"])
    w = model.add_tensor(name + "/weights", layer["w"].shape, tfl.INT8, layer["w"].tobytes(),
                         layer["scale_w"], [0] * n)
    b = model.add_tensor(name + "/bias", layer["b"].shape, tfl.INT32,
                         layer["b"].astype("<i4").tobytes(), layer["scale_b"], [0] * n)
    return [w, b]


def add_activation(model, name, shape, qparams):
    return model.add_tensor(name, shape, tfl.INT8, None, [qparams[0]], [qparams[1]])


def network_bytes(layers):
    model = tfl.Model("8x8 handwritten digits, int8")
    first = at = add_activation(model, "image", [1, 8, 8, 1], int8_net.INPUT)
    size = 8
    for i, (_, co, stride) in enumerate(float_net.CONVS):
        name = "conv%d" % (i + 1)
        weights = add_weights(model, name, layers[i])
        size = float_net.same_pad(size, stride)[2]
        y = add_activation(model, name, [1, size, size, co], layers[i]["y"])
        model.add_operator(tfl.CONV_2D, [at] + weights, [y], tfl.conv_options(stride, tfl.RELU))
        at = y
    n_flat = float_net.N_FLAT
    shape = model.add_tensor("flat/shape", [2], tfl.INT32, np.array([-1, n_flat], "<i4").tobytes())
    flat = add_activation(model, "flat", [1, n_flat], layers[-1]["x"])
    model.add_operator(tfl.RESHAPE, [at, shape], [flat], tfl.reshape_options([-1, n_flat]))
    weights = add_weights(model, "dense", layers[-1])
    logits = add_activation(model, "logits", [1, float_net.N_CLASSES], layers[-1]["y"])
    model.add_operator(tfl.FULLY_CONNECTED, [flat] + weights, [logits],
                       tfl.fully_connected_options())
    last = add_activation(model, "probabilities", [1, float_net.N_CLASSES], int8_net.OUTPUT)
    model.add_operator(tfl.SOFTMAX, [logits], [last], tfl.softmax_options(1.0))
    return model.to_bytes([first], [last])


def write_pngs(folder, x, labels):
    """The first held-out digit of each class."""
    folder.mkdir(parents=True, exist_ok=True)
    for digit in range(float_net.N_CLASSES):
        i = int(np.flatnonzero(labels == digit)[0])
        gray = (x[i, :, :, 0].astype(np.int16) + 128).astype(np.uint8)
        png = gray_png([row.tobytes() for row in gray])
        (folder / ("%03d_label%d.png" % (i, digit))).write_bytes(png)


def percent(name, predicted, labels):
    n_right = int((predicted == labels).sum())
    print("%-24s %d/%d = %.2f %%" % (name, n_right, len(labels), 100 * n_right / len(labels)))


def main(folder):
    (train_x, train_y), (test_x, test_y) = load()
    print("training %d, held out %d" % (len(train_x), len(test_x)))
    params = float_net.train(train_x, train_y, SEED, N_EPOCHS)
    train_acts = float_net.forward(params, train_x)
    layers = int8_net.quantise_net(params, train_acts)
    test_q = int8_net.quantise(test_x, int8_net.INPUT)
    percent("float, training", train_acts[-1].argmax(axis=1), train_y)
    percent("float, held out", float_net.forward(params, test_x)[-1].argmax(axis=1), test_y)
    percent("int8, held out", int8_net.forward(layers, test_q)[1].argmax(axis=1), test_y)

    network = network_bytes(layers)
    write_pngs(folder / "digits", test_q, test_y)
    (folder / "digits_int8.tflite").write_bytes(network)
    np.save(folder / "digits_test_x.npy", test_q)
    np.save(folder / "digits_test_y.npy", test_y.astype(np.uint8))
    print("%s: %d bytes" % (folder / "digits_int8.tflite", len(network)))


if __name__ == "__main__":
    if len(sys.argv) > 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]) if len(sys.argv) == 2
         else Path(__file__).resolve().parents[2] / "tests" / "models")
