/* Generated from include/spec/config.toml by tools/gen.py; edit that and run `make gen`. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include <weft/gen/config.h>

const struct weft_config weft_configs[WEFT_N_CONFIGS] = {
	{
		.name = "w8",
		.brief = "8x8",
		.n = 8,
		.sp_bytes = 131072,
		.axi_bits = 64,
		.dw_line = 256,
		.log2_n = 3,
		.log2_sp_bytes = 17,
		.axi_bytes = 8,
		.log2_axi_bytes = 3,
		.features = 0x1f07,
		.has_int8 = 1,
		.has_int16 = 1,
		.has_fp8 = 1,
		.has_alu = 1,
		.has_raw = 1,
		.has_int4 = 1,
		.has_even = 1,
		.has_dwk = 1,
		.model_features = 0x1f07,
		.reg_config = 0x8081108,
	},
	{
		.name = "w8b",
		.brief = "8x8 in int8, fits a mid-size ECP5",
		.n = 8,
		.sp_bytes = 131072,
		.axi_bits = 64,
		.dw_line = 256,
		.log2_n = 3,
		.log2_sp_bytes = 17,
		.axi_bytes = 8,
		.log2_axi_bytes = 3,
		.features = 0x1601,
		.has_int8 = 1,
		.has_int16 = 0,
		.has_fp8 = 0,
		.has_alu = 0,
		.has_raw = 1,
		.has_int4 = 1,
		.has_even = 0,
		.has_dwk = 1,
		.model_features = 0x1601,
		.reg_config = 0x8081108,
	},
	{
		.name = "w16",
		.brief = "16x16, the default",
		.n = 16,
		.sp_bytes = 524288,
		.axi_bits = 128,
		.dw_line = 256,
		.log2_n = 4,
		.log2_sp_bytes = 19,
		.axi_bytes = 16,
		.log2_axi_bytes = 4,
		.features = 0x1f07,
		.has_int8 = 1,
		.has_int16 = 1,
		.has_fp8 = 1,
		.has_alu = 1,
		.has_raw = 1,
		.has_int4 = 1,
		.has_even = 1,
		.has_dwk = 1,
		.model_features = 0x1f07,
		.reg_config = 0x8101310,
	},
	{
		.name = "w32",
		.brief = "32x32",
		.n = 32,
		.sp_bytes = 1048576,
		.axi_bits = 256,
		.dw_line = 256,
		.log2_n = 5,
		.log2_sp_bytes = 20,
		.axi_bytes = 32,
		.log2_axi_bytes = 5,
		.features = 0x1f07,
		.has_int8 = 1,
		.has_int16 = 1,
		.has_fp8 = 1,
		.has_alu = 1,
		.has_raw = 1,
		.has_int4 = 1,
		.has_even = 1,
		.has_dwk = 1,
		.model_features = 0x1f07,
		.reg_config = 0x8201420,
	},
};

static const struct weft_config model_configs[WEFT_N_CONFIGS] = {
	{
		.name = "w8",
		.brief = "8x8",
		.n = 8,
		.sp_bytes = 131072,
		.axi_bits = 64,
		.dw_line = 256,
		.log2_n = 3,
		.log2_sp_bytes = 17,
		.axi_bytes = 8,
		.log2_axi_bytes = 3,
		.features = 0x1f07,
		.has_int8 = 1,
		.has_int16 = 1,
		.has_fp8 = 1,
		.has_alu = 1,
		.has_raw = 1,
		.has_int4 = 1,
		.has_even = 1,
		.has_dwk = 1,
		.model_features = 0x1f07,
		.reg_config = 0x8081108,
	},
	{
		.name = "w8b",
		.brief = "8x8 in int8, fits a mid-size ECP5",
		.n = 8,
		.sp_bytes = 131072,
		.axi_bits = 64,
		.dw_line = 256,
		.log2_n = 3,
		.log2_sp_bytes = 17,
		.axi_bytes = 8,
		.log2_axi_bytes = 3,
		.features = 0x1601,
		.has_int8 = 1,
		.has_int16 = 0,
		.has_fp8 = 0,
		.has_alu = 0,
		.has_raw = 1,
		.has_int4 = 1,
		.has_even = 0,
		.has_dwk = 1,
		.model_features = 0x1601,
		.reg_config = 0x8081108,
	},
	{
		.name = "w16",
		.brief = "16x16, the default",
		.n = 16,
		.sp_bytes = 524288,
		.axi_bits = 128,
		.dw_line = 256,
		.log2_n = 4,
		.log2_sp_bytes = 19,
		.axi_bytes = 16,
		.log2_axi_bytes = 4,
		.features = 0x1f07,
		.has_int8 = 1,
		.has_int16 = 1,
		.has_fp8 = 1,
		.has_alu = 1,
		.has_raw = 1,
		.has_int4 = 1,
		.has_even = 1,
		.has_dwk = 1,
		.model_features = 0x1f07,
		.reg_config = 0x8101310,
	},
	{
		.name = "w32",
		.brief = "32x32",
		.n = 32,
		.sp_bytes = 1048576,
		.axi_bits = 256,
		.dw_line = 256,
		.log2_n = 5,
		.log2_sp_bytes = 20,
		.axi_bytes = 32,
		.log2_axi_bytes = 5,
		.features = 0x1f07,
		.has_int8 = 1,
		.has_int16 = 1,
		.has_fp8 = 1,
		.has_alu = 1,
		.has_raw = 1,
		.has_int4 = 1,
		.has_even = 1,
		.has_dwk = 1,
		.model_features = 0x1f07,
		.reg_config = 0x8201420,
	},
};

const struct weft_config *weft_config_find(const char *name)
{
	for (size_t i = 0; i < WEFT_N_CONFIGS; i++)
		if (strcmp(weft_configs[i].name, name) == 0)
			return &weft_configs[i];
	return NULL;
}

const struct weft_config *weft_config_of_model(const char *name)
{
	for (size_t i = 0; i < WEFT_N_CONFIGS; i++)
		if (strcmp(model_configs[i].name, name) == 0)
			return &model_configs[i];
	return NULL;
}

const struct weft_config *weft_config_of_device(uint32_t reg_config, uint32_t features)
{
	for (size_t i = 0; i < WEFT_N_CONFIGS; i++)
		if (weft_configs[i].reg_config == reg_config && weft_configs[i].features == features)
			return &weft_configs[i];
	return NULL;
}
