/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the host needs: golden's convolutions, and compiling.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/clock.h"
#include "bench.h"
#include <weft/golden.h>

#define ENOUGH_SECONDS 0.3

static weft_tensor tensor(weft_dtype type, int rank, int64_t a, int64_t b, int64_t c, int64_t d)
{
	weft_tensor t = { .dtype = type, .rank = rank, .dim = { a, b, c, d } };

	t.data = malloc(weft_tensor_bytes(&t) + 1);
	if (t.data)
		fill_random(&t, 1);
	return t;
}

struct conv {
	const char *name;
	int64_t size, channels;    /* of input and output: size x size x channels */
	bool depthwise, to_int8;   /* to_int8: with the RESCALE behind it, as a framework's operator has */
};

/* 3x3, stride 1, padding 1, and the RESCALE if it is wanted. 0, or golden's error with its message in msg. */
static int run_conv(const struct conv *c, weft_tensor *x, weft_tensor *w, weft_tensor *b, weft_tensor *y, char *msg)
{
	const weft_attr conv = { .conv = { .pad = { 1, 1, 1, 1 }, .stride = { 1, 1 }, .dilation = { 1, 1 }, .x_zp = 3, .acc = WEFT_INT32 } };
	const weft_attr rescale = { .rescale = { .scale32 = true, .per_channel = true, .rounding = WEFT_SINGLE_ROUND, .y_zp = 5 } };
	const weft_tensor *in[] = { x, w, b }, *scaled[] = { y, b + 1, b + 2 };
	weft_tensor *sums = y, *bytes = y + 1;
	int err = weft_golden_run(c->depthwise ? WEFT_OP_DEPTHWISE_CONV2D : WEFT_OP_CONV2D, &conv, in, 3, &sums, 1, true, msg);

	if (!err && c->to_int8)
		err = weft_golden_run(WEFT_OP_RESCALE, &rescale, scaled, 3, &bytes, 1, true, msg);
	return err;
}

/* MACs a second of processor time, of the fastest run; 0 without memory. */
static double golden_rate(const struct conv *c)
{
	const int64_t n = c->size, ch = c->channels;
	weft_tensor x = tensor(WEFT_INT8, 4, 1, n, n, ch);
	weft_tensor w = c->depthwise ? tensor(WEFT_INT8, 4, 3, 3, ch, 1) : tensor(WEFT_INT8, 4, ch, 3, 3, ch);
	weft_tensor b[] = { tensor(WEFT_INT32, 1, ch, 0, 0, 0), tensor(WEFT_INT32, 1, ch, 0, 0, 0), tensor(WEFT_INT8, 1, ch, 0, 0, 0) };
	weft_tensor y[] = { tensor(WEFT_INT32, 4, 1, n, n, ch), tensor(WEFT_INT8, 4, 1, n, n, ch) };
	double start = cpu_seconds(), best = 0;
	bool room = x.data && w.data && b[0].data && b[1].data && b[2].data && y[0].data && y[1].data;
	char msg[WEFT_GOLDEN_MSG];

	for (int64_t i = 0; room && i < ch; i++) {
		((int32_t *)b[1].data)[i] = (1 << 30) + (int32_t)i;
		((int8_t *)b[2].data)[i] = 45;
	}
	while (room && cpu_seconds() - start < ENOUGH_SECONDS) {
		double before = cpu_seconds();
		if (run_conv(c, &x, &w, b, y, msg)) {
			fail(0, "golden: %s", msg);
			best = 0;
			break;
		}
		double spent = cpu_seconds() - before;
		best = best <= 0 || spent < best ? spent : best;
	}
	free(x.data);
	free(w.data);
	for (int i = 0; i < 3; i++)
		free(b[i].data);
	free(y[0].data);
	free(y[1].data);
	return best > 0 ? (double)(n * n * ch * (c->depthwise ? 1 : ch) * 9) / best : 0;
}

void bench_add(cJSON *list, const char *name, double value, const char *unit)
{
	cJSON *j = cJSON_CreateObject();

	cJSON_AddStringToObject(j, "name", name);
	cJSON_AddNumberToObject(j, "value", value);
	cJSON_AddStringToObject(j, "unit", unit);
	cJSON_AddItemToArray(list, j);
}

/* Compiles a model to a file, as `weft compile` does, which is deleted again. Returns 0, or 1 with a message. */
static int compile(const char *path)
{
	char msg[WEFT_MSG_LEN], out[4096];
	const char *folder = getenv("TMPDIR");
	weft_net *net;

	if ((size_t)snprintf(out, sizeof out, "%s/weft-bench-%d.weft", folder && *folder ? folder : "/tmp", (int)getpid()) >= sizeof out)
		return fail(1, "TMPDIR: the path is too long");
	if (weft_net_load_file(path, &net, msg) || weft_net_save_file(net, "w16", out, msg))
		return fail(1, "%s: %s", path, msg);
	unlink(out);
	return 0;
}

/* In a process of its own: its memory is nobody else's. */
int bench_compile(const char *path, bool print, cJSON *list)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	struct rusage u;
	char text[256];
	int status;

	fflush(NULL);
	pid_t pid = fork();
	if (!pid)
		_exit(compile(path));
	if (pid < 0 || wait4(pid, &status, 0, &u) != pid || status)
		return fail(EXIT_USAGE, "%s: cannot be compiled", path);
	double seconds = (double)u.ru_utime.tv_sec + (double)u.ru_stime.tv_sec +
	                 (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-6;
	double mb = (double)u.ru_maxrss / 1024;
	if (print)
		printf("%-34s %-5s %10.2f s %10.0f MB\n", name, "host", seconds, mb);
	snprintf(text, sizeof(text), "compile %.200s", name);
	bench_add(list, text, seconds, "processor seconds");
	bench_add(list, text, mb, "MB");
	return 0;
}

int bench_golden(bool print, cJSON *list)
{
	static const struct conv shape[] = {
		{ "golden conv 3x3 56x56x64 to 64", 56, 64, false, false }, { "golden conv 3x3 14x14x256 to 256", 14, 256, false, false },
		{ "golden depthwise 3x3 56x56x64", 56, 64, true, false }, { "golden depthwise 3x3 14x14x256", 14, 256, true, false },
		{ "golden conv 3x3 56x56x64 to int8", 56, 64, false, true }, { "golden conv 3x3 14x14x256 to int8", 14, 256, false, true },
		{ "golden depthwise 56x56x64 to int8", 56, 64, true, true }, { "golden depthwise 14x14x256 to int8", 14, 256, true, true },
	};

	for (size_t i = 0; i < sizeof(shape) / sizeof(*shape); i++) {
		double rate = golden_rate(&shape[i]);
		if (rate <= 0)
			return EXIT_DEVICE;
		if (print)
			printf("%-34s %-5s %10.1f GMAC/s\n", shape[i].name, "host", rate * 1e-9);
		bench_add(list, shape[i].name, rate * 1e-9, "GMAC/s");
	}
	return 0;
}
