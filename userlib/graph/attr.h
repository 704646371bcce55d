/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What each operator's attributes are, as rows: where a field lies in weft_attr, how a
 * container holds it, which values it may have, and where a TOSA file has it. The rows are
 * generated from include/spec/attr.toml; userlib/graph/save.c, check_attr.c, userlib/import/tosa
 * and userlib/export follow them.
 */
#ifndef WEFT_GRAPH_ATTR_H
#define WEFT_GRAPH_ATTR_H

#include <weft/op.h>

#define ATTR_NONE      0xffff  /* no such field */
#define ATTR_RANK      (-1)    /* as many elements as operand 0 has dimensions */
#define ATTR_RESULT    (-1)    /* the operator's first result */
#define ATTR_NO_TENSOR (-2)

/* A field of a container: n values of one type, one behind the other. */
enum attr_type { ATTR_BOOL, ATTR_I32, ATTR_I64, ATTR_F32, ATTR_F64 };

struct attr_saved {
	uint16_t at;               /* byte offset in weft_attr */
	uint8_t type;              /* enum attr_type */
	uint8_t n;
};

/* Values of a field, or of n elements every step bytes, are low..high; either end may be open. */
struct attr_limit {
	const char *name;          /* for people */
	uint16_t at;
	uint8_t type;              /* ATTR_I32 or ATTR_I64 */
	uint8_t n, step;
	int64_t low, high;         /* INT64_MIN, INT64_MAX: no limit */
};

/* An int32 that is the zero point of a tensor, within that tensor's type. */
struct attr_zero_point {
	const char *name;          /* for people */
	uint16_t at;
	uint16_t is_unsigned;      /* a bool: the type is read without a sign; or ATTR_NONE */
	int8_t of;                 /* operand, or ATTR_RESULT */
};

/* A field of TOSA's attribute table. */
enum attr_tosa_kind {
	ATTR_LIST,                 /* n int32 */
	ATTR_FLAG,                 /* bool */
	ATTR_NUMBER,               /* int32 */
	ATTR_ENUM,                 /* int32, low..high */
	ATTR_TYPE,                 /* accumulator, a number of TOSA's own */
	ATTR_NAN,                  /* weft_nan_mode */
	ATTR_VALUE,                /* bytes of operand 0's type: at int64, also a double */
	ATTR_BLOCK,                /* name of a block: a sub-graph */
	ATTR_ONES,                 /* n int32 that TOSA has not, each 1 */
};

struct attr_tosa_field {
	const char *name;          /* for people */
	uint8_t kind;              /* enum attr_tosa_kind */
	int8_t id;                 /* in the attribute table */
	int8_t n;                  /* ATTR_LIST: elements or ATTR_RANK */
	int8_t sign_of;            /* ATTR_FLAG: written true for an unsigned type of this tensor */
	uint16_t at, also;
	int8_t low, high;
};

/* A constant operand of TOSA's operator that is an attribute here. */
enum attr_arg_kind {
	ATTR_ZERO_POINT,           /* at: int32; also: bool, it is unsigned, or ATTR_NONE */
	ATTR_SCALAR,               /* at: int32; one int8 in the file */
	ATTR_SHAPE,                /* at: n int32 */
	ATTR_PART,                 /* at: n int64, where a slice starts; then its size, the result's shape */
	ATTR_PADS,                 /* at, also: n int32 before and after, which the file has in pairs */
	ATTR_FILL,                 /* at int64, also double: a value of operand 0's type */
	ATTR_RESULT_SHAPE,         /* the result's shape */
};

struct attr_tosa_arg {
	const char *name;          /* TOSA's */
	uint8_t kind;              /* enum attr_arg_kind */
	int8_t operand;            /* in the file */
	int8_t n;                  /* elements or ATTR_RANK */
	int8_t of;                 /* ATTR_ZERO_POINT: operand or ATTR_RESULT */
	uint16_t at, also;
};

struct attr_op {
	const struct attr_saved *saved;
	const struct attr_limit *limit;
	const struct attr_zero_point *zero_point;
	const struct attr_tosa_field *tosa_field;
	const struct attr_tosa_arg *tosa_arg;
	int n_saved, n_limit, n_zero_point, n_tosa_field, n_tosa_arg;
};

/* By opcode; an operator without attributes has no rows. */
extern const struct attr_op attr_ops[WEFT_N_OPS];

/* Where a row's field lies. */
static inline void *attr_at(weft_attr *a, int at)
{
	return (char *)a + at;
}

static inline const void *attr_const(const weft_attr *a, int at)
{
	return (const char *)a + at;
}

#endif
