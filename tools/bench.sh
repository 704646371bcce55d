#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `make bench`: every network at hand on the RTL, each in its memory profile.
set -u
weft=${O:-build}/weft
data=${WEFT_DATA:-../shared/data}
args=(--micro --memory sram tests/models/digits_int8.tflite)
add() { # add PROFILE FILE...
	local profile=$1 f; shift
	for f; do
		if [ -f "$data/$f" ]; then args+=(--memory "$profile" "$data/$f")
		else echo "bench: $data/$f is not there: left out" >&2; fi
	done
}
add sram mlperf_tiny/{kws_ref_model,vww_96_int8,pretrainedResnet_quant,ad01_int8}.tflite tflite_micro/person_detect.tflite
add ddr mlperf_tiny/{kws_ref_model,vww_96_int8,pretrainedResnet_quant,ad01_int8}.tflite hapv3/mobilenet_v2_224_int8.tflite
exec "$weft" bench "${args[@]}"
