#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# `make bench-zoo`: networks that the compiler was not tuned on (tools/train/zoo_nets.py) on the RTL, with slow memory: the
# table of `weft bench`, everything in $O/bench-zoo.json, and what part of the time the NPU works, the host's operators taken as
# cycles at 100 MHz. WEFT_ZOO names a folder of networks to take instead of making them with TensorFlow from PyPI.
set -u
out=${O:-build}
nets=${WEFT_ZOO:-$out/nets-zoo}

if [ -z "${WEFT_ZOO:-}" ]; then
	tools/venv.sh "$out/venv/zoo" tensorflow==2.21.0 || exit
	"$out/venv/zoo/bin/python" tools/train/zoo_nets.py "$nets" || exit 2
fi
files=("$nets"/*_int8.tflite)
[ -f "${files[0]}" ] || { echo "bench-zoo: $nets has no *_int8.tflite" >&2; exit 2; }
"$out/weft" bench --save "$out/bench-zoo.json" --memory ddr "${files[@]}"
status=$?
for f in "${files[@]}"; do
	"$out/weft" info --json "$f" | python3 -c 'import json, sys
net = json.load(sys.stdin)
print("%-40s %5.1f %% of the cycles on the NPU" % (sys.argv[1], 100 * net["npu_cycles_share"]))' "$(basename "$f")" || status=2
done
exit $status
