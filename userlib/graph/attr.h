/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of each operator's attributes: where a field lies in weft_attr, how a container holds it,
 * which values it may have, and where a TOSA file has it. The rows are generated from
 * include/spec/attr.toml; userlib/graph/save.c, check_attr.c, userlib/import/tosa and
 * userlib/export work from them. In all rows `at` and `also` are byte offsets in weft_attr.
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
	uint16_t at;               /* where the first value lies in weft_attr */
	uint8_t type;              /* enum attr_type */
	uint8_t n;                 /* number of values */
};

/* The values that a field, or each of n fields at `at`, `at` + step ..., may have: low..high. */
struct attr_limit {
	const char *name;          /* the field's name in messages */
	uint16_t at;
	uint8_t type;              /* ATTR_I32 or ATTR_I64 */
	uint8_t n, step;           /* step in bytes */
	int64_t low, high;         /* INT64_MIN and INT64_MAX mean that there is no limit */
};

/* An int32 that is the zero point of a tensor and must be a value of that tensor's type. */
struct attr_zero_point {
	const char *name;          /* the field's name in messages */
	uint16_t at;
	uint16_t is_unsigned;      /* where the bool lies that makes the type unsigned; or ATTR_NONE */
	int8_t of;                 /* number of the operand whose zero point it is, or ATTR_RESULT */
};

/* What a field of an operator's attribute table in a TOSA file is in weft_attr. */
enum attr_tosa_kind {
	ATTR_LIST,                 /* n int32 from `at` on */
	ATTR_FLAG,                 /* a bool at `at` */
	ATTR_NUMBER,               /* an int32 at `at` */
	ATTR_ENUM,                 /* an int32 at `at`, low..high */
	ATTR_TYPE,                 /* the accumulator's type at `at`; the file has a number of TOSA's own */
	ATTR_NAN,                  /* a weft_nan_mode at `at` */
	ATTR_VALUE,                /* bytes in operand 0's type in the file; an int64 at `at`, a double at `also` */
	ATTR_BLOCK,                /* a sub-graph; the file has its block's name */
	ATTR_ONES,                 /* n int32 from `at` on that the file does not have; each is 1 */
};

/* A field of an operator's attribute table in a TOSA file. */
struct attr_tosa_field {
	const char *name;          /* the field's name in messages */
	uint8_t kind;              /* enum attr_tosa_kind */
	int8_t id;                 /* the field's number in the attribute table */
	int8_t n;                  /* ATTR_LIST, ATTR_ONES: number of elements, or ATTR_RANK */
	int8_t sign_of;            /* ATTR_FLAG: the tensor (as `of` above) whose unsigned type is written as true */
	uint16_t at, also;
	int8_t low, high;          /* ATTR_ENUM: the values that are allowed */
};

/* What a constant operand of TOSA's operator is in weft_attr. */
enum attr_arg_kind {
	ATTR_ZERO_POINT,           /* an int32 at `at`; `also`: a bool that says if it is unsigned, or ATTR_NONE */
	ATTR_SCALAR,               /* an int32 at `at`; the file has one int8 */
	ATTR_SHAPE,                /* n int32 from `at` on */
	ATTR_PART,                 /* n int64 from `at` on: a slice's start; the next operand is its size, the result's shape */
	ATTR_PADS,                 /* n int32 from `at` on before, and from `also` on behind; the file has pairs */
	ATTR_FILL,                 /* a value of operand 0's type: an int64 at `at`, a double at `also` */
	ATTR_RESULT_SHAPE,         /* the result's shape, which no attribute repeats */
};

/* A constant operand of TOSA's operator that is an attribute in the graph. */
struct attr_tosa_arg {
	const char *name;          /* TOSA's name of the operand */
	uint8_t kind;              /* enum attr_arg_kind */
	int8_t operand;            /* its number among the operands in the file */
	int8_t n;                  /* number of elements, or ATTR_RANK */
	int8_t of;                 /* ATTR_ZERO_POINT: the operand whose zero point it is, or ATTR_RESULT */
	uint16_t at, also;
};

/* All rows of one operator: arrays and their lengths. */
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

/* Says whether operator op with attributes *a judges NaN and zeros by comparisons alone (WEFT_NAN_COMPARE), which TOSA does not. */
bool attr_compares(weft_opcode op, const weft_attr *a);

/* Return the address of the field at byte offset `at` of the attributes a. */
static inline void *attr_at(weft_attr *a, int at)
{
	return (char *)a + at;
}

static inline const void *attr_const(const weft_attr *a, int at)
{
	return (const char *)a + at;
}

#endif
