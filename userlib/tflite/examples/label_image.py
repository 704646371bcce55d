# SPDX-License-Identifier: Apache-2.0
"""Classify a picture on the NPU.

    label_image.py MODEL.tflite PICTURE [--labels FILE] [--delegate LIBRARY] [--option KEY=VALUE]...

PICTURE is what Pillow reads, or a .npy array of the input's shape. FILE has a line for each class.
"""
import argparse

import numpy as np

try:
    from ai_edge_litert.interpreter import Interpreter, load_delegate
except ImportError:
    from tflite_runtime.interpreter import Interpreter, load_delegate


def picture(path, detail):
    """The input tensor: pixels of 0..255 as the network wants them."""
    _, height, width, channels = detail["shape"]
    if path.endswith(".npy"):
        pixels = np.load(path)
    else:
        from PIL import Image
        pixels = np.asarray(Image.open(path).convert("RGB" if channels == 3 else "L").resize((width, height)))
    pixels = np.reshape(pixels, detail["shape"])
    if detail["dtype"] in (np.uint8, pixels.dtype):
        return pixels.astype(detail["dtype"])
    real = pixels.astype(np.float32) / 255
    if detail["dtype"] == np.float32:
        return real
    scale, zero = detail["quantization"]
    limits = np.iinfo(detail["dtype"])
    return np.clip(np.rint(real / scale) + zero, limits.min, limits.max).astype(detail["dtype"])


def main():
    p = argparse.ArgumentParser()
    p.add_argument("model")
    p.add_argument("picture")
    p.add_argument("--labels")
    p.add_argument("--delegate", default="build/libweft_delegate.so")
    p.add_argument("--option", action="append", default=[])
    a = p.parse_args()
    i = Interpreter(a.model, experimental_delegates=[load_delegate(a.delegate, dict(o.split("=", 1) for o in a.option))])
    i.allocate_tensors()
    x, y = i.get_input_details()[0], i.get_output_details()[0]
    i.set_tensor(x["index"], picture(a.picture, x))
    i.invoke()
    scores = i.get_tensor(y["index"]).ravel().astype(np.float32)
    if y["dtype"] != np.float32:
        scale, zero = y["quantization"]
        scores = (scores - zero) * scale
    labels = open(a.labels, encoding="utf-8").read().splitlines() if a.labels else [str(k) for k in range(len(scores))]
    for k in np.argsort(-scores, kind="stable")[:5]:
        print(f"{scores[k]:.4f} {labels[k]}")


if __name__ == "__main__":
    main()
