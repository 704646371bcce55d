/* Generated from include/spec/regs.toml by tools/gen.py; edit that and run `make gen`. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <weft/gen/regs.h>

static const struct weft_reg_field_info version_fields[] = {
	{"minor", 0, 16},
	{"major", 16, 16},
};

static const struct weft_reg_field_info config_fields[] = {
	{"n", 0, 8},
	{"log2_sp_bytes", 8, 8},
	{"axi_bytes", 16, 8},
	{"n_windows", 24, 8},
};

static const struct weft_reg_field_info features_fields[] = {
	{"int8", 0, 1},
	{"int16", 1, 1},
	{"fp8", 2, 1},
	{"alu", 8, 1},
	{"raw", 9, 1},
	{"int4", 10, 1},
	{"even", 11, 1},
	{"table", 12, 1},
	{"sub", 13, 1},
	{"mul", 14, 1},
	{"dwk", 15, 1},
	{"dwtable", 16, 1},
	{"pairs", 17, 1},
	{"p_short", 18, 1},
	{"coded", 19, 1},
	{"turns", 20, 1},
};

static const struct weft_reg_field_info ctrl_fields[] = {
	{"start", 0, 1},
	{"reset", 1, 1},
};

static const struct weft_reg_field_info status_fields[] = {
	{"busy", 0, 1},
	{"done", 1, 1},
	{"fault", 2, 1},
};

static const struct weft_reg_field_info irq_enable_fields[] = {
	{"done", 0, 1},
	{"fault", 1, 1},
};

static const struct weft_reg_field_info irq_status_fields[] = {
	{"done", 0, 1},
	{"fault", 1, 1},
};

static const struct weft_reg_field_info fault_fields[] = {
	{"code", 0, 8},
	{"unit", 8, 8},
};

static const struct weft_reg_field_info win_ctrl_fields[] = {
	{"read", 0, 1},
	{"write", 1, 1},
};

static const struct weft_reg_info regs[WEFT_N_REGS] = {
	{"id", 0x000, 0x0, 1, 0, "ro", 0x0, NULL, 0x57454654, NULL,
		"Reads 0x57454654, 'WEFT'"},
	{"version", 0x004, 0x0, 1, 2, "ro", 0x0, NULL, 0x10001, version_fields,
		"Version of registers and commands; the driver refuses another major"},
	{"config", 0x008, 0x0, 1, 4, "ro", 0x0, NULL, 0x0, config_fields,
		"Configuration"},
	{"features", 0x00c, 0x0, 1, 16, "ro", 0x0, NULL, 0x0, features_fields,
		"Each bit says that the configuration has a feature. int8, int16 and fp8 are arithmetic modes. alu: it has the command alu. raw: conv and dw can write sums as they are. int4: load can widen int4 to int8. even: RESCALE can round ties to even. table, mul: elt can look elements up in a table, and multiply two tensors. sub: the post unit can subtract the second addend. dwk: dw can have kernels other than 3x3. dwtable: dw can look its input up in a table. pairs: conv can compute two column tiles at a time. p_short: parameter records can have 8 bytes. coded: load can decode coded rows. turns: rows of conv and of the vector engine can take turns at the post unit"},
	{"ctrl", 0x010, 0x0, 1, 2, "w1s", 0x0, NULL, 0x0, ctrl_fields,
		"start: run the stream. reset: abandon everything, clear done, fault, counters and queues; bus transactions under way are finished first. irq_status, irq_enable, the stream and the windows keep their values"},
	{"status", 0x014, 0x0, 1, 3, "ro", 0x0, "hw", 0x0, status_fields,
		"busy: a stream is running or a reset is under way. done: last stream reached END. fault: a fault is latched"},
	{"irq_enable", 0x018, 0x0, 1, 2, "rw", 0x3, "sw", 0x0, irq_enable_fields,
		"Which of done and fault raise the interrupt"},
	{"irq_status", 0x01c, 0x0, 1, 2, "w1c", 0x0, "hw", 0x0, irq_status_fields,
		"Interrupt causes since they were last cleared; ctrl.reset keeps them"},
	{"stream_off", 0x020, 0x0, 1, 0, "rw", 0xffffffff, "sw", 0x0, NULL,
		"Byte offset of the stream in window 0, a multiple of 64"},
	{"stream_words", 0x024, 0x0, 1, 0, "rw", 0xffffffff, "sw", 0x0, NULL,
		"64-bit words of the stream"},
	{"fault", 0x030, 0x0, 1, 2, "ro", 0x0, "hw", 0x0, fault_fields,
		"First fault: code and unit"},
	{"fault_cmd", 0x034, 0x0, 1, 0, "ro", 0x0, "hw", 0x0, NULL,
		"Index in the stream, from 0, of the command that faulted"},
	{"fault_tag", 0x038, 0x0, 1, 0, "ro", 0x0, "hw", 0x0, NULL,
		"Its tag"},
	{"fault_info", 0x03c, 0x0, 1, 0, "ro", 0x0, "hw", 0x0, NULL,
		"Low 32 bits of the offending address, or the offending header word"},
	{"retired_ld", 0x040, 0x0, 1, 0, "ro", 0x0, "hw", 0x0, NULL,
		"LD commands retired since start"},
	{"retired_st", 0x044, 0x0, 1, 0, "ro", 0x0, "hw", 0x0, NULL,
		"ST commands retired since start"},
	{"retired_cv", 0x048, 0x0, 1, 0, "ro", 0x0, "hw", 0x0, NULL,
		"CV commands retired since start"},
	{"retired_ve", 0x04c, 0x0, 1, 0, "ro", 0x0, "hw", 0x0, NULL,
		"VE commands retired since start"},
	{"win_base_lo", 0x100, 0x10, 8, 0, "rw", 0xffffffc0, "sw", 0x0, NULL,
		"Base address of the window, low half; a multiple of 64"},
	{"win_base_hi", 0x104, 0x10, 8, 0, "rw", 0xff, "sw", 0x0, NULL,
		"Base address, bits 39:32"},
	{"win_size", 0x108, 0x10, 8, 0, "rw", 0xffffffff, "sw", 0x0, NULL,
		"Size in bytes"},
	{"win_ctrl", 0x10c, 0x10, 8, 2, "rw", 0x3, "sw", 0x0, win_ctrl_fields,
		"Permissions"},
	{"cnt_cycles", 0x200, 0x0, 1, 0, "ro", 0x0, "hw", 0x0, NULL,
		"Cycles from start to END"},
	{"cnt_ld_busy", 0x204, 0x0, 1, 0, "ro", 0x0, "hw", 0x0, NULL,
		"Cycles with an LD command under way"},
	{"cnt_st_busy", 0x208, 0x0, 1, 0, "ro", 0x0, "hw", 0x0, NULL,
		"Cycles with an ST command under way"},
	{"cnt_cv_busy", 0x20c, 0x0, 1, 0, "ro", 0x0, "hw", 0x0, NULL,
		"Cycles with a CV command under way"},
	{"cnt_ve_busy", 0x210, 0x0, 1, 0, "ro", 0x0, "hw", 0x0, NULL,
		"Cycles with a VE command under way"},
	{"cnt_cv_stall_act", 0x214, 0x0, 1, 0, "ro", 0x0, "hw", 0x0, NULL,
		"Cycles in which the array waited for an activation word"},
	{"cnt_cv_stall_wgt", 0x218, 0x0, 1, 0, "ro", 0x0, "hw", 0x0, NULL,
		"Cycles in which the array waited for a weight word"},
	{"cnt_cv_stall_post", 0x21c, 0x0, 1, 0, "ro", 0x0, "hw", 0x0, NULL,
		"Cycles in which the array waited for the post unit"},
	{"cnt_sp_conflict", 0x220, 0x0, 1, 0, "ro", 0x0, "hw", 0x0, NULL,
		"Scratchpad requests that lost arbitration, summed over cycles"},
	{"cnt_rd_bytes", 0x224, 0x0, 1, 0, "ro", 0x0, "hw", 0x0, NULL,
		"Bytes of memory that LD moved"},
	{"cnt_wr_bytes", 0x228, 0x0, 1, 0, "ro", 0x0, "hw", 0x0, NULL,
		"Bytes of memory that ST moved"},
	{"cnt_cmds", 0x22c, 0x0, 1, 0, "ro", 0x0, "hw", 0x0, NULL,
		"Commands retired"},
	{"cnt_ecc", 0x230, 0x0, 1, 0, "ro", 0x0, "hw", 0x0, NULL,
		"Words of scratchpad and commands in which a wrong bit was put right when they were read; 0 where the memories have no check bits (hw/top, parameter Ecc)"},
};

const struct weft_reg_info *weft_reg_list(void)
{
	return regs;
}
