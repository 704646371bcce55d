#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# `make bench`: every network at hand on the RTL, each in its memory profile and
# the small ones in the other too. The table on standard output, every operator
# in $O/bench.json, and both drawn in $O/bench.html.
set -u
out=${O:-build}
weft=$out/weft
data=${WEFT_DATA:-../shared/data}
nets=$out/nets
args=(--targets tools/bench_targets.tsv --micro --host --memory sram tests/models/digits_int8.tflite)

add() { # add PROFILE FILE...
	local profile=$1 f
	shift
	for f; do
		if [ -f "$f" ]; then
			args+=(--memory "$profile" "$f")
		else
			echo "bench: $f is not there: left out" >&2
		fi
	done
}

small=("$data"/mlperf_tiny/{kws_ref_model,vww_96_int8,pretrainedResnet_quant,ad01_int8}.tflite
	"$data"/tflite_micro/person_detect.tflite "$data"/coral_test_data/mobilenet_v1_0.25_128_quant.tflite)
large=("$data"/hapv3/mobilenet_v2_224_int8.tflite "$nets"/mobilenet_v1_1.0_224_int8.tflite
	"$nets"/resnet50_v1.5_224_int8.tflite)

python3 tools/train/standard_nets.py "$nets" || exit 2
add sram "${small[@]}"
add ddr "${small[@]}" "${large[@]}"

[ -f "$data/hapv3/mobilenet_v2_224_int8.tflite" ] && args+=(--compile "$data/hapv3/mobilenet_v2_224_int8.tflite")

# Numbers carry machine, commit and command.
machine=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1)
commit=$(git describe --always --dirty 2>/dev/null || echo unknown)
rm -f "$out/bench.json"
"$weft" bench --note "${machine:-unknown machine}, one core; commit $commit; make bench" --save "$out/bench.json" "${args[@]}"
status=$?
if [ -f "$out/bench.json" ]; then
	if python3 tools/bench_html.py "$out/bench.json" "$out/bench.html"; then
		echo "Drawn, with every operator: $out/bench.html (docs/BENCH.md says how to read it)"
	else
		status=2
	fi
fi
exit $status
