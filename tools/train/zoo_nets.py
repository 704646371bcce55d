#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes networks of the kinds that people bring, with random weights, for measuring.

usage: zoo_nets.py FOLDER [NAME...]

FOLDER gets NAME_int8.tflite for each NAME, by default for all; files that are there
stay. Full-int8 conversion by TensorFlow, of Keras' own networks, of a U-Net and of
layers with many channels, of a ShuffleNetV2 (split, concatenation and a shuffle by
reshape, transpose, reshape), of a MobileNetV2 whose image comes as NCHW, and of a block
of a vision transformer. What they
compute means nothing. Cycles depend on values only where weights are coded, which
random ones that fill their range are not. Needs TensorFlow from PyPI
(make bench-zoo makes an environment).
"""

import os
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = "-1"

import numpy as np
import tensorflow as tf
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

KERAS = tf.keras.applications
L = tf.keras.layers


def unet():
    x = image = L.Input((1024, 1024, 3))
    skips = []
    for channels in (16, 32):
        x = L.Conv2D(channels, 3, padding="same", activation="relu")(x)
        skips.append(x)
        x = L.MaxPool2D()(x)
    x = L.Conv2D(64, 3, padding="same", activation="relu")(x)
    for channels in (32, 16):
        x = L.Concatenate()([L.UpSampling2D(interpolation="nearest")(x), skips.pop()])
        x = L.Conv2D(channels, 3, padding="same", activation="relu")(x)
    return tf.keras.Model(image, L.Conv2D(2, 1)(x))


def wide():
    x = image = L.Input((14, 14, 512))
    for channels in (4096, 4096, 512):
        x = L.Conv2D(channels, 1, activation="relu")(x)
    return tf.keras.Model(image, L.Conv2D(2048, 3, padding="same", activation="relu")(x))


def normed(x, relu=True):
    x = L.BatchNormalization()(x)
    return L.ReLU()(x) if relu else x


def shuffle_unit(x, channels, stride):
    half = channels // 2
    if stride == 1:
        a, b = x[:, :, :, :half], x[:, :, :, half:]
    else:
        a = normed(L.DepthwiseConv2D(3, 2, padding="same", use_bias=False)(x), False)
        a, b = normed(L.Conv2D(half, 1, use_bias=False)(a)), x
    b = normed(L.Conv2D(half, 1, use_bias=False)(b))
    b = normed(L.DepthwiseConv2D(3, stride, padding="same", use_bias=False)(b), False)
    x = L.Concatenate()([a, normed(L.Conv2D(half, 1, use_bias=False)(b))])
    h, w = x.shape[1:3]
    x = L.Permute((1, 2, 4, 3))(L.Reshape((h, w, 2, half))(x))
    return L.Reshape((h, w, channels))(x)


def shufflenetv2(size, classes):
    image = L.Input((size, size, 3), batch_size=1)
    x = normed(L.Conv2D(24, 3, 2, padding="same", use_bias=False)(image))
    x = L.MaxPool2D(3, 2, padding="same")(x)
    for channels, units in ((48, 4), (96, 8), (192, 4)):
        for k in range(units):
            x = shuffle_unit(x, channels, 1 if k else 2)
    x = L.GlobalAveragePooling2D()(normed(L.Conv2D(1024, 1, use_bias=False)(x)))
    return tf.keras.Model(image, L.Softmax()(L.Dense(classes)(x)))


def nchw():
    image = L.Input((3, 224, 224), batch_size=1)
    return tf.keras.Model(image, KERAS.MobileNetV2(weights=None)(L.Permute((2, 3, 1))(image)))


def vit_block():
    """197 tokens of 384 channels, 6 heads."""
    x = tokens = L.Input((197, 384), batch_size=1)
    h = L.LayerNormalization(epsilon=1e-6)(x)
    x = L.Add()([x, L.MultiHeadAttention(6, 64)(h, h)])
    h = L.LayerNormalization(epsilon=1e-6)(x)
    return tf.keras.Model(tokens, L.Add()([x, L.Dense(384)(L.Dense(1536, activation="gelu")(h))]))


NETS = {
    "shufflenetv2_192": lambda: shufflenetv2(192, 2),
    "shufflenetv2_224": lambda: shufflenetv2(224, 1000),
    "mobilenetv2_nchw": nchw,
    "mobilenetv3small_224": lambda: KERAS.MobileNetV3Small(weights=None, input_shape=(224, 224, 3)),
    "efficientnetb0_224": lambda: KERAS.EfficientNetB0(weights=None),
    "nasnetmobile_224": lambda: KERAS.NASNetMobile(weights=None, input_shape=(224, 224, 3)),
    "densenet121_224": lambda: KERAS.DenseNet121(weights=None),
    "resnet50v2_224": lambda: KERAS.ResNet50V2(weights=None),
    "inceptionv3_299": lambda: KERAS.InceptionV3(weights=None),
    "xception_299": lambda: KERAS.Xception(weights=None),
    "unet_1024": unet,
    "wide": wide,
    "vit_block": vit_block,
}


def convert(model):
    """The model as an int8 .tflite; ranges come from one random image."""
    shape = (1,) + tuple(model.input_shape[1:])
    top = 255.0 if shape[-1] == 3 or shape[1] == 3 else 1.0
    random = np.random.default_rng(0)
    signature = tf.TensorSpec(shape, tf.float32)
    function = tf.function(lambda x: model(x, training=False)).get_concrete_function(signature)
    converter = tf.lite.TFLiteConverter.from_concrete_functions([convert_variables_to_constants_v2(function)])
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    converter.representative_dataset = lambda: iter([[(random.random(shape) * top).astype(np.float32)]])
    converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
    converter.inference_input_type = converter.inference_output_type = tf.int8
    return converter.convert()


def main(argv):
    if len(argv) < 2 or any(name not in NETS for name in argv[2:]):
        sys.exit("usage: zoo_nets.py FOLDER [NAME...], NAME one of " + " ".join(NETS))
    os.makedirs(argv[1], exist_ok=True)
    for name in argv[2:] or NETS:
        path = os.path.join(argv[1], name + "_int8.tflite")
        if os.path.exists(path):
            continue
        tf.keras.utils.set_random_seed(1)
        data = convert(NETS[name]())
        with open(path + ".part", "wb") as f:
            f.write(data)
        os.rename(path + ".part", path)
        tf.keras.backend.clear_session()


if __name__ == "__main__":
    main(sys.argv)
