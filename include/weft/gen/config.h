/* Generated from include/spec/config.toml by tools/gen.py; edit that and run `make gen`. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEFT_GEN_CONFIG_H
#define WEFT_GEN_CONFIG_H

#include <stddef.h>
#include <stdint.h>

#include <weft/api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The same in every configuration. */
#define WEFT_N_WINDOWS 8
#define WEFT_DRAM_ADDR_BITS 40
#define WEFT_SP_ADDR_BITS 20
#define WEFT_SP_REGIONS 8
#define WEFT_SP_BANKS 16
#define WEFT_N_UNITS 4
#define WEFT_ACC_BITS 48
#define WEFT_DW_TAPS 9
#define WEFT_CMD_MAX_WORDS 16
#define WEFT_QUEUE_DEPTH 4

/* Version of registers and commands. */
#define WEFT_HW_MAJOR 1
#define WEFT_HW_MINOR 1

/* Bits of weft_config.features: arithmetic modes, commands. */
#define WEFT_FEATURE_INT8 0x1u
#define WEFT_FEATURE_INT16 0x2u
#define WEFT_FEATURE_FP8 0x4u
#define WEFT_FEATURE_ALU 0x100u
#define WEFT_FEATURE_RAW 0x200u
#define WEFT_FEATURE_INT4 0x400u
#define WEFT_FEATURE_EVEN 0x800u
#define WEFT_FEATURE_TABLE 0x1000u
#define WEFT_FEATURE_SUB 0x2000u
#define WEFT_FEATURE_MUL 0x4000u
#define WEFT_FEATURE_DWK 0x8000u
#define WEFT_FEATURE_DWTABLE 0x10000u
#define WEFT_FEATURE_PAIRS 0x20000u
#define WEFT_FEATURE_P_SHORT 0x40000u
#define WEFT_FEATURE_CODED 0x80000u
#define WEFT_FEATURE_TURNS 0x100000u

/** One named configuration; see include/spec/config.toml. */
struct weft_config {
	const char *name, *brief;
	uint32_t n;
	uint32_t sp_bytes;
	uint32_t axi_bits;
	uint32_t dw_line;
	uint32_t dw_rows;
	uint32_t load_port;
	uint32_t free_half;
	uint32_t plan_ahead;
	uint32_t log2_n;
	uint32_t log2_sp_bytes;
	uint32_t axi_bytes;
	uint32_t log2_axi_bytes;
	uint32_t features;
	uint32_t has_int8;
	uint32_t has_int16;
	uint32_t has_fp8;
	uint32_t has_alu;
	uint32_t has_raw;
	uint32_t has_int4;
	uint32_t has_even;
	uint32_t has_table;
	uint32_t has_sub;
	uint32_t has_mul;
	uint32_t has_dwk;
	uint32_t has_dwtable;
	uint32_t has_pairs;
	uint32_t has_p_short;
	uint32_t has_coded;
	uint32_t has_turns;
	uint32_t model_features;
	uint32_t reg_config;
};

#define WEFT_N_CONFIGS 5
#define WEFT_CONFIG_NAMES "w4, w8, w8b, w16 or w32"   /* for messages */
/** All WEFT_N_CONFIGS configurations, in order of the spec. Constant. */
WEFT_API const struct weft_config *weft_config_list(void);

/** The configuration of that name, NULL if there is none. */
WEFT_API const struct weft_config *weft_config_find(const char *name);

/** The same with all that the functional model can do as its features; NULL if there is none. */
WEFT_API const struct weft_config *weft_config_of_model(const char *name);

/** The configuration of a device whose registers read that, NULL if there is none. */
WEFT_API const struct weft_config *weft_config_of_device(uint32_t reg_config, uint32_t features);

#ifdef __cplusplus
}
#endif
#endif
