#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`make bench-speed`: how fast this software is on one core, beside other runtimes measured in the same run.

usage: bench_speed.py [--weft build/weft] [--rounds 3] [--only TEXT] [--save FILE]

Each row is measured in rounds, ours and the peer's alternately, in processes of their own, by processor time; the fastest
round of each counts. Peers are those of tools/bench_peers.py, looked for in the environment WEFT_VENV, in those within it
if it is a folder of environments, and in build/venv/peers; without one our figures stand alone. --only takes rows with
TEXT in their names. Exit status: 0; 1 if a row could not be measured; 2 for bad usage.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile

TOOLS = os.path.dirname(os.path.abspath(__file__))
CONVOLUTIONS = [
    # row, entry of `weft bench --host`, the peer's file, MACs
    ("conv 56x56x64 to 64", "golden conv 3x3 56x56x64 to 64", "conv_56x56x64.onnx", 56 * 56 * 64 * 64 * 9),
    ("conv 56x56x64 to 64, scaled", "golden conv 3x3 56x56x64 to int8", "conv_56x56x64.onnx", 56 * 56 * 64 * 64 * 9),
    ("conv 14x14x256 to 256", "golden conv 3x3 14x14x256 to 256", "conv_14x14x256.onnx", 14 * 14 * 256 * 256 * 9),
    ("conv 14x14x256 to 256, scaled", "golden conv 3x3 14x14x256 to int8", "conv_14x14x256.onnx", 14 * 14 * 256 * 256 * 9),
    ("depthwise 56x56x64", "golden depthwise 3x3 56x56x64", "depthwise_56x56x64.onnx", 56 * 56 * 64 * 9),
    ("depthwise 56x56x64, scaled", "golden depthwise 56x56x64 to int8", "depthwise_56x56x64.onnx", 56 * 56 * 64 * 9),
    ("depthwise 14x14x256", "golden depthwise 3x3 14x14x256", "depthwise_14x14x256.onnx", 14 * 14 * 256 * 9),
    ("depthwise 14x14x256, scaled", "golden depthwise 14x14x256 to int8", "depthwise_14x14x256.onnx", 14 * 14 * 256 * 9),
]


class Refused(Exception):
    pass


def output(command):
    """Standard output, or Refused with the last line of what the command said."""
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise Refused((done.stderr.strip() or "%s: status %d" % (command[0], done.returncode)).split("\n")[-1])
    return done.stdout


class Peers:
    """Environments that have a runtime, by the kind of file."""

    def __init__(self):
        given = os.environ.get("WEFT_VENV")
        folders = [given] if given else []
        if given and os.path.isdir(given):
            folders += [os.path.join(given, name) for name in sorted(os.listdir(given))]
        pythons = [os.path.join(f, "bin", "python") for f in folders + ["build/venv/peers"]]
        pythons = [p for p in pythons if os.path.exists(p)]
        self.python = {".onnx": self.find(pythons, "onnxruntime"), ".tflite": self.find(pythons, "ai_edge_litert.interpreter")}

    @staticmethod
    def find(pythons, module):
        for p in pythons:
            if subprocess.run([p, "-c", "import numpy, " + module], capture_output=True).returncode == 0:
                return p
        return None

    def time(self, path, exact=False):
        """(name, milliseconds), or None where the runtime is not installed."""
        python = self.python[os.path.splitext(path)[1]]
        if not python:
            return None
        command = [python, os.path.join(TOOLS, "bench_peers.py"), "time"] + (["--exact"] if exact else []) + [path]
        j = json.loads(output(command))
        return j["peer"], j["ms"]


class Bench:
    def __init__(self, options):
        self.o, self.peers = options, Peers()
        self.rows, self.failed = [], False

    def wanted(self, name):
        return not self.o.only or self.o.only in name

    def ours(self, *arguments):
        """What `weft bench` measured besides networks: {(name, unit): value}."""
        j = json.loads(output([self.o.weft, "bench", "--json"] + list(arguments)))
        return {(h["name"], h["unit"]): h["value"] for h in j["host"]}

    def row(self, name, measure):
        """measure() returns {column: (value, unit, True if more is better)}; the best of all rounds is printed."""
        if not self.wanted(name):
            return
        best = {}
        try:
            for _ in range(self.o.rounds):
                for column, (value, unit, more) in measure().items():
                    old = best.get(column)
                    better = old is None or (value > old[0] if more else value < old[0])
                    best[column] = (value, unit, more) if better else old
        except (Refused, KeyError, ValueError) as e:
            self.failed = True
            print("%-46s %s" % (name, e), flush=True)
            return
        mine = best["weft"]
        text = "%-46s %10.3f %-18s" % (name, mine[0], mine[1])
        entry = {"name": name, "value": mine[0], "unit": mine[1], "peers": {}}
        for column, (value, _, more) in best.items():
            if column != "weft":
                ratio = mine[0] / value if more else value / mine[0]
                entry["peers"][column] = {"value": value, "ratio": ratio}
                text += " %10.3f %-25s %5.2f" % (value, column, ratio)
        self.rows.append(entry)
        print(text, flush=True)

    def convolution(self, name, entry, path, macs):
        def measure():
            found = {"weft": (self.ours("--host")[entry, "GMAC/s"], "GMAC/s", True)}
            for exact in (True, False):
                peer = self.peers.time(path, exact)
                if peer:
                    found[peer[0] + (" exact" if exact else "")] = (macs / peer[1] * 1e-6, "GMAC/s", True)
            return found
        self.row(name, measure)

    def network(self, path, device="golden"):
        base = os.path.basename(path)

        def measure():
            found = {"weft": (self.ours("--" + device, path)["%s %s" % (device, base), "ms"], "ms", False)}
            peer = self.peers.time(path)
            if peer:
                found[peer[0]] = (peer[1], "ms", False)
            return found
        self.row(base, measure)

    def figure(self, name, arguments, key, scale=1.0, unit=None, more=False):
        self.row(name, lambda: {"weft": (self.ours(*arguments)[key] * scale, unit or key[1], more)})

    def simulator(self, path, memory):
        def measure():
            j = json.loads(output([self.o.weft, "bench", "--json", "--memory", memory, path]))
            return {"weft": (j["networks"][0]["sim_cycles_per_second"] * 1e-6, "M cycles/s", True)}
        self.row("simulator %s %s" % (memory, os.path.basename(path)), measure)


def note(weft):
    machine = "unknown machine"
    try:
        with open("/proc/cpuinfo") as f:
            machine = next((line.split(":", 1)[1].strip() for line in f if line.startswith("model name")), machine)
    except OSError:
        machine = platform.machine()
    return "%s, one core; %s; make bench-speed" % (machine, output([weft, "--version"]).strip().split("\n")[0])


def existing(paths):
    for p in paths:
        if not os.path.exists(p):
            print("bench-speed: %s is not there: left out" % p, file=sys.stderr)
    return [p for p in paths if os.path.exists(p)]


def main():
    a = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].removeprefix("usage: "))
    a.add_argument("--weft", default="build/weft")
    a.add_argument("--rounds", type=int, default=3)
    a.add_argument("--only")
    a.add_argument("--save")
    o = a.parse_args()
    out, data = os.environ.get("O", "build"), os.environ.get("WEFT_DATA", "../shared/data")
    nets, speed = os.path.join(out, "nets"), os.path.join(out, "nets", "speed")
    mobile, resnet = os.path.join(data, "hapv3", "mobilenet_v2_224_int8.tflite"), os.path.join(nets, "resnet50_v1.5_224_int8.tflite")
    output([sys.executable, os.path.join(TOOLS, "train", "speed_nets.py"), speed])
    output([sys.executable, os.path.join(TOOLS, "train", "standard_nets.py"), nets])
    b = Bench(o)
    print("%s\n%-46s %10s %-18s %10s %-25s %5s" % (note(o.weft), "what", "weft", "", "peer", "", "ratio"))
    for name, entry, path, macs in CONVOLUTIONS:
        b.convolution(name, entry, os.path.join(speed, path), macs)
    for path in existing([mobile, resnet]):
        b.network(path)
    for name in sorted(os.listdir(speed)):
        if name.endswith(".tflite"):
            b.network(os.path.join(speed, name))
    for path in existing([mobile, resnet]):
        base = os.path.basename(path)
        b.figure("compile " + base, ["--compile", path], ("compile " + base, "processor seconds"))
        b.figure("peak memory " + base, ["--compile", path], ("compile " + base, "MB"), 2**20 / os.path.getsize(path), "files")
    for path in existing([mobile, resnet]):
        base = os.path.basename(path)
        b.figure("model " + base, ["--model", path], ("model " + base, "GMAC/s"), more=True)
    for path in existing([mobile, resnet]):
        b.simulator(path, "ddr")
    if o.save:
        with open(o.save, "w") as f:
            json.dump({"note": note(o.weft), "rows": b.rows}, f, indent=1)
    return 1 if b.failed else 0


if __name__ == "__main__":
    try:
        # ONNX Runtime leaves a file .ses in the folder for temporary files when it is imported.
        with tempfile.TemporaryDirectory() as own:
            os.environ["TMPDIR"] = own
            status = main()
        sys.exit(status)
    except (Refused, OSError) as e:
        print("bench-speed: %s" % e, file=sys.stderr)
        sys.exit(2)
