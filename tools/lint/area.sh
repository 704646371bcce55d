#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# `make area [SIZES="8"] [TECHS="ecp5 xilinx"] [MODES="int8 int8,int16 ..."]`:
# what the systolic array and one PE cost with each set of arithmetic modes, as
# Yosys maps them to an ECP5 and to a Xilinx 7-series, as rows of docs/area.md.
# Sizes are powers of two; 16 takes from four minutes (int8) up for each set of modes.
# Nothing is extrapolated: each row is a flattened design of its own. A PE is the
# one at row 1, column 1 of an array of 4x4, which has neighbours on all sides, cut
# out in front of mapping: its registers (operands, sum, shadow) and the logic in
# front of them.
#
# Results stay in build/area until the RTL changes; several runs at once are safe if
# they have different SIZES or TECHS. Modes are weft_cfg_pkg's HAS_INT16, HAS_FP8
# and HAS_PAIRS.
set -euo pipefail
cd "$(dirname "$0")/../.."
out=${O:-build}/area
mkdir -p "$out"
# shellcheck source=tools/lint/yosys.sh
. tools/lint/yosys.sh

rtl='hw/gen/weft_cmd_pkg.sv hw/prim/weft_float_pkg.sv hw/array/weft_array.sv'

log2() { local n=$1 l=0; while [ $((1 << l)) -lt "$n" ]; do l=$((l + 1)); done; echo $l; }

# Configuration of an array of that size with those modes, else as w8's.
config() { # size int16 fp8 pairs
	sed -e "s/ N = [0-9]*;/ N = $1;/" -e "s/ LOG2_N = [0-9]*;/ LOG2_N = $(log2 "$1");/" \
		-e "s/HAS_INT16 = 1'b.;/HAS_INT16 = 1'b$2;/" -e "s/HAS_FP8 = 1'b.;/HAS_FP8 = 1'b$3;/" \
		-e "s/HAS_PAIRS = 1'b.;/HAS_PAIRS = 1'b$4;/" \
		hw/gen/w8/weft_cfg_pkg.sv
}

# Leaves only PE(1,1) of a 4x4 array: registers with index 5 and what is in front of them.
cut_pe() {
	local register registers=
	for register in op_a op_w op_ax op_wx acc_lo acc_hi state shadow_lo shadow_hi shadow_state; do
		registers="$registers w:$register?5?"
	done
	cat <<-END
		select -set ff $registers %ci1 t:\$*dff* %i
		select -assert-min 4 @ff
		select -set pe @ff %ci2 %ci*:-\$dff,\$dffe,\$sdff,\$sdffe,\$sdffce,\$adff,\$adffe t:\$adff* %d
		submod -name pe @pe
		hierarchy -top pe
	END
}

synth() { # tech name array|pe
	# shellcheck disable=SC2086
	read_design "$2" weft_array "$out/$2.sv" $rtl
	if [ "$1" = ecp5 ]; then
		ecp5_front weft_array
		[ "$3" = array ] || cut_pe
		ecp5_back
	else
		xilinx_front weft_array
		[ "$3" = array ] || cut_pe
		xilinx_back
	fi
	echo "tee -o $out/$2.txt stat"
}

# LUT, carry, FF, DSP
count() { # name
	awk '$1 ~ /^LUT[1-6]$/ { lut += $2 } $1 ~ /^(CCU2C|CARRY4)$/ { carry += $2 }
		$1 ~ /^(TRELLIS_FF|FD[RSCP]E)$/ { ff += $2 } $1 ~ /^(MULT18X18D|DSP48E1)$/ { dsp += $2 }
		END { printf "%d | %d | %d | %d", lut, carry, ff, dsp }' "$out/$1.txt"
}

fresh() { # file: is it younger than all that it comes from?
	local from
	[ -f "$1" ] || return 1
	for from in $rtl hw/gen/w8/weft_cfg_pkg.sv tools/lint/area.sh tools/lint/yosys.sh tools/lint/processes.py; do
		[ "$1" -nt "$from" ] || return 1
	done
}

for tech in ${TECHS:-ecp5 xilinx}; do
	echo
	if [ "$tech" = ecp5 ]; then
		echo '| ECP5 | modes | LUT4 | CCU2C | FF | MULT18X18D |'
	else
		echo '| 7-series | modes | LUT | CARRY4 | FF | DSP48E1 |'
	fi
	echo '|---|---|---|---|---|---|'
	for size in pe ${SIZES-8}; do
		for modes in ${MODES:-int8 int8,int16 int8,fp8 int8,int16,fp8 int8,int16,fp8,pairs}; do
			[[ $modes == *int16* ]] && int16=1 || int16=0
			[[ $modes == *fp8* ]] && fp8=1 || fp8=0
			[[ $modes == *pairs* ]] && pairs=1 || pairs=0
			name=$tech-$size-$int16$fp8$pairs
			if [ "$size" = pe ]; then
				what='one PE' top=pe n=4
			else
				what="array ${size}x$size" top=array n=$size
			fi
			config "$n" "$int16" "$fp8" "$pairs" > "$out/$name.sv"
			fresh "$out/$name.txt" || run_yosys "$name" "$(synth "$tech" "$name" $top)"
			echo "| $what | ${modes//,/, } | $(count "$name") |"
		done
	done
done
