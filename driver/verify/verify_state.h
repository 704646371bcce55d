/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the verifier share; nobody else includes this. */
#ifndef WEFT_DRIVER_VERIFY_STATE_H
#define WEFT_DRIVER_VERIFY_STATE_H

#include "verify.h"

#define SP_SIZE (1u << WEFT_SP_ADDR_BITS)   /* addresses are modulo this */
#define SP_MASK (SP_SIZE - 1)

/*
 * Marks of one kind (say, last CV writer) on every scratchpad byte: 1 + the
 * command's index in its unit, 0 for none, less MARK_BIAS so that SSE2 can take
 * the maximum. A block whose bytes are all alike is kept as one number.
 */
#define MARK_BIAS  32768
#define MARK_NONE  (-MARK_BIAS)
#define MARK_MIXED INT16_MAX                /* of a block: look at its bytes */
#define BLOCK 64u

/* Pieces of one row that do not touch. */
#define SPANS_MAX (1u << 18)

/* Bytes of an element of a tensor; fmt is its format, used in mode float8. */
static inline uint32_t elem_bytes(const struct weft_cmd_post *p, int32_t fmt)
{
	return p->mode == WEFT_POST_MODE_INT16 || (p->mode == WEFT_POST_MODE_FLOAT8 && fmt == WEFT_POST_X_FMT_FP16) ? 2 : 1;
}

static inline uint32_t x_bytes(const struct weft_cmd_post *p)
{
	return elem_bytes(p, p->x_fmt);
}

struct marks {
	int16_t *byte, *block;
};

/* Commands of a unit known to have retired when some command starts. */
struct clock {
	uint16_t retired[WEFT_N_UNITS];
};

/* Memory side of a DMA command, dimensions joined where they touch. */
struct dma {
	uint64_t lo, hi;                    /* all its bytes lie in [lo, hi) */
	int64_t off;
	int32_t stride[3];
	uint32_t row;                       /* bytes; WEFT_VERIFY_MAX_BYTES at most */
	uint16_t n[3];
	uint8_t window;
};

/* Commands of one unit so far. */
struct timeline {
	uint32_t count, room;
	struct clock *clock;
	uint32_t *cmd;                      /* index in the stream */
	struct dma *dma;                    /* LD and ST only */
};

/* How a command uses a range of the scratchpad. */
enum use {
	USE_READ,
	USE_READ_IN_PLACE,                  /* each byte is read just before it is overwritten */
	USE_WRITE,                          /* each byte once */
	USE_WRITE_ORDERED,                  /* bytes may repeat: the last one stays */
};

struct verify {
	const struct weft_config *cfg;
	const struct weft_verify_windows *win;
	struct weft_verify_result *r;

	/* The command under way. */
	struct weft_cmd c;
	const struct weft_cmd_info *info;
	unsigned unit;
	uint32_t index;                     /* in its unit */
	struct clock now;                   /* known to have retired when it starts */

	struct timeline line[WEFT_N_UNITS];
	uint64_t work;

	/* A conv command whose sums wait for the next one. */
	bool kept;
	uint32_t kept_pixels, kept_oc;
	int32_t kept_mode;
	int32_t kept_pairs;
	size_t kept_cmd, kept_word;

	struct marks writer[WEFT_N_UNITS], reader[WEFT_N_UNITS];
	uint64_t *written;                  /* one bit a byte */
	int16_t *mark_memory;

	/* Scratch of the box walk, see verify_box.c. */
	uint64_t *columns, *rows;           /* SP_SIZE bits each */
	uint32_t *spans;                    /* begin, length; SPANS_MAX of them */
	uint64_t *sort;                     /* row starts of one DMA command, when needed */
};

/* Record a broken rule; returns -EINVAL. Text is what follows the rule's name. */
__attribute__((format(printf, 3, 4)))
int verify_fail(struct verify *v, enum weft_verify_rule rule, const char *format, ...);

/* Count steps of the verifier. */
WEFT_MUST_USE int verify_work(struct verify *v, uint64_t steps);

/* verify_fields.c: rules that one command breaks by itself. */
WEFT_MUST_USE int verify_fields(struct verify *v);

/* verify_use.c: all scratchpad bytes that the command uses. */
WEFT_MUST_USE int verify_use(struct verify *v);

/* verify_box.c: bytes of a box, row by row. */
struct axis {
	uint32_t n1, n2;                    /* two nested counts */
	int64_t a1, a2;                     /* address steps */
	int64_t c0, c1, c2;                 /* coordinate: first value and steps */
	int64_t limit;                      /* only coordinates 0 .. limit-1; 0: all */
};
struct box {
	const char *object;                 /* for the message */
	enum use use;
	uint32_t base;
	struct axis y, x;
	uint32_t len;                       /* bytes at each place */
	int64_t clip_limit;                 /* x coordinates are bytes, and only bytes at 0 ..
					     * clip_limit-1 count; 0: all */
};
WEFT_MUST_USE int verify_box(struct verify *v, const struct box *b);

/* verify_sp.c: marks of the scratchpad. */
WEFT_MUST_USE int verify_sp_open(struct verify *v);
void verify_sp_close(struct verify *v);
/* One range, addr < SP_SIZE, len <= SP_SIZE, wrapping there. */
WEFT_MUST_USE int verify_sp_use(struct verify *v, enum use use, const char *object, uint32_t addr, uint32_t len);

/* verify_mem.c: windows. */
int verify_mem(struct verify *v);

#endif
