#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Static checks of the RTL. Arguments select steps; without, all of them. ecp5, xilinx
# and soc take Yosys some minutes each.
#
#   verilator  -Wall is clean in every configuration, plain and with assertions
#              and fault hook
#   yosys      the whole NPU at w8: reads, no latch, no driver conflict, no
#              combinational loop, the 16 scratchpad banks are memories
#   operands   each operand register of the array feeds its own PE and one
#              neighbour only (netlist)
#   ecp5       LUT, FF, DSP and BRAM of the NPU on the board after synth_ecp5, mapped for
#              the number of LUTs (the board's clock has 40 ns)
#   xilinx     the same of the NPU at w8 after synth_xilinx
#   soc        the NPU with AXI ports (hw/top/weft_npu_axi.sv) at w8b: no latch, no driver conflict, no
#              combinational loop; its figures after synth_xilinx
#   chip       what stands around the NPU, which is a black box: no latch, no
#              driver conflict, no combinational loop; the same figures
#   usb        the USB device, in the same way
#   board      the ULX3S's top around the NPU after synth_ecp5; with ecp5's NPU, how
#              much of the part, and that it is not more than there is
#   maps       what tools/board maps adders, comparisons and multiplications to computes them
#   pack       the whole board through nextpnr's packer (tools/board/bitstream.sh): the part has
#              all that it takes. Left out, aloud, where nextpnr cannot be had
#
# BOARD_CONFIG=w8 takes another configuration to ecp5 and board.
set -euo pipefail
cd "$(dirname "$0")/../.."
out=${O:-build}/lint
mkdir -p "$out"

board_config=${BOARD_CONFIG:-w8b}
configs=$(sed -n 's/^\[config\.\(.*\)\]$/\1/p' include/spec/config.toml | tr '\n' ' ')

pkgs() { echo "hw/gen/$1/weft_cfg_pkg.sv hw/gen/weft_cmd_pkg.sv hw/gen/weft_regs_pkg.sv"; }
files=$(grep -v '^ *#' hw/files.f | tr '\n' ' ')
chip_files=$(grep -v '^ *#' hw/chip.f | tr '\n' ' ')
# shellcheck source=tools/lint/yosys.sh
. tools/lint/yosys.sh
say() { printf '  %-7s %s\n' "$1" "$2"; }

# Commands that read the NPU.
npu() { # name config
	# shellcheck disable=SC2046,SC2086
	read_design "$1" weft_npu $(pkgs "$2") $files
}

# Commands that fail if the design has a latch or a driver conflict.
no_latches='proc
select -assert-none t:$dlatch t:$adlatch t:$dlatchsr t:$sr
opt_expr
opt_clean
check -assert'
# Commands to follow these: they flatten the design and fail if it has a combinational loop.
no_loops='flatten
opt_clean
scc -expect 0'

step_verilator() {
	for config in $configs; do
		for defines in '' '--assert -DWEFT_ASSERT -DWEFT_FAULT_HOOK'; do
			say LINT "$config $defines"
			# shellcheck disable=SC2086,SC2046
			verilator --lint-only -Wall --no-timing $defines --top-module weft_npu $(pkgs $config) $files
		done
	done
}

step_yosys() {
	say YOSYS 'w8: latches, drivers, loops, banks'
	run_yosys check "$(npu check w8)
$no_latches
$no_loops
memory_share
memory_collect
select -assert-count 16 c:u_sp.g_bank*.u_ram.mem t:\$mem_v2 %i"
}

step_operands() {
	say YOSYS 'w8: fan-out of operand registers'
	# shellcheck disable=SC2046
	run_yosys array "$(read_design array weft_array $(pkgs w8) hw/prim/weft_float_pkg.sv hw/array/weft_array.sv)
proc
opt -mux_undef -undriven
write_json $out/array.json"
	python3 tools/lint/operands.py "$out/array.json" 8
}

ecp5_figures() { # stat
	awk '{ n[$1] += $2 } END {
		printf "          LUT4 %d  CCU2C %d  FF %d  MULT18X18D %d  DP16KD %d  DPR16X4 %d\n",
		n["LUT4"], n["CCU2C"], n["TRELLIS_FF"], n["MULT18X18D"], n["DP16KD"], n["TRELLIS_DPR16X4"] }' "$1"
}

step_ecp5() {
	say YOSYS "$board_config: synth_ecp5"
	run_yosys ecp5 "$(npu ecp5 "$board_config")
$(ecp5_front weft_npu)
$(ecp5_back small)
tee -o $out/ecp5.txt stat -top weft_npu"
	echo "$board_config" > "$out/ecp5.config"
	ecp5_figures "$out/ecp5.txt"
}

xilinx_figures() { # stat
	awk '$1 ~ /^LUT[1-6]$/ { lut += $2 } $1 ~ /^FD[RSCP]E/ { ff += $2 } $1 ~ /^DSP48/ { dsp += $2 }
		$1 ~ /^RAMB36/ { b36 += $2 } $1 ~ /^RAMB18/ { b18 += $2 } $1 ~ /^RAM(32|64|128|256)/ { lr += $2 }
		$1 == "CARRY4" { c += $2 } END {
		printf "          LUT %d  CARRY4 %d  FF %d  DSP48E1 %d  RAMB36 %d  RAMB18 %d  LUT RAM %d\n",
		lut, c, ff, dsp, b36, b18, lr }' "$1"
}

step_xilinx() {
	say YOSYS 'w8: synth_xilinx'
	run_yosys xilinx "$(npu xilinx w8)
$(xilinx_front weft_npu)
$(xilinx_back)
tee -o $out/xilinx.txt stat -top weft_npu"
	xilinx_figures "$out/xilinx.txt"
}

step_soc() {
	say YOSYS 'w8b: synth_xilinx of the NPU with AXI ports'
	# shellcheck disable=SC2046,SC2086
	run_yosys soc "$(read_design soc weft_npu_axi $(pkgs w8b) $files $(tr '\n' ' ' < hw/soc.f))
design -save read
$no_latches
$no_loops
design -load read
$(xilinx_front weft_npu_axi)
$(xilinx_back)
tee -o $out/soc.txt stat -top weft_npu_axi"
	xilinx_figures "$out/soc.txt"
}

# A part of the design for ECP5: neither latches nor loops of gates, and its figures.
ecp5_alone() {   # name of the step, top module, commands that read it
	run_yosys "$1" "$3
hierarchy -check -top $2
$no_latches
design -save read
$no_loops
design -load read
synth_ecp5 -top $2 -run begin:check
tee -o $out/$1.txt stat -top $2"
	ecp5_figures "$out/$1.txt"
}

step_chip() {
	say YOSYS 'w8: the chip around the NPU'
	ecp5_alone chip weft_chip "read_verilog -sv $(pkgs w8) hw/prim/weft_fifo.sv $chip_files
read_verilog -sv -lib hw/top/weft_npu.sv"
}

step_usb() {
	local usb_files
	usb_files=$(tr '\n' ' ' < hw/usb.f)
	say YOSYS 'the USB device'
	ecp5_alone usb weft_usb_fs "read_verilog -sv $usb_files"
}

# The NPU is synthesised in step ecp5 and a black box here; the board's top around
# it comes out complete, and the two are added where that has run.
step_board() {
	local hex=${O:-build}/firmware/boot.hex
	[ -f "$hex" ] || make --no-print-directory "$hex" >/dev/null
	say YOSYS "$board_config: synth_ecp5 of the ULX3S around the NPU"
	run_yosys board "read_verilog -lib -specify +/ecp5/cells_sim.v +/ecp5/cells_bb.v
read_verilog -sv $(pkgs "$board_config") hw/prim/weft_fifo.sv $chip_files $(tr '\n' ' ' <hw/usb.f) $(ls hw/board/ulx3s/*.sv | tr '\n' ' ')
read_verilog -sv -lib hw/top/weft_npu.sv
chparam -set RomFile \"$hex\" weft_ulx3s
$(ecp5_front weft_ulx3s)
$(ecp5_back small)
select -assert-count 1 t:weft_npu
check -assert
tee -o $out/board.txt stat -top weft_ulx3s"
	ecp5_figures "$out/board.txt"
	if [ "$(cat "$out/ecp5.config" 2>/dev/null)" != "$board_config" ]; then
		echo '          (with the NPU: run step ecp5 first)'
		return
	fi
	fits "$out/board.txt" "$out/ecp5.txt"
}

# Both together in an LFE5U-85F. A CCU2C takes the place of two LUT4, a DPR16X4 of six.
fits() { # stat...
	cat "$@" | awk '{ n[$1] += $2 }
		function has(what, used, there) {
			line = line sprintf("  %s %d of %d", what, used, there)
			if (used > there) over = over sprintf(" %d %s too many,", used - there, what)
		}
		END {
			has("LUT4", n["LUT4"] + 2 * n["CCU2C"] + 6 * n["TRELLIS_DPR16X4"], 83640)
			has("FF", n["TRELLIS_FF"], 83640)
			has("MULT18X18D", n["MULT18X18D"], 156)
			has("DP16KD", n["DP16KD"], 208)
			printf "          with the NPU, of an LFE5U-85F:%s\n", line
			if (over) { sub(/,$/, "", over); printf "lint: does not fit:%s\n", over > "/dev/stderr"; exit 1 }
		}'
}

step_maps() {
	say YOSYS 'maps of tools/board'
	python3 tools/board/prove.py "$out/maps"
}

step_pack() {
	local status=0 hex=${O:-build}/firmware/boot.hex
	[ -f "$hex" ] || make --no-print-directory "$hex" >/dev/null
	PACK=1 CONFIG=w8b tools/board/bitstream.sh ulx3s || status=$?
	if [ $status = 77 ]; then
		echo 'lint: pack was left out: nextpnr cannot be had' >&2
		[ "${CI:-}" != true ]
	else
		return $status
	fi
}

for step in ${*:-verilator yosys operands ecp5 xilinx soc chip usb board maps pack}; do
	case $step in
	verilator|yosys|operands|ecp5|xilinx|soc|chip|usb|board|maps|pack) "step_$step" ;;
	*) echo "lint: no step '$step' (verilator, yosys, operands, ecp5, xilinx, soc, chip, usb, board, maps, pack)" >&2; exit 2 ;;
	esac
done
