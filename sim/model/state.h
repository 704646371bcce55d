/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the model share; nobody else includes this. */
#ifndef WEFT_SIM_MODEL_STATE_H
#define WEFT_SIM_MODEL_STATE_H

#include "driver/model.h"

#define SP_ADDR_MASK ((1u << WEFT_SP_ADDR_BITS) - 1)

/* Beside the 48 bits of a sum; integers are finite. */
enum sum_state { SUM_FINITE, SUM_INF, SUM_NINF, SUM_NAN };

/* float8: two's complement in units of 2^-28. Integers: the low 48 bits count. */
struct model_sum {
	uint64_t v;
	enum sum_state state;
};

/* As an operand: no float8 code, but that there is none. */
#define FLOAT_NONE 256

struct weft_model {
	const struct weft_config *cfg;
	uint32_t n;             /* lanes, rows and columns */
	uint32_t sp_bytes;
	uint8_t *sp;
	struct weft_model_window win[WEFT_N_WINDOWS];

	/* Sums of the array, [pixel][channel]; they survive a command with keep. */
	struct model_sum *acc;
	bool kept;

	/* Operands of one pixel group and of one column tile, zero points off;
	 * float8 are codes. */
	int16_t *act, *wgt;
	size_t operand_elems;   /* of each */

	/* Products of float8 codes for one choice of formats and scale. */
	int64_t *product;       /* [FLOAT_NONE + 1][256] */
	int32_t product_key;

	weft_model_log_fn log;
	void *log_user;
	struct {
		enum weft_model_space space;
		unsigned window;
		uint64_t addr, len;
	} run;                  /* written but not yet logged */

	struct weft_model_fault fault;
};

/* One channel's parameter record. */
struct post_lane {
	uint64_t bias;          /* the low 48 bits count */
	int32_t mul;
	unsigned shift;
};

#define LANES_MAX 64u            /* largest n that the model takes */

/* What a tensor's elements are. In the model an element is an int16: an integer,
 * or in mode float8 the pattern of an fp16. */
enum elem { ELEM_INT8, ELEM_INT16, ELEM_FLOAT8, ELEM_FP16 = ELEM_FLOAT8 + 4 };

static inline enum elem elem_of(const struct weft_cmd_post *p, int32_t fmt)
{
	return p->mode == WEFT_POST_MODE_FLOAT8 ? (enum elem)(ELEM_FLOAT8 + fmt) : (enum elem)p->mode;
}

static inline enum elem x_elem(const struct weft_cmd_post *p)
{
	return elem_of(p, p->x_fmt);
}

static inline uint32_t elem_bytes(enum elem e)
{
	return e == ELEM_INT16 || e == ELEM_FP16 ? 2 : 1;
}

/* Little-endian. */
static inline int16_t bytes_i16(const uint8_t *b)
{
	return (int16_t)(uint16_t)(b[0] | b[1] << 8);
}

static inline int64_t wrap48(uint64_t v)
{
	return (int64_t)(v << 16) >> 16;
}

static inline uint32_t min_u32(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* base + y * y_step + x * x_step, modulo 2^20. */
static inline uint32_t sp_at(int32_t base, int32_t y_step, uint32_t y, int32_t x_step, uint32_t x)
{
	return ((uint32_t)base + (uint32_t)y_step * y + (uint32_t)x_step * x) & SP_ADDR_MASK;
}

/* Latch a fault; returns -EFAULT for the caller to pass on. */
int model_fault(struct weft_model *m, enum weft_fault code, uint64_t info);

/* The same for a command that should not be: info is its header. */
int model_bad(struct weft_model *m, const struct weft_cmd *c, enum weft_fault code);

/*
 * Copy len bytes from or to the scratchpad at addr, modulo 2^20; fault
 * SP_RANGE at the first byte beyond the end. write also logs.
 */
int model_read(struct weft_model *m, uint64_t addr, void *out, uint32_t len);
int model_write(struct weft_model *m, uint64_t addr, const void *data, uint32_t len);

/* The same for n elements. Writing cuts integers to the type and rounds fp16. */
int model_read_elems(struct weft_model *m, enum elem e, uint64_t addr, int16_t *out, uint32_t n);
int model_write_elems(struct weft_model *m, enum elem e, bool saturate, uint64_t addr,
		      const int16_t *data, uint32_t n);

/* Note that [addr, addr + len) was written. */
void model_log(struct weft_model *m, enum weft_model_space space, unsigned window,
	       uint64_t addr, uint64_t len);

/* post.c */
/* What becomes of a half: up; up once more behind bit 31, as gemmlowp; to the even result. */
enum post_round { POST_HALF_UP, POST_TWICE, POST_EVEN };
static inline enum post_round post_round(bool double_round, bool even)
{
	return even ? POST_EVEN : double_round ? POST_TWICE : POST_HALF_UP;
}
/* v is an int32, or an int48 with a multiplier of 16 bits. */
int32_t post_rescale(int64_t v, int32_t mul, unsigned shift, enum post_round round);
/* lo and hi are 16-bit fields. Integers. */
int16_t post_clamp(int32_t v, int32_t lo, int32_t hi);

/* Rules that join fields. sums: the command adds up products. */
bool post_legal(const struct weft_cmd_post *p, bool sums);

/* Read the records of one column tile or channel block: n of them, from that of channel `first` on, those of channel 0 at base. */
int post_lanes(struct weft_model *m, uint32_t base, uint32_t first, bool is_short, struct post_lane *lanes);

/* First stage of n lanes: bias, RESCALE, zero point, clamp; or rounding, bias, clamp. */
void post_first(const struct weft_cmd_post *p, const struct post_lane *l, const struct model_sum *acc, uint32_t n, int16_t *q);

/*
 * Finish one output pixel: where the command adds, bring in the second addend;
 * then write channels c0 .. c0 + lanes - 1. q is overwritten.
 */
int post_write(struct weft_model *m, const struct weft_cmd_post *p, uint32_t oy, uint32_t ox,
	       uint32_t c0, uint32_t lanes, int16_t *q);

/* raw: the sums of one output pixel with their biases. */
int post_write_raw(struct weft_model *m, const struct weft_cmd_post *p, uint32_t oy, uint32_t ox,
		   uint32_t c0, uint32_t lanes, const struct model_sum *acc, const struct post_lane *l);

/* float.c: patterns of fp16; fmt 0..3 is a float8 format */
uint16_t float_decode(int32_t fmt, uint8_t code);
uint8_t float_encode(int32_t fmt, bool saturate, uint16_t h);
uint16_t float_add(uint16_t a, uint16_t b);
uint16_t float_clamp(uint16_t v, uint16_t lo, uint16_t hi);
uint16_t float_max(uint16_t a, uint16_t b);

/* Fill m->product for what follows. */
void float_products(struct weft_model *m, int32_t x_fmt, int32_t w_fmt, int32_t scale);
/* Add k products in order. x may hold FLOAT_NONE. */
void float_dot(const struct weft_model *m, const int16_t *x, const int16_t *w, uint32_t k, struct model_sum *s);
uint16_t float_round(const struct model_sum *s);

/* One function per command. */
int model_load(struct weft_model *m, const struct weft_cmd_load *c);
/* load.c: each row of a block, between scratchpad address sp and offset off; until one fails. */
typedef int model_row(struct weft_model *m, const struct weft_cmd_load *c, uint32_t sp, int64_t off);
int model_rows(struct weft_model *m, const struct weft_cmd_load *c, model_row *row);
int model_store(struct weft_model *m, const struct weft_cmd_load *c);
int model_conv(struct weft_model *m, const struct weft_cmd *cmd);
int model_dw(struct weft_model *m, const struct weft_cmd *cmd);
int model_pool(struct weft_model *m, const struct weft_cmd *cmd);
int model_elt(struct weft_model *m, const struct weft_cmd *cmd);
int model_alu(struct weft_model *m, const struct weft_cmd *cmd);

#endif
