#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Put what nextpnr found into one report: tools/board/bitstream.sh calls it.

    report.py DIR JOB...

DIR holds weft.json (Yosys' netlist) and a folder for each JOB (seed-N, or pack): nextpnr's log and
report, seconds, status. Writes DIR/report.json (of pack: DIR/pack/report.json), prints it in short
and, of the seeds that met everything, takes the fastest one's bitstream as DIR/weft.bit. Exit
status 0, 1 where a part has less than a packed design takes, or 2 where a file cannot be read.
"""
import collections
import json
import os
import re
import shutil
import subprocess
import sys

# A part of the design is an instance at most this far below the top.
DEPTH = 4
# LUTs' places that nextpnr uses for a cell.
COMBS = {"LUT4": 1, "CCU2C": 2, "TRELLIS_DPR16X4": 6}
OTHERS = ("TRELLIS_FF", "DP16KD", "MULT18X18D")


def instance(name):
    """The instance that a flattened name lies in, "" for the top. Instances are called u_..."""
    parts = []
    for part in name.split("."):
        if not part.startswith("u_"):
            break
        parts.append(part)
    return ".".join(parts[:DEPTH])


def cells_by_instance(netlist):
    """Counts of cells by instance, as {instance: {kind: number}}, and each cell's instance.

    A cell belongs where the name of a net that it drives lies; LUTs without a named net
    belong where most of their nets lead.
    """
    with open(netlist) as file:
        modules = json.load(file)["modules"]
    top = next(m for m in modules.values() if "top" in m["attributes"])
    names = {}
    for name, net in top["netnames"].items():
        if not net.get("hide_name"):
            place = instance(name)
            for bit in net["bits"]:
                if len(place) > len(names.get(bit, "")):
                    names[bit] = place
                else:
                    names.setdefault(bit, place)
    kinds, drives, readers = {}, {}, collections.defaultdict(list)
    for name, cell in top["cells"].items():
        kinds[name] = cell["type"]
        drives[name] = []
        for port, bits in cell["connections"].items():
            if cell["port_directions"].get(port) == "output":
                drives[name] += bits
            else:
                for bit in bits:
                    readers[bit].append(name)
    place = {}
    for name, bits in drives.items():
        named = [names[bit] for bit in bits if bit in names]
        if named:
            place[name] = max(named, key=len)
    left = [name for name in kinds if name not in place]
    while left:
        still = []
        for name in left:
            votes = collections.Counter(place[r] for bit in drives[name] for r in readers[bit] if r in place)
            if votes:
                place[name] = votes.most_common(1)[0][0]
            else:
                still.append(name)
        if len(still) == len(left):
            break
        left = still
    counts = collections.defaultdict(collections.Counter)
    for name, kind in kinds.items():
        at = place.get(name, "")
        if kind in COMBS:
            counts[at]["TRELLIS_COMB"] += COMBS[kind]
        elif kind in OTHERS:
            counts[at][kind] += 1
    return {at: dict(counts[at]) for at in sorted(counts)}, place


def read(path, otherwise=""):
    """A file's text, or otherwise where there is none."""
    try:
        with open(path) as file:
            return file.read()
    except FileNotFoundError:
        return otherwise


def steps(path, place):
    """The ends of a path of nextpnr's report (cell and its instance, from place), its delay in ns
    and how many cells it passes."""
    parts = path["path"]
    begin, end = parts[0]["from"]["cell"], parts[-1]["to"]["cell"]
    return {
        "from": begin,
        "from_instance": place.get(begin, ""),
        "to": end,
        "to_instance": place.get(end, ""),
        "ns": round(sum(part["delay"] for part in parts), 2),
        "cells": sum(1 for part in parts if part["type"] == "logic"),
    }


def job_report(folder, place):
    """What became of one job; place: instances of cells."""
    log = read(f"{folder}/log")
    used = {}
    for kind, have, there in re.findall(r"^Info:\s+(\w+):\s+(\d+)/\s*(\d+)\s+\d+%$", log, re.M):
        used[kind] = {"used": int(have), "there": int(there)}
    out = {
        "job": os.path.basename(folder),
        "met": read(f"{folder}/status").strip() == "0",
        "seconds": int(read(f"{folder}/seconds", "0")),
        "used": used,
        "errors": re.findall(r"^ERROR: (.*)$", log, re.M),
        "clocks": {},
        "worst": [],
    }
    text = read(f"{folder}/nextpnr.json")
    if text:
        report = json.loads(text)
        for clock, at in report.get("fmax", {}).items():
            out["clocks"][clock] = {"mhz": round(at["achieved"], 2), "wanted": round(at["constraint"], 2)}
        out["worst"] = [{"clocks": f"{p['from']} -> {p['to']}", **steps(p, place)} for p in report.get("critical_paths", [])]
    return out


def main():
    folder, names = sys.argv[1], sys.argv[2:]
    cells, place = cells_by_instance(f"{folder}/weft.json")
    jobs = [job_report(f"{folder}/{name}", place) for name in names]
    packed = names == ["pack"]
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], capture_output=True, text=True, check=False)
    report = {"commit": commit.stdout.strip(), "cells": cells, "jobs": jobs}
    with open(f"{folder}/pack/report.json" if packed else f"{folder}/report.json", "w") as file:
        json.dump(report, file, indent=1)
        file.write("\n")
    for kind in ("TRELLIS_COMB", "TRELLIS_FF", "TRELLIS_RAMW", "DP16KD", "MULT18X18D"):
        at = jobs[0]["used"].get(kind)
        if at:
            print(f"  {kind:13s}{at['used']:7d} of{at['there']:7d}  {100 * at['used'] / at['there']:5.1f} %")
    for job in jobs:
        clocks = "".join(f", {at['mhz']} MHz (wanted {at['wanted']})" for at in job["clocks"].values())
        print(f"  {job['job']}: {'met' if job['met'] else 'not met'}, {job['seconds']} s{clocks}")
        for error in job["errors"]:
            print(f"    {error}")
    over = [f"{kind} {at['used']} of {at['there']}" for kind, at in jobs[0]["used"].items() if at["used"] > at["there"]]
    if over:
        print(f"bitstream: does not fit: {', '.join(over)}", file=sys.stderr)
    if packed:
        return 1 if over else 0
    done = [job for job in jobs if job["met"] and os.path.exists(f"{folder}/{job['job']}/weft.bit")]
    if done:
        best = max(done, key=lambda job: min((at["mhz"] for at in job["clocks"].values()), default=0))
        shutil.copy(f"{folder}/{best['job']}/weft.bit", f"{folder}/weft.bit")
        print(f"  {folder}/weft.bit: of {best['job']}; {folder}/report.json")
    elif os.path.exists(f"{folder}/weft.bit"):
        os.remove(f"{folder}/weft.bit")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (OSError, ValueError, KeyError, StopIteration) as error:
        print(f"report: {error}", file=sys.stderr)
        sys.exit(2)
