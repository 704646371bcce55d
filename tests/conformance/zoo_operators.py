#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Judges a .tflite network operator by operator, on the tensors that LiteRT itself computes.

usage: zoo_operators.py WEFT FOLDER MODEL.tflite INPUT.bin ...      the network's inputs in order, raw bytes

LiteRT runs the network with its optimised kernels and keeps every tensor. Each operator is cut out as a network of its
own and gets the tensors that it read there. Where LiteRT has a reference kernel for it, golden must have that kernel's
results on them: integers bit for bit, float32 within 1e-5 of the largest. Where it has none, golden must be within one step (float32:
the same 1e-5) of what the network computed, and the elements that differ are counted. FOLDER is for files in between.

A line for each operator, at the end the sums. Exit status 1 if an operator breaks the rule.

Needs numpy and ai-edge-litert 2.3.
"""

import glob
import os
import subprocess
import sys

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema
from ai_edge_litert.interpreter import Interpreter, OpResolverType

FLOAT_PART = 1e-5      # of the largest result

NAMES = {v: k for k, v in vars(schema.BuiltinOperator).items() if isinstance(v, int)}


def pack(model):
    b = flatbuffers.Builder(1 << 16)
    b.Finish(model.Pack(b), b"TFL3")
    return bytes(b.Output())


def interpreter(data, resolver, **more):
    i = Interpreter(model_content=data, experimental_op_resolver_type=resolver, **more)
    i.allocate_tensors()
    return i


def name_of(model, op):
    c = model.operatorCodes[op.opcodeIndex]
    return NAMES[max(c.builtinCode, c.deprecatedBuiltinCode)]


def cut(data, k):
    """Operator k alone: the model's bytes, and the numbers of its computed operands and of its results in the network."""
    model = schema.ModelT.InitFromObj(schema.Model.GetRootAs(data, 0))
    g = model.subgraphs[0]
    op = g.operators[k]
    given = [int(t) for t in dict.fromkeys(op.inputs) if t >= 0 and model.buffers[g.tensors[t].buffer].data is None]
    made = [int(t) for t in op.outputs]
    used = list(dict.fromkeys([int(t) for t in op.inputs if t >= 0] + made))
    new = {t: i for i, t in enumerate(used)}
    g.tensors = [g.tensors[t] for t in used]
    for t, i in new.items():
        g.tensors[i].name = b"t%d" % t
    op.inputs = [new[int(t)] if t >= 0 else -1 for t in op.inputs]
    op.outputs = [new[t] for t in made]
    op.intermediates = None
    model.operatorCodes, op.opcodeIndex = [model.operatorCodes[op.opcodeIndex]], 0   # the others may have no reference kernel
    g.operators, g.inputs, g.outputs = [op], [new[t] for t in given], [new[t] for t in made]
    model.signatureDefs, model.metadata, model.metadataBuffer = None, None, None
    return name_of(model, op), pack(model), given, made


def reference(data, values):
    """The results of LiteRT's reference kernel, or None if there is none."""
    try:
        i = interpreter(data, OpResolverType.BUILTIN_REF)
        for d, v in zip(i.get_input_details(), values):
            i.set_tensor(d["index"], v)
        i.invoke()
        return [i.get_tensor(d["index"]).copy() for d in i.get_output_details()]
    except (RuntimeError, ValueError):
        return None


def golden(weft, folder, data, values, given):
    for f in glob.glob(folder + "/*.npy"):
        os.remove(f)
    with open(folder + "/one.tflite", "wb") as f:
        f.write(data)
    command = [weft, "run", folder + "/one.tflite", "--device", "golden", "-o", folder]
    for t, v in zip(given, values):
        np.save("%s/in-%d.npy" % (folder, t), v)
        command += ["-i", "t%d=%s/in-%d.npy" % (t, folder, t)]
    r = subprocess.run(command, capture_output=True, text=True)
    if r.returncode:
        return None, (r.stderr.strip().splitlines() or ["?"])[-1]
    outputs = sorted(glob.glob(folder + "/[0-9]*.npy"), key=lambda p: int(os.path.basename(p).split("_")[0]))
    return [np.load(p) for p in outputs], ""


def distance(got, want):
    """How many elements differ, and the largest distance: of integers in steps, of floats as a part of the largest."""
    got = got.reshape(want.shape)
    if want.dtype.kind == "f":
        most = np.abs(want[np.isfinite(want)]).max(initial=0) or 1
        with np.errstate(invalid="ignore"):
            d = np.where((got == want) | (np.isnan(got) & np.isnan(want)), 0, np.abs(got.astype(np.float64) - want) / most)
        d = np.where(np.isnan(d), np.inf, d)
    else:
        d = np.abs(got.astype(np.int64) - want.astype(np.int64))
    return int((d > 0).sum()), d.max(initial=0)


class Row:
    """One operator's verdict."""

    def __init__(self, runtime, weft, folder, data, k):
        self.name, one, given, made = cut(data, k)
        values = [runtime.get_tensor(t) for t in given]
        network = [runtime.get_tensor(t) for t in made]
        exact = reference(one, values)
        self.reference, self.elements, self.differ, self.most, self.why = exact is not None, sum(t.size for t in network), 0, 0, ""
        got, self.why = golden(weft, folder, one, values, given)
        self.good = got is not None
        for y, want in zip(got or [], exact or network):
            differ, most = distance(y, want)
            floats = want.dtype.kind == "f"
            self.good &= most <= (FLOAT_PART if floats else 0 if self.reference else 1)
            self.differ, self.most = self.differ + differ, max(self.most, most)

    def __str__(self):
        return "%-24s %-4s %9d %9d %9.3g%s" % (self.name, "yes" if self.reference else "no", self.elements, self.differ, self.most,
                                             "" if self.good else "  WRONG " + self.why)


def main():
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    weft, folder, path, files = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]
    with open(path, "rb") as f:
        data = f.read()
    runtime = interpreter(data, OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES, experimental_preserve_all_tensors=True)
    for d, f in zip(runtime.get_input_details(), files):
        runtime.set_tensor(d["index"], np.fromfile(f, d["dtype"]).reshape(d["shape"]))
    runtime.invoke()
    rows = []
    print("%-24s %-4s %9s %9s %9s" % ("operator", "ref.", "elements", "differ", "most"))
    for k in range(schema.Model.GetRootAs(data, 0).Subgraphs(0).OperatorsLength()):
        rows.append(Row(runtime, weft, folder, data, k))
        print("%3d %s" % (k, rows[-1]))
    for kind in (True, False):
        of = [r for r in rows if r.reference == kind]
        print("%s: %d operators, %d of %d elements differ" % ("with a reference kernel" if kind else "without", len(of), sum(r.differ for r in of),
                                                              sum(r.elements for r in of)))
    sys.exit(any(not r.good for r in rows))


if __name__ == "__main__":
    main()
