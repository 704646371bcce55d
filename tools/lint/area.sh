#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# `make area`: what the systolic array costs with each set of arithmetic modes,
# as Yosys maps it to an ECP5 and to a Xilinx 7-series. SIZES (default "2 4";
# 8 takes an hour, 16 hours) are synthesised; a PE is the difference of two arrays over the
# difference of their PEs, so it has its share of skew buffers and drain, but
# not of what there is once.
#
# Modes are those of weft_cfg_pkg: HAS_INT16, HAS_FP8.
set -euo pipefail
cd "$(dirname "$0")/../.."
out=${O:-build}/area
sizes=${SIZES:-2 4}
mkdir -p "$out"

log2() { local n=$1 l=0; while [ $((1 << l)) -lt "$n" ]; do l=$((l + 1)); done; echo $l; }

# Configuration of an array of that size with those modes, else as w8's.
config() { # size int16 fp8
	sed -e "s/ N = [0-9]*;/ N = $1;/" -e "s/ LOG2_N = [0-9]*;/ LOG2_N = $(log2 "$1");/" \
		-e "s/HAS_INT16 = 1'b.;/HAS_INT16 = 1'b$2;/" -e "s/HAS_FP8 = 1'b.;/HAS_FP8 = 1'b$3;/" \
		hw/gen/w8/weft_cfg_pkg.sv
}

synth() { # tech name
	local options=
	[ "$1" = ecp5 ] || options='-flatten -noiopad'
	cat > "$out/$2.ys" <<-EOF
		read_verilog -sv $out/$2.sv hw/gen/weft_cmd_pkg.sv hw/prim/weft_float_pkg.sv hw/array/weft_array.sv
		synth_$1 -top weft_array $options -run begin:check
		tee -o $out/$2.txt stat
	EOF
	yosys -q -l "$out/$2.log" "$out/$2.ys" > "$out/$2.out" 2>&1 || { tail -3 "$out/$2.log" >&2; exit 1; }
}

# LUT, carry, FF, DSP
count() { # name
	awk '$1 ~ /^LUT[1-6]$/ { lut += $2 } $1 ~ /^(CCU2C|CARRY4)$/ { carry += $2 }
		$1 ~ /^(TRELLIS_FF|FD[RSCP]E)$/ { ff += $2 } $1 ~ /^(MULT18X18D|DSP48E1)$/ { dsp += $2 }
		END { print lut + 0, carry + 0, ff + 0, dsp + 0 }' "$out/$1.txt"
}

for tech in ${*:-ecp5 xilinx}; do
	echo
	echo "| $tech, array of | modes | LUT | $([ "$tech" = ecp5 ] && echo CCU2C || echo CARRY4) | FF | DSP |"
	echo "|---|---|---|---|---|---|"
	for modes in '0 0 int8' '1 0 int8, int16' '1 1 all'; do
		read -r int16 fp8 label <<< "$modes"
		before=
		for n in $sizes; do
			name=$tech-$n-$int16$fp8
			config "$n" "$int16" "$fp8" > "$out/$name.sv"
			[ -f "$out/$name.txt" ] && [ "$out/$name.txt" -nt hw/array/weft_array.sv ] && [ "$out/$name.txt" -nt hw/prim/weft_float_pkg.sv ] ||
				synth "$tech" "$name"
			read -r -a now <<< "$(count "$name")"
			echo "| ${n}x$n | $label | ${now[0]} | ${now[1]} | ${now[2]} | ${now[3]} |"
			if [ -n "$before" ]; then
				read -r m was <<< "$before"
				read -r -a was <<< "$was"
				pes=$((n * n - m * m))
				echo "| one PE ($m to $n) | $label | $(((now[0] - was[0]) / pes)) | $(((now[1] - was[1]) / pes)) | $(((now[2] - was[2]) / pes)) | $(((now[3] - was[3]) / pes)) |"
			fi
			before="$n ${now[*]}"
		done
	done
done
