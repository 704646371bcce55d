/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The operators that the delegate takes, and where their options lie: in the struct that the
 * interpreter has parsed them into, and in the file's table, which the library reads.
 *
 * New members of these structs are added at their ends, so that the places stated here hold in
 * every release. Field numbers are those of userlib/import/tflite/tflite.fbs.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "delegate.h"

enum kind {
	END, I32, F32,
	BOOLEAN,                   /* 0 or 1, one byte in both */
	ACTIVATION,                /* int there, one byte in the file, 0..6 */
	PADDING,                   /* the same, one more than in the file, 1 or 2 */
	LIST,                      /* int32, 8 at most, and behind them their number */
	BYTE,                      /* int there, one byte in the file, 0 or 1 */
};

struct place {
	uint8_t kind, id;
	uint8_t at;                /* in the interpreter's struct */
};

/* An operator of which the delegate knows the name alone: it stays with the interpreter. */
#define STAYS 255

#define ONE(kind, id) { { kind, id, 0 } }
#define POOL { { PADDING, 0, 0 }, { I32, 1, 4 }, { I32, 2, 8 }, { I32, 3, 12 }, { I32, 4, 16 }, { ACTIVATION, 5, 20 } }

static const struct row {
	const char *name;
	uint8_t type;              /* of the file's table of options, 0: the operator has none, or none that matters; STAYS */
	struct place place[8];
} rows[] = {
	[0] = { "ADD", 11, { { ACTIVATION, 0, 0 }, { BOOLEAN, 1, 4 } } },
	[1] = { "AVERAGE_POOL_2D", 5, POOL },
	[2] = { "CONCATENATION", 10, { { I32, 0, 0 }, { ACTIVATION, 1, 4 } } },
	[3] = { "CONV_2D", 1, { { PADDING, 0, 0 }, { I32, 1, 4 }, { I32, 2, 8 }, { ACTIVATION, 3, 12 }, { I32, 4, 16 }, { I32, 5, 20 } } },
	[4] = { "DEPTHWISE_CONV_2D", 2, { { PADDING, 0, 0 }, { I32, 1, 4 }, { I32, 2, 8 }, { I32, 3, 12 }, { ACTIVATION, 4, 16 },
	                                  { I32, 5, 20 }, { I32, 6, 24 } } },
	[5] = { "DEPTH_TO_SPACE", 94, ONE(I32, 0) },
	[6] = { "DEQUANTIZE", 0, { { 0 } } },
	[8] = { "FLOOR", STAYS, { { 0 } } },
	[9] = { "FULLY_CONNECTED", 8, { { ACTIVATION, 0, 0 }, { BYTE, 1, 4 }, { BOOLEAN, 2, 8 }, { BOOLEAN, 3, 9 } } },
	[11] = { "L2_NORMALIZATION", 13, ONE(ACTIVATION, 0) },
	[14] = { "LOGISTIC", 0, { { 0 } } },
	[16] = { "LSTM", STAYS, { { 0 } } },
	[17] = { "MAX_POOL_2D", 5, POOL },
	[18] = { "MUL", 21, ONE(ACTIVATION, 0) },
	[19] = { "RELU", 0, { { 0 } } },
	[20] = { "RELU_N1_TO_1", 0, { { 0 } } },
	[21] = { "RELU6", 0, { { 0 } } },
	[22] = { "RESHAPE", 17, ONE(LIST, 0) },
	[23] = { "RESIZE_BILINEAR", 15, { { BOOLEAN, 2, 0 }, { BOOLEAN, 3, 1 } } },
	[25] = { "SOFTMAX", 9, ONE(F32, 0) },
	[24] = { "RNN", STAYS, { { 0 } } },
	[26] = { "SPACE_TO_DEPTH", 19, ONE(I32, 0) },
	[27] = { "SVDF", 6, { { I32, 0, 0 }, { ACTIVATION, 1, 4 }, { BOOLEAN, 2, 8 } } },
	[28] = { "TANH", 0, { { 0 } } },
	[34] = { "PAD", 0, { { 0 } } },
	[36] = { "GATHER", 23, { { I32, 0, 0 }, { I32, 1, 4 } } },
	[37] = { "BATCH_TO_SPACE_ND", 0, { { 0 } } },
	[38] = { "SPACE_TO_BATCH_ND", 0, { { 0 } } },
	[39] = { "TRANSPOSE", 0, { { 0 } } },
	[40] = { "MEAN", 27, ONE(BOOLEAN, 0) },
	[41] = { "SUB", 28, { { ACTIVATION, 0, 0 }, { BOOLEAN, 1, 4 } } },
	[42] = { "DIV", 29, ONE(ACTIVATION, 0) },
	[43] = { "SQUEEZE", 30, ONE(LIST, 0) },
	[44] = { "UNIDIRECTIONAL_SEQUENCE_LSTM", STAYS, { { 0 } } },
	[45] = { "STRIDED_SLICE", 32, { { I32, 0, 0 }, { I32, 1, 4 }, { I32, 2, 8 }, { I32, 3, 12 }, { I32, 4, 16 }, { BOOLEAN, 5, 20 } } },
	[47] = { "EXP", 0, { { 0 } } },
	[48] = { "TOPK_V2", STAYS, { { 0 } } },
	[49] = { "SPLIT", 0, { { 0 } } },
	[50] = { "LOG_SOFTMAX", 0, { { 0 } } },
	[53] = { "CAST", 0, { { 0 } } },
	[54] = { "PRELU", 0, { { 0 } } },
	[55] = { "MAXIMUM", 0, { { 0 } } },
	[56] = { "ARG_MAX", 0, { { 0 } } },
	[57] = { "MINIMUM", 0, { { 0 } } },
	[58] = { "LESS", 0, { { 0 } } },
	[59] = { "NEG", STAYS, { { 0 } } },
	[60] = { "PADV2", 0, { { 0 } } },
	[61] = { "GREATER", 0, { { 0 } } },
	[62] = { "GREATER_EQUAL", 0, { { 0 } } },
	[63] = { "LESS_EQUAL", 0, { { 0 } } },
	[64] = { "SELECT", 0, { { 0 } } },
	[65] = { "SLICE", 0, { { 0 } } },
	[66] = { "SIN", STAYS, { { 0 } } },
	[67] = { "TRANSPOSE_CONV", 49, { { PADDING, 0, 0 }, { I32, 1, 4 }, { I32, 2, 8 }, { ACTIVATION, 3, 12 } } },
	[68] = { "SPARSE_TO_DENSE", STAYS, { { 0 } } },
	[69] = { "TILE", 0, { { 0 } } },
	[70] = { "EXPAND_DIMS", 0, { { 0 } } },
	[71] = { "EQUAL", 0, { { 0 } } },
	[72] = { "NOT_EQUAL", 0, { { 0 } } },
	[73] = { "LOG", 0, { { 0 } } },
	[74] = { "SUM", 27, ONE(BOOLEAN, 0) },
	[75] = { "SQRT", 0, { { 0 } } },
	[76] = { "RSQRT", 0, { { 0 } } },
	[77] = { "SHAPE", 0, { { 0 } } },
	[78] = { "POW", STAYS, { { 0 } } },
	[79] = { "ARG_MIN", 0, { { 0 } } },
	[81] = { "REDUCE_PROD", 27, ONE(BOOLEAN, 0) },
	[82] = { "REDUCE_MAX", 27, ONE(BOOLEAN, 0) },
	[83] = { "PACK", 59, { { I32, 1, 4 } } },
	[84] = { "LOGICAL_OR", 0, { { 0 } } },
	[85] = { "ONE_HOT", STAYS, { { 0 } } },
	[86] = { "LOGICAL_AND", 0, { { 0 } } },
	[87] = { "LOGICAL_NOT", 0, { { 0 } } },
	[88] = { "UNPACK", 64, { { I32, 1, 4 } } },
	[89] = { "REDUCE_MIN", 27, ONE(BOOLEAN, 0) },
	[90] = { "FLOOR_DIV", 0, { { 0 } } },
	[92] = { "SQUARE", STAYS, { { 0 } } },
	[94] = { "FILL", 0, { { 0 } } },
	[95] = { "FLOOR_MOD", 0, { { 0 } } },
	[96] = { "RANGE", STAYS, { { 0 } } },
	[97] = { "RESIZE_NEAREST_NEIGHBOR", 74, { { BOOLEAN, 0, 0 }, { BOOLEAN, 1, 1 } } },
	[98] = { "LEAKY_RELU", 75, ONE(F32, 0) },
	[99] = { "SQUARED_DIFFERENCE", 0, { { 0 } } },
	[100] = { "MIRROR_PAD", 77, ONE(PADDING, 0) },
	[101] = { "ABS", 0, { { 0 } } },
	[102] = { "SPLIT_V", 0, { { 0 } } },
	[104] = { "CEIL", STAYS, { { 0 } } },
	[105] = { "REVERSE_V2", 0, { { 0 } } },
	[107] = { "GATHER_ND", 0, { { 0 } } },
	[108] = { "COS", STAYS, { { 0 } } },
	[111] = { "ELU", 0, { { 0 } } },
	[114] = { "QUANTIZE", 0, { { 0 } } },
	[116] = { "ROUND", STAYS, { { 0 } } },
	[117] = { "HARD_SWISH", 0, { { 0 } } },
	[118] = { "IF", STAYS, { { 0 } } },
	[119] = { "WHILE", STAYS, { { 0 } } },
	[123] = { "SELECT_V2", 0, { { 0 } } },
	[126] = { "BATCH_MATMUL", 101, { { BOOLEAN, 0, 0 }, { BOOLEAN, 1, 1 }, { BOOLEAN, 2, 2 } } },
	[129] = { "CALL_ONCE", STAYS, { { 0 } } },
	[130] = { "BROADCAST_TO", 0, { { 0 } } },
	[142] = { "VAR_HANDLE", STAYS, { { 0 } } },
	[143] = { "READ_VARIABLE", STAYS, { { 0 } } },
	[144] = { "ASSIGN_VARIABLE", STAYS, { { 0 } } },
	[150] = { "GELU", 116, ONE(BOOLEAN, 0) },
	[152] = { "RELU_0_TO_1", 0, { { 0 } } },
};

enum { N_ROWS = sizeof(rows) / sizeof(rows[0]) };

/* Returns the table's row of an operator code, or NULL. */
static const struct row *row_of(int code)
{
	return code >= 0 && code < N_ROWS && rows[code].name ? &rows[code] : NULL;
}

const char *op_name(const struct op *op)
{
	const struct row *r = row_of(op->code);

	if (op->custom)
		return op->custom;
	return r ? r->name : op->code == RT_CUSTOM ? "CUSTOM" : op->code == RT_DELEGATE ? "DELEGATE" : "other";
}

/*
 * Appends one option, read from the interpreter's struct at `data`, to *o: as a field, or, of kind
 * LIST, as o->list. Returns 0; -ENOTSUP: the file did not state it (a padding of 0); -EINVAL: a value
 * that no operator has.
 */
static int take(const char *data, const struct place *p, struct file_options *o)
{
	int at = o->n++;
	int32_t v = 0;
	uint8_t b;

	memcpy(&v, data + p->at, p->kind == BOOLEAN ? 0 : sizeof(v));
	o->field[at].id = p->id;
	o->field[at].bytes = p->kind == I32 || p->kind == F32 ? 4 : 1;
	o->field[at].value = v;
	switch (p->kind) {
	case BOOLEAN:
		memcpy(&b, data + p->at, 1);
		o->field[at].value = b;
		return b <= 1 ? 0 : -EINVAL;
	case ACTIVATION:
		return v >= 0 && v <= 6 ? 0 : -EINVAL;
	case PADDING:
		o->field[at].value = v - 1;
		return v == 1 || v == 2 ? 0 : v ? -EINVAL : -ENOTSUP;
	case BYTE:
		return v == 0 || v == 1 ? 0 : -EINVAL;
	case LIST:
		o->n--;
		o->list = (const int32_t *)(const void *)(data + p->at);
		o->n_list = o->list[8];
		return o->n_list >= 0 && o->n_list <= 8 ? 0 : -EINVAL;
	default:
		return 0;
	}
}

int options_of(const struct op *op, struct file_options *o)
{
	const struct row *r = row_of(op->code);

	*o = (struct file_options){ .type = r ? r->type : 0 };
	if (!r || op->custom || r->type == STAYS)
		return -ENOTSUP;
	if (!r->type)
		return 0;
	if (!op->n.builtin_data)
		return -ENOTSUP;
	for (int i = 0; i < 8 && r->place[i].kind != END; i++) {
		int err = take(op->n.builtin_data, &r->place[i], o);
		if (err)
			return err;
	}
	return 0;
}
