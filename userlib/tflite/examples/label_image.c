/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Classify a picture on the NPU, with LiteRT's C interface.
 *
 *   label_image MODEL.tflite PICTURE.png [--labels FILE] [--delegate LIBRARY] [--option KEY=VALUE]...
 *
 *   cc label_image.c -o label_image libLiteRt.so -lpng -ldl -lm
 *
 * MODEL has one input [1][height][width][1 or 3] and one output, of float32, uint8 or int8. The picture
 * becomes gray or RGB, and as large as the input by taking the nearest pixel. FILE has a line for each
 * class. Prints the five best ones.
 *
 * An external delegate comes into LiteRT as an accelerator: a function of ours opens the delegate's library
 * and hands its delegate over, each time that a model is compiled.
 */
#include <dlfcn.h>
#include <math.h>
#include <png.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "litert.h"

#define MOST_OPTIONS 16
#define BEST 5

struct arguments {
	const char *model, *picture, *labels, *delegate;
	const char *keys[MOST_OPTIONS], *values[MOST_OPTIONS];
	size_t n_options;
};

/* One tensor of the network at its boundary. */
struct port {
	LiteRtRankedTensorType type;
	LiteRtQuantizationPerTensor q;     /* scale 0: not quantised */
	size_t n;                          /* elements */
	LiteRtTensorBuffer buffer;
};

/* What main() opens; close_all() takes what is there. */
struct session {
	LiteRtEnvironment environment;
	LiteRtOptions options;
	LiteRtModel model;
	LiteRtCompiledModel compiled;
	struct port in, out;
};

/* LiteRT hands no data to the function that makes a delegate before the accelerator is registered. */
static const struct arguments *given;

/* Says what failed; returns whether the status is a failure. */
static bool bad(int status, const char *what)
{
	if (status != LITERT_OK)
		fprintf(stderr, "label_image: %s: LiteRT's status %d\n", what, status);
	return status != LITERT_OK;
}

/* ---- the delegate ---- */

/* The library's line about options that it refuses. */
static void report(const char *line)
{
	fprintf(stderr, "label_image: %s\n", line);
}

/* What the accelerator is called. */
static int name(LiteRtAccelerator a, const char **out)
{
	(void)a;
	*out = "Weft";
	return LITERT_OK;
}

/* The accelerator's own version. */
static int version(LiteRtAccelerator a, LiteRtApiVersion *out)
{
	(void)a;
	*out = (LiteRtApiVersion){ 1, 0, 0 };
	return LITERT_OK;
}

/* What hardware it stands for. LiteRT leaves accelerators for NPUs out where a model has no parts that were compiled for one. */
static int hardware(LiteRtAccelerator a, int *set)
{
	(void)a;
	*set = LITERT_GPU;
	return LITERT_OK;
}

/*
 * Opens the delegate's library, which stays open, and sets *out to a delegate with the options of the command
 * line; LiteRT destroys it with the compiled model. Returns LiteRT's status; LITERT_RUNTIME_FAILURE if library
 * or delegate cannot be had.
 */
static int make_delegate(void *runtime, LiteRtEnvironment e, LiteRtAccelerator a, LiteRtOptions o, LiteRtDelegateWrapper *out)
{
	struct TfLiteDelegate *(*create)(const char *const *, const char *const *, size_t, void (*)(const char *)) = NULL;
	void (*destroy)(struct TfLiteDelegate *) = NULL;
	void *library = dlopen(given->delegate, RTLD_NOW | RTLD_LOCAL);

	(void)runtime;
	(void)e;
	(void)a;
	(void)o;
	if (library) {
		*(void **)&create = dlsym(library, "tflite_plugin_create_delegate");
		*(void **)&destroy = dlsym(library, "tflite_plugin_destroy_delegate");
	}
	if (!create || !destroy) {
		fprintf(stderr, "label_image: %s\n", dlerror());
		return LITERT_RUNTIME_FAILURE;
	}
	struct TfLiteDelegate *d = create(given->keys, given->values, given->n_options, report);
	return d ? LiteRtWrapDelegate(d, destroy, out) : LITERT_RUNTIME_FAILURE;
}

/* Registers the delegate as an accelerator. Returns whether that failed. */
static bool add_delegate(LiteRtEnvironment environment)
{
	LiteRtAccelerator a;

	if (bad(LiteRtCreateAccelerator(&a), "accelerator"))
		return true;
	if (bad(LiteRtSetAcceleratorGetName(a, name), "accelerator's name") ||
	    bad(LiteRtSetAcceleratorGetVersion(a, version), "accelerator's version") ||
	    bad(LiteRtSetAcceleratorGetHardwareSupport(a, hardware), "accelerator's hardware") ||
	    bad(LiteRtSetDelegateFunction(a, make_delegate), "accelerator's delegate")) {
		LiteRtDestroyAccelerator(a);
		return true;
	}
	return bad(LiteRtRegisterAccelerator(environment, a, NULL, NULL), "registering the accelerator");
}

/* ---- the network ---- */

/*
 * Sets *p to type, scale and elements of a tensor (a dimension below 1 counts as 1) and makes its buffer.
 * Returns whether that failed, after a line on stderr; also for other types than float32, uint8 and int8.
 */
static bool open_port(LiteRtEnvironment environment, LiteRtTensor tensor, struct port *p)
{
	int kind;

	if (bad(LiteRtGetRankedTensorType(tensor, &p->type), "tensor") || bad(LiteRtGetQuantizationTypeId(tensor, &kind), "quantisation") ||
	    (kind == LITERT_PER_TENSOR && bad(LiteRtGetPerTensorQuantization(tensor, &p->q), "quantisation")))
		return true;
	const int type = p->type.element_type;
	if (type != LITERT_FLOAT32 && type != LITERT_UINT8 && type != LITERT_INT8) {
		fprintf(stderr, "label_image: element type %d; it takes float32, uint8 and int8\n", type);
		return true;
	}
	p->n = 1;
	for (unsigned i = 0; i < p->type.rank; i++)
		p->n *= p->type.dimensions[i] < 1 ? 1 : (size_t)p->type.dimensions[i];
	return bad(LiteRtCreateManagedTensorBuffer(environment, LITERT_HOST_MEMORY, &p->type, p->n * (type == LITERT_FLOAT32 ? 4 : 1), &p->buffer), "buffer");
}

/*
 * Opens the model's input and output. Returns whether that failed, after a line on stderr; also if the first
 * signature does not have one of each, or the input is not of shape [1][height][width][1 or 3].
 */
static bool open_ports(struct session *s)
{
	LiteRtSignature signature;
	LiteRtTensor in, out;
	size_t n_in, n_out;

	if (bad(LiteRtGetModelSignature(s->model, 0, &signature), "signature") || bad(LiteRtGetNumSignatureInputs(signature, &n_in), "inputs") ||
	    bad(LiteRtGetNumSignatureOutputs(signature, &n_out), "outputs"))
		return true;
	if (n_in != 1 || n_out != 1) {
		fprintf(stderr, "label_image: %zu inputs and %zu outputs; it takes one of each\n", n_in, n_out);
		return true;
	}
	if (bad(LiteRtGetSignatureInputTensorByIndex(signature, 0, &in), "input") || bad(LiteRtGetSignatureOutputTensorByIndex(signature, 0, &out), "output") ||
	    open_port(s->environment, in, &s->in) || open_port(s->environment, out, &s->out))
		return true;
	const LiteRtRankedTensorType *t = &s->in.type;
	if (t->rank != 4 || t->dimensions[0] != 1 || (t->dimensions[3] != 1 && t->dimensions[3] != 3)) {
		fprintf(stderr, "label_image: the input is no picture [1][height][width][1 or 3]\n");
		return true;
	}
	return false;
}

/*
 * Opens all of *s, which is zero before: environment with the delegate, options, model, ports, and the compiled
 * model. LiteRT's own accelerators stay out: what the delegate does not take runs on LiteRT's plain kernels.
 * Returns whether that failed, after a line on stderr; what was opened is then in *s for close_all().
 */
static bool open_all(struct session *s)
{
	const LiteRtEnvOption none = { .tag = LITERT_OPTION_AUTO_REGISTER, .any = { LITERT_ANY_INT, 0 } };

	return bad(LiteRtCreateEnvironment(1, &none, &s->environment), "environment") || add_delegate(s->environment) ||
	       bad(LiteRtCreateOptions(&s->options), "options") ||
	       bad(LiteRtSetOptionsHardwareAccelerators(s->options, LITERT_CPU | LITERT_GPU), "options") ||
	       bad(LiteRtCreateModelFromFile(s->environment, given->model, &s->model), given->model) || open_ports(s) ||
	       bad(LiteRtCreateCompiledModel(s->environment, s->model, s->options, &s->compiled), given->model);
}

/* Frees in *s what is not NULL; the pointers stay. */
static void close_all(struct session *s)
{
	if (s->compiled)
		LiteRtDestroyCompiledModel(s->compiled);
	if (s->in.buffer)
		LiteRtDestroyTensorBuffer(s->in.buffer);
	if (s->out.buffer)
		LiteRtDestroyTensorBuffer(s->out.buffer);
	if (s->model)
		LiteRtDestroyModel(s->model);
	if (s->options)
		LiteRtDestroyOptions(s->options);
	if (s->environment)
		LiteRtDestroyEnvironment(s->environment);
}

/* ---- the picture and the answer ---- */

/*
 * Writes one pixel's value, 0..255, to element i of the input's data as the network wants it: uint8 as it is,
 * float32 as value / 255, and int8 as the code of value / 255 by the input's scale, which must not be 0, and
 * zero point, rounded and limited to the type.
 */
static void put(const struct port *p, void *data, size_t i, unsigned value)
{
	const float real = (float)value / 255;

	if (p->type.element_type == LITERT_FLOAT32)
		((float *)data)[i] = real;
	else if (p->type.element_type == LITERT_UINT8)
		((uint8_t *)data)[i] = (uint8_t)value;
	else
		((int8_t *)data)[i] = (int8_t)fminf(fmaxf(rintf(real / p->q.scale) + (float)p->q.zero_point, -128), 127);
}

/*
 * Reads the PNG file into the input, grey if that has one channel; each of its pixels gets the picture's pixel
 * at its centre. Returns whether that failed, after a line on stderr.
 */
static bool read_picture(const struct port *in)
{
	const size_t height = (size_t)in->type.dimensions[1], width = (size_t)in->type.dimensions[2], channels = (size_t)in->type.dimensions[3];
	png_image png = { .version = PNG_IMAGE_VERSION };
	void *data;

	if (!png_image_begin_read_from_file(&png, given->picture)) {
		fprintf(stderr, "label_image: %s: %s\n", given->picture, png.message);
		return true;
	}
	png.format = channels == 3 ? PNG_FORMAT_RGB : PNG_FORMAT_GRAY;
	uint8_t *pixels = calloc(1, PNG_IMAGE_SIZE(png));       /* what is behind transparent pixels: black */
	if (!pixels || !png_image_finish_read(&png, NULL, pixels, 0, NULL)) {
		fprintf(stderr, "label_image: %s: %s\n", given->picture, pixels ? png.message : "out of memory");
		png_image_free(&png);
		free(pixels);
		return true;
	}
	bool failed = bad(LiteRtLockTensorBuffer(in->buffer, &data, LITERT_WRITE), "input");
	for (size_t y = 0; !failed && y < height; y++)
		for (size_t x = 0; x < width; x++)
			for (size_t c = 0; c < channels; c++)
				put(in, data, (y * width + x) * channels + c,
				    pixels[((2 * y + 1) * png.height / (2 * height) * png.width + (2 * x + 1) * png.width / (2 * width)) * channels + c]);
	free(pixels);
	return failed || bad(LiteRtUnlockTensorBuffer(in->buffer), "input");
}

/* The real number that element i stands for. */
static float real_of(const struct port *p, const void *data, size_t i)
{
	if (p->type.element_type == LITERT_FLOAT32)
		return ((const float *)data)[i];
	const int code = p->type.element_type == LITERT_UINT8 ? ((const uint8_t *)data)[i] : ((const int8_t *)data)[i];
	return p->q.scale ? (float)(code - p->q.zero_point) * p->q.scale : (float)code;
}

/*
 * Prints a line with the score and class k: its line in the file of labels, or its number if there is no file
 * or the line is missing or empty. Lines count from 0.
 */
static void print_class(float score, size_t k)
{
	FILE *f = given->labels ? fopen(given->labels, "r") : NULL;
	char line[256] = "";

	for (size_t i = 0; f && i <= k; i++)
		if (!fgets(line, sizeof(line), f))
			line[0] = '\0';
	if (f)
		fclose(f);
	line[strcspn(line, "\n")] = '\0';
	if (*line)
		printf("%.4f %s\n", score, line);
	else
		printf("%.4f %zu\n", score, k);
}

/*
 * Prints the BEST classes of the highest scores, or all if there are fewer, the highest first; of equal scores
 * the first one. Returns whether the output could not be read.
 */
static bool print_best(const struct port *out)
{
	const size_t n = out->n < BEST ? out->n : BEST;
	size_t best[BEST];
	void *data;

	if (bad(LiteRtLockTensorBuffer(out->buffer, &data, LITERT_READ), "output"))
		return true;
	for (size_t k = 0; k < n; k++) {
		best[k] = out->n;
		for (size_t i = 0; i < out->n; i++) {
			bool taken = false;
			for (size_t j = 0; j < k; j++)
				taken |= best[j] == i;
			if (!taken && (best[k] == out->n || real_of(out, data, i) > real_of(out, data, best[k])))
				best[k] = i;
		}
		print_class(real_of(out, data, best[k]), best[k]);
	}
	return bad(LiteRtUnlockTensorBuffer(out->buffer), "output");
}

/* ---- the command line ---- */

/*
 * Takes one option of the command line (--labels, --delegate, --option) with its value into *a, which points
 * into the value from then on; of --option the first '=' in it becomes a zero byte. Returns whether it could be
 * taken: not if it is another option, or --option has no '=' or comes more than MOST_OPTIONS times.
 */
static bool take_option(struct arguments *a, const char *option, char *value)
{
	if (!strcmp(option, "--labels"))
		a->labels = value;
	else if (!strcmp(option, "--delegate"))
		a->delegate = value;
	else if (!strcmp(option, "--option") && strchr(value, '=') && a->n_options < MOST_OPTIONS) {
		a->keys[a->n_options] = value;
		value = strchr(value, '=');
		*value = '\0';
		a->values[a->n_options++] = value + 1;
	} else
		return false;
	return true;
}

/*
 * Labels the picture that the command line names with the model that it names, and prints the best classes.
 * Returns 0; 1 after a failure, which it has said on stderr; 2 for a wrong command line, after a line of usage.
 */
int main(int argc, char **argv)
{
	struct arguments a = { .delegate = "build/libweft_delegate.so" };
	struct session s = { 0 };
	bool wrong = argc < 3 || argc % 2 == 0;

	for (int i = 3; !wrong && i < argc; i += 2)
		wrong = !take_option(&a, argv[i], argv[i + 1]);
	if (wrong) {
		fprintf(stderr, "usage: label_image MODEL.tflite PICTURE.png [--labels FILE] [--delegate LIBRARY] [--option KEY=VALUE]...\n");
		return 2;
	}
	a.model = argv[1];
	a.picture = argv[2];
	given = &a;
	const bool failed = open_all(&s) || read_picture(&s.in) ||
	                    bad(LiteRtRunCompiledModel(s.compiled, 0, 1, &s.in.buffer, 1, &s.out.buffer), "run") || print_best(&s.out);
	close_all(&s);
	return failed;
}
