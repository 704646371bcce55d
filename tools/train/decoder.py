#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a small GPT-like decoder with a KV cache, random weights, as int8 or int16x8 .tflite.

usage: decoder.py FILE [--type int8|int16] [--tokens N] [--layers N] [--width N] [--heads N] [--vocab N] [--context N]
                       [--expect FOLDER]

--tokens is the number of tokens that one run reads: many for a prefill, 1 for a step.
The defaults are a step of a model of 30 million parameters: 8 layers of width 512,
8 heads, 8192 words, 128 places in the cache. --expect runs LiteRT's reference kernels
on random inputs and writes them and the outputs as <n>.in.npy and <n>.out.npy.

Inputs: token numbers and places [N] int32; a mask [N, context + N], 0 where a token may
look and -20 elsewhere; for each layer keys and values [heads, context, width / heads] of
the tokens before. Outputs: logits [N, vocab], and the keys and values for the next run,
which have the scales of the inputs: the oldest N places are gone.

Needs what record_flow.py needs.
"""

import argparse
import os
import sys
from pathlib import Path

os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="", TF_ENABLE_ONEDNN_OPTS="0")


def build(c):
    """The network as a concrete function, and the specifications of its inputs."""
    import numpy as np
    import tensorflow as tf
    rng, each = np.random.default_rng(3), c.width // c.heads

    def weights(*shape):
        return tf.constant(rng.normal(size=shape).astype("f4") / np.sqrt(shape[0]).astype("f4"))
    words, places, last = weights(c.vocab, c.width) * 20, weights(c.context * 2, c.width), weights(c.width, c.vocab)
    layer = [{"q": weights(c.width, c.width), "k": weights(c.width, c.width), "v": weights(c.width, c.width), "o": weights(c.width, c.width),
              "up": weights(c.width, 4 * c.width), "down": weights(4 * c.width, c.width)} for _ in range(c.layers)]

    def norm(x):
        return x * tf.math.rsqrt(tf.reduce_mean(x * x, 1, keepdims=True) + 1e-3)

    def split(x):
        return tf.transpose(tf.reshape(x, (c.tokens, c.heads, each)), (1, 0, 2))

    def f(token, place, mask, *cache):
        x, out = tf.gather(words, token) + tf.gather(places, place), []
        for w, old_k, old_v in zip(layer, cache[0::2], cache[1::2]):
            y = norm(x)
            k = tf.concat([old_k, split(tf.matmul(y, w["k"]))], 1)
            v = tf.concat([old_v, split(tf.matmul(y, w["v"]))], 1)
            score = tf.matmul(split(tf.matmul(y, w["q"])), k, transpose_b=True) * (1.0 / each ** 0.5) + mask
            y = tf.reshape(tf.transpose(tf.matmul(tf.nn.softmax(score), v), (1, 0, 2)), (c.tokens, c.width))
            x = x + tf.matmul(y, w["o"])
            x = x + tf.matmul(tf.nn.gelu(tf.matmul(norm(x), w["up"]), approximate=True), w["down"])
            out += [k[:, c.tokens:], v[:, c.tokens:]]
        return [tf.matmul(norm(x), last)] + out
    spec = tf.TensorSpec
    specs = [spec((c.tokens,), tf.int32, "token"), spec((c.tokens,), tf.int32, "place"), spec((c.tokens, c.context + c.tokens), tf.float32, "mask")]
    specs += [spec((c.heads, c.context, each), tf.float32, "%s%d" % (n, i)) for i in range(c.layers) for n in "kv"]
    return tf.function(f, input_signature=specs).get_concrete_function(), specs


def convert(c):
    """The quantised file's bytes. Calibration: caches of random tokens, half of the places masked."""
    import numpy as np
    import tensorflow as tf
    f, specs = build(c)
    rng, lite = np.random.default_rng(5), tf.lite.OpsSet

    def sample():
        mask = np.where(np.arange(c.context + c.tokens) < rng.integers(0, c.context), -20, 0) * np.ones((c.tokens, 1))
        cache = [rng.normal(size=s.shape).astype("f4") for s in specs[3:]]
        return [rng.integers(0, c.vocab, c.tokens).astype("i4"), rng.integers(0, c.context, c.tokens).astype("i4"), mask.astype("f4")] + cache
    converter = tf.lite.TFLiteConverter.from_concrete_functions([f])
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    converter.representative_dataset = lambda: (sample() for _ in range(4))
    wide = lite.EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8
    converter.target_spec.supported_ops = [wide if c.type == "int16" else lite.TFLITE_BUILTINS_INT8]
    converter.inference_input_type = converter.inference_output_type = getattr(tf, c.type)
    return converter.convert()


def random_inputs(details, c, rng):
    """Inputs in the order of the file: token numbers and places within their tables, codes of the whole range."""
    import numpy as np
    for d in details:
        t, name = d["dtype"], d["name"]
        if t == np.int32:
            yield rng.integers(0, c.context if "place" in name else c.vocab, d["shape"]).astype(t)
        elif "mask" in name:
            scale, zero = d["quantization"]
            yield np.clip(np.round(np.where(rng.integers(0, 2, d["shape"]), 0, -20) / scale) + zero, np.iinfo(t).min, np.iinfo(t).max).astype(t)
        else:
            yield rng.integers(np.iinfo(t).min, np.iinfo(t).max + 1, d["shape"]).astype(t)


def interpreter(file):
    from ai_edge_litert.interpreter import Interpreter, OpResolverType
    for kernels in (OpResolverType.BUILTIN_REF, OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES):
        try:
            it = Interpreter(model_content=file, experimental_op_resolver_type=kernels)
            it.allocate_tensors()
            break
        except ValueError:   # some versions of operators that only move values are registered with the fast ones alone
            continue
    return it


def expect(file, c, folder):
    import numpy as np
    it = interpreter(file)
    Path(folder).mkdir(parents=True, exist_ok=True)
    for i, (d, a) in enumerate(zip(it.get_input_details(), random_inputs(it.get_input_details(), c, np.random.default_rng(7)))):
        it.set_tensor(d["index"], a)
        np.save("%s/%d.in.npy" % (folder, i), a)
    it.invoke()
    for i, d in enumerate(it.get_output_details()):
        np.save("%s/%d.out.npy" % (folder, i), it.get_tensor(d["index"]))


def options(arguments):
    p = argparse.ArgumentParser()
    p.add_argument("file")
    p.add_argument("--type", choices=("int8", "int16"), default="int8")
    for name, value in (("tokens", 1), ("layers", 8), ("width", 512), ("heads", 8), ("vocab", 8192), ("context", 128)):
        p.add_argument("--" + name, type=int, default=value)
    p.add_argument("--expect")
    return p.parse_args(arguments)


def main():
    c = options(sys.argv[1:])
    file = convert(c)
    Path(c.file).write_bytes(file)
    if c.expect:
        expect(file, c, c.expect)
    return 0


if __name__ == "__main__":
    sys.exit(main())
