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

# Without a log, which would be as long as 100 MB: warnings and errors in NAME.out.
run_yosys() { # name, commands
	echo "$2" > "$out/$1.ys"
	if ! yosys -q "$out/$1.ys" > "$out/$1.out" 2>&1; then
		grep -h 'ERROR:' "$out/$1.out" | sort -u >&2 || tail -5 "$out/$1.out" >&2
		echo "yosys $1 failed, see $out/$1.ys and $out/$1.out" >&2
		return 1
	fi
}
