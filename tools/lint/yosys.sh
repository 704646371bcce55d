# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# For scripts that run Yosys in $out.

# Yosys commands that read a design, its large processes cut up (processes.py): what
# follows them takes minutes instead of hours.
read_design() { # name top file...
	local name=$1 top=$2
	shift 2
	cat <<-END
		read_verilog -sv $*
		hierarchy -check -top $top
		write_rtlil $out/$name.il
		exec -expect-return 0 -- python3 tools/lint/processes.py $out/$name.il $out/$name.cut.il
		design -reset
		read_rtlil $out/$name.cut.il
	END
}

# synth_ecp5 and synth_xilinx without netlists out, each in two parts: in front of the
# multipliers, and from there on. They leave out the pass share, which would go for hours
# through every pair of the NPU's multipliers: those of the array, of the depthwise engine
# and of each set of lanes all work in the same cycles, so none of them can be shared.
ecp5_front() { # top
	local step
	echo "synth_ecp5 -top $1 -run begin:coarse"
	for step in proc flatten 'tribuf -logic' deminout opt_expr opt_clean check \
		'opt -nodffe -nosdff' fsm opt wreduce peepopt opt_clean; do
		echo "$step"
	done
}

# small and fast: for nextpnr, by the maps of tools/board for adders, comparisons, multiplications
# marked fabric, which get no multiplier block, and selectors of four and eight. LUTs are mapped
# twice, because the second time starts from what the first one found: small, for their number (if -a), where
# a part has little room; fast, for the fewest in a row, where it has.
# -nosat: two write ports of a memory stay two where they are never used in the same cycle.
ecp5_back() { # small|fast|
	local step cover='if' dsp='-map +/mul2dsp.v -map +/ecp5/dsp_map.v -D DSP_NAME=$__MUL18X18'
	for step in A_MAXWIDTH=18 B_MAXWIDTH=18 A_MINWIDTH=2 B_MINWIDTH=2; do dsp="$dsp -D DSP_$step"; done
	[ "${1:-}" != small ] || cover='if,-a'
	if [ -n "${1:-}" ]; then
		for step in pmux2shiftx opt_expr opt_clean 'techmap -map tools/board/compare.v'; do
			echo "$step"
		done
	fi
	[ -z "${1:-}" ] || echo 'techmap -map tools/board/ecp5_mul.v t:$mul a:fabric %i'
	echo 'chtype -set $__soft_mul t:$mul a:fabric %i'
	for step in 'techmap -map +/cmp2lut.v -D LUT_WIDTH=4' opt_expr opt_clean "techmap $dsp" \
		'chtype -set $mul t:$__soft_mul' alumacc opt 'memory -nomap -nosat' opt_clean \
		'synth_ecp5 -run map_ram:map_gates'; do
		echo "$step"
	done
	if [ -n "${1:-}" ]; then
		for step in 'techmap -map tools/board/ecp5_arith.v -map +/techmap.v' 'opt -fast' \
			'synth_ecp5 -run map_ffs:map_luts' 'techmap -map +/ecp5/latches_map.v' \
			'muxcover -nodecode -mux4=210 -mux8=430' 'techmap -map tools/board/ecp5_mux.v' clean \
			"abc -script +strash;ifraig;scorr;dc2;dc2;dch,-f;$cover;mfs2;strash;dch,-f;$cover;mfs2 -lut 4:7" clean \
			'synth_ecp5 -run map_cells:check'; do
			echo "$step"
		done
	else
		echo 'synth_ecp5 -run map_gates:check'
	fi
}

xilinx_front() { # top
	echo "synth_xilinx -flatten -noiopad -top $1 -run begin:map_dsp"
}

xilinx_back() {
	local step
	for step in 'synth_xilinx -flatten -noiopad -run map_dsp:coarse' \
		'techmap -map +/cmp2lut.v -map +/cmp2lcu.v -D LUT_WIDTH=6' alumacc opt 'memory -nomap' opt_clean \
		'synth_xilinx -flatten -noiopad -run map_memory:check'; do
		echo "$step"
	done
}

# Without a log, which would be as long as 100 MB: warnings and errors in NAME.out.
# A name that Yosys does not know, such as a member of an element of an array of structures, is to it a wire without a
# driver, which synthesis takes for anything: this warning counts as an error.
run_yosys() { # name, commands
	echo "$2" > "$out/$1.ys"
	if ! yosys -q -e "implicitly declared" "$out/$1.ys" > "$out/$1.out" 2>&1; then
		grep -h 'ERROR:' "$out/$1.out" | sort -u >&2 || tail -5 "$out/$1.out" >&2
		echo "yosys $1 failed, see $out/$1.ys and $out/$1.out" >&2
		return 1
	fi
}
