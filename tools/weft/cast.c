/* SPDX-License-Identifier: Apache-2.0 */
/* weft cast: convert the number format of a tensor in a file. */
#include <stdlib.h>
#include <string.h>

#include <weft/convert.h>

#include <weft/npy.h>
#include "weft_cmd.h"

static const char usage[] =
	"usage: weft cast IN.npy -o OUT.npy --to TYPE [options]\n"
	"\n"
	"  --from TYPE         how IN's elements are read: float8, float4 and uint4 from\n"
	"                      uint8, bfloat16 from uint16, int4 from int8, int48 from int64\n"
	"  --rules RULES       onnx (default), tosa, popxl or openvino; without it popxl if\n"
	"                      a type is called float8_143 or float8_152 or --log2-scale is\n"
	"                      given, openvino if one is called f8e4m3 or f8e5m2 or --scale\n"
	"                      is given\n"
	"  --saturate 0|1      float8: what is too large becomes the largest finite value;\n"
	"                      onnx and openvino 1, tosa always 0, popxl 0 (nan_on_overflow)\n"
	"  --fnuz-inf nan|max  onnx, saturating, infinity to FNUZ float8: as Cast's text says\n"
	"                      (default), or as ONNX's published node tests have it\n"
	"  --round up|down|nearest\n"
	"                      onnx, to float8e8m0: the power of two; up without it\n"
	"  --log2-scale N      popxl: times 2^N before float8, or after it; -32..31\n"
	"  --scale S.npy, --shift Z.npy\n"
	"                      openvino FakeConvert: the result keeps IN's type, TYPE is the\n"
	"                      one that it emulates; with --from, S and Z are of that type\n"
	"  -o, --output FILE\n"
	"\n"
	"TYPE: float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz float8_143 float8_152\n"
	"f8e4m3 f8e5m2 float8e8m0 float4e2m1 float16 bfloat16 float32 float64 bool int2 uint2 int4\n"
	"uint4 int8 uint8 int16 uint16 int32 uint32 int48 int64 uint64; string with the\n"
	"rules onnx: NumPy's U, as --to or --from\n";

struct job {
	const char *in, *out, *to_name, *from_name, *rules_name, *scale_file, *shift_file;
	weft_dtype to, from;               /* from: 0 if not given; both: 0 for string */
	int saturate;                      /* -1: by the rules */
	bool fnuz_inf_max, scaled;         /* scaled: --log2-scale was given */
	int32_t log2_scale;
	uint8_t scale_round;
	enum weft_cast_rules rules;
};

static int parse_type(const char *option, const char *name, weft_dtype *t)
{
	if (!strcmp(name, "string")) {
		*t = 0;
		return 0;
	}
	return weft_dtype_of_name(name, t) ? fail(EXIT_USAGE, "%s: \"%s\" is not a type; see weft cast --help", option, name) : 0;
}

static int parse_log2(const char *text, int32_t *out)
{
	char *end;
	long v = strtol(text, &end, 10);

	if (end == text || *end || v < -32 || v > 31)
		return fail(EXIT_USAGE, "--log2-scale: \"%s\" is not a number from -32 to 31", text);
	*out = (int32_t)v;
	return 0;
}

static int parse_round(const char *value, uint8_t *round)
{
	static const char *const names[] = { "up", "down", "nearest" };

	for (uint8_t i = 0; i < 3; i++)
		if (!strcmp(value, names[i])) {
			*round = i;
			return 0;
		}
	return fail(EXIT_USAGE, "--round: \"%s\" is not up, down or nearest", value);
}

static int one_option(struct job *j, int option, const char *value)
{
	uint64_t n;

	switch (option) {
	case 0: case 1: j->out = value; return 0;
	case 2: j->to_name = value; return parse_type("--to", value, &j->to);
	case 3: j->from_name = value; return parse_type("--from", value, &j->from);
	case 4: j->rules_name = value; return 0;
	case 5:
		if (parse_number("--saturate", value, 1, &n))
			return EXIT_USAGE;
		j->saturate = (int)n;
		return 0;
	case 6:
		if (strcmp(value, "nan") && strcmp(value, "max"))
			return fail(EXIT_USAGE, "--fnuz-inf: \"%s\" is not nan or max", value);
		j->fnuz_inf_max = value[0] == 'm';
		return 0;
	case 7: j->scaled = true; return parse_log2(value, &j->log2_scale);
	case 8: j->scale_file = value; return 0;
	case 9: j->shift_file = value; return 0;
	case 10: return parse_round(value, &j->scale_round);
	case -1:
		if (j->in)
			return fail(EXIT_USAGE, "cast takes one file, \"%s\" is a second", value);
		j->in = value;
		return 0;
	default: return EXIT_USAGE;
	}
}

static bool called(const struct job *j, const char *prefix)
{
	return !strncmp(j->to_name, prefix, strlen(prefix)) ||
	       (j->from_name && !strncmp(j->from_name, prefix, strlen(prefix)));
}

static int choose_rules(struct job *j)
{
	static const char *const names[] = { "onnx", "tosa", "popxl", "openvino" };

	for (int i = 0; j->rules_name && i < 4; i++) {
		if (!strcmp(j->rules_name, names[i])) {
			j->rules = (enum weft_cast_rules)i;
			return 0;
		}
	}
	if (j->rules_name)
		return fail(EXIT_USAGE, "--rules: \"%s\" is not onnx, tosa, popxl or openvino", j->rules_name);
	if (called(j, "float8_1") || j->scaled)
		j->rules = WEFT_CAST_POPXL;
	else if (called(j, "f8e") || j->scale_file)
		j->rules = WEFT_CAST_OPENVINO;
	return 0;
}

static int parse_args(struct job *j, int argc, char **argv)
{
	static const struct option_def defs[] = {
		{ "-o", true }, { "--output", true }, { "--to", true }, { "--from", true }, { "--rules", true },
		{ "--saturate", true }, { "--fnuz-inf", true }, { "--log2-scale", true }, { "--scale", true },
		{ "--shift", true }, { "--round", true }, { NULL, false },
	};
	const char *value;
	int option, at = 0, status;

	while ((option = next_option(&at, argc, argv, defs, &value)) != -2) {
		if ((status = one_option(j, option, value)))
			return status;
	}
	if (!j->in || !j->out || !j->to_name)
		return fail(EXIT_USAGE, "cast wants IN.npy, -o OUT.npy and --to TYPE; see weft cast --help");
	if ((status = choose_rules(j)))
		return status;
	if ((j->scale_file || j->shift_file) && j->rules != WEFT_CAST_OPENVINO)
		return fail(EXIT_USAGE, "--scale and --shift are for --rules openvino");
	if (j->shift_file && !j->scale_file)
		return fail(EXIT_USAGE, "--shift without --scale");
	if (j->scale_file && j->saturate == 0)
		return fail(EXIT_USAGE, "--saturate 0: FakeConvert always saturates");
	return 0;
}

/* The integer that NumPy's file holds where NumPy has no name for the type. */
static weft_dtype held_as(weft_dtype t)
{
	switch (t) {
	case WEFT_INT2: case WEFT_INT4: return WEFT_INT8;
	case WEFT_INT48: return WEFT_INT64;
	case WEFT_BF16: return WEFT_UINT16;
	case WEFT_UINT2: case WEFT_UINT4: case WEFT_FP4E2M1: case WEFT_FP8E8M0: case WEFT_FP8E4M3: case WEFT_FP8E5M2:
	case WEFT_FP8E4M3FNUZ: case WEFT_FP8E5M2FNUZ: return WEFT_UINT8;
	default: return t;
	}
}

/* The exit status of a result that was written, or that could not be, as msg says. */
static int written(int err, const char *msg)
{
	return err ? fail(output_status(err), "%s", msg) : EXIT_DONE;
}

/* Read a file whose elements are of type `from`, or of the file's own. */
static int read_as(const char *file, weft_dtype from, weft_tensor *t)
{
	char msg[WEFT_NPY_MSG];
	int err = weft_npy_read(file, t, msg);

	if (err)
		return fail(file_status(err), "%s", msg);
	if (!from)
		return 0;
	if (t->dtype != held_as(from)) {
		weft_dtype got = t->dtype;

		free(t->data);
		t->data = NULL;
		return fail(EXIT_USAGE, "%s: holds %s; --from %s wants %s", file, weft_dtype_name(got),
		            weft_dtype_name(from), weft_dtype_name(held_as(from)));
	}
	t->dtype = from;
	return 0;
}

/* FakeConvert: the result has the data's type. */
static int fake_convert(const struct job *j, const weft_tensor *x, weft_tensor *y)
{
	weft_tensor scale = { 0 }, shift = { 0 };
	char msg[WEFT_CONVERT_MSG];
	int status = read_as(j->scale_file, j->from, &scale);

	if (!status && j->shift_file)
		status = read_as(j->shift_file, j->from, &shift);
	if (!status && weft_fake_convert(x, y, j->to, &scale, j->shift_file ? &shift : NULL, msg))
		status = fail(EXIT_USAGE, "%s: %s", j->in, msg);
	free(scale.data);
	free(shift.data);
	return status;
}

static int convert(const struct job *j, const weft_tensor *x, weft_tensor *y)
{
	struct weft_cast_options o = weft_cast_options_default(j->rules);
	char msg[WEFT_CONVERT_MSG];

	if (j->saturate >= 0)
		o.saturate = j->saturate == 1;
	o.fnuz_inf_max = j->fnuz_inf_max;
	o.log2_scale = j->log2_scale;
	o.scale_round = j->scale_round;
	return weft_cast(x, y, &o, msg) ? fail(EXIT_USAGE, "%s: %s", j->in, msg) : 0;
}

static bool is_string(const char *name)
{
	return name && !strcmp(name, "string");
}

static int from_text(const struct job *j)
{
	char msg[WEFT_NPY_MSG] = "", *text = NULL;
	weft_tensor y = { 0 };
	size_t each = 0, size = weft_dtype_bytes(j->to);
	uint64_t bits;

	if (weft_npy_read_text(j->in, &y, &text, &each, msg))
		return fail(EXIT_USAGE, "%s", msg);
	int64_t n = weft_tensor_elements(&y);
	int status = 0;
	y.dtype = j->to;
	y.data = calloc((size_t)n, size ? size : 1);
	for (int64_t i = 0; y.data && size && i < n && !status; i++) {
		if (weft_number_parse(text + (size_t)i * each, j->to, &bits))
			status = fail(EXIT_USAGE, "%s: element %lld, \"%.40s\", is no number", j->in, (long long)i, text + (size_t)i * each);
		memcpy((char *)y.data + (size_t)i * size, &bits, size);
	}
	if (!status && !size)                /* text to text */
		status = written(weft_npy_write_text(j->out, &y, text, each, msg), msg);
	else if (!status)
		status = written(weft_npy_write(j->out, &y, msg), msg);
	free(y.data);
	free(text);
	return status;
}

static int to_text(const struct job *j, const weft_tensor *x)
{
	size_t n = (size_t)weft_tensor_elements(x), size = weft_dtype_bytes(x->dtype);
	char msg[WEFT_NPY_MSG] = "", *text = calloc(n, WEFT_NUMBER_TEXT);
	int status = text ? 0 : fail(EXIT_DEVICE, "out of memory for %zu texts", n);

	for (size_t i = 0; i < n && !status; i++) {
		uint64_t bits = 0;
		memcpy(&bits, (const char *)x->data + i * size, size);
		if (weft_number_format(x->dtype, bits, text + i * WEFT_NUMBER_TEXT, WEFT_NUMBER_TEXT))
			status = fail(EXIT_USAGE, "%s: element %zu", j->in, i);
	}
	if (!status)
		status = written(weft_npy_write_text(j->out, x, text, WEFT_NUMBER_TEXT, msg), msg);
	free(text);
	return status;
}

static int cast_main(int argc, char **argv)
{
	struct job j = { .saturate = -1 };
	weft_tensor x = { 0 }, y;
	char msg[WEFT_NPY_MSG];
	int status = parse_args(&j, argc, argv);

	if (!status && (is_string(j.to_name) || is_string(j.from_name)) && j.rules != WEFT_CAST_ONNX)
		return fail(EXIT_USAGE, "cast: strings are for --rules onnx");
	if (!status && is_string(j.from_name))
		return from_text(&j);
	if (status || (status = read_as(j.in, j.from, &x)))
		return status;
	if (is_string(j.to_name)) {
		status = to_text(&j, &x);
		free(x.data);
		return status;
	}
	y = x;
	y.dtype = j.scale_file ? x.dtype : j.to;
	y.data = malloc(weft_tensor_bytes(&y));
	if (!y.data)
		status = fail(EXIT_DEVICE, "out of memory for %zu bytes", weft_tensor_bytes(&y));
	else
		status = j.scale_file ? fake_convert(&j, &x, &y) : convert(&j, &x, &y);
	if (!status)
		status = written(weft_npy_write(j.out, &y, msg), msg);
	free(x.data);
	free(y.data);
	return status;
}

const struct subcommand cmd_cast = { "cast", "convert the number format of a .npy file", usage, cast_main };
