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

/* 3x3, stride 1, padding 1: MACs a second of processor time, 0 without memory. */
static double golden_rate(int64_t size, int64_t channels)
{
	weft_tensor x = tensor(WEFT_INT8, 4, 1, size, size, channels), w = tensor(WEFT_INT8, 4, channels, 3, 3, channels);
	weft_tensor b = tensor(WEFT_INT32, 1, channels, 0, 0, 0), y = tensor(WEFT_INT32, 4, 1, size, size, channels), *py = &y;
	const weft_tensor *in[] = { &x, &w, &b };
	const weft_attr attr = { .conv = { .pad = { 1, 1, 1, 1 }, .stride = { 1, 1 }, .dilation = { 1, 1 }, .x_zp = 3, .acc = WEFT_INT32 } };
	double macs = 0, start = cpu_seconds(), spent = 0;
	char msg[WEFT_GOLDEN_MSG];

	while (x.data && w.data && b.data && y.data && spent < ENOUGH_SECONDS) {
		if (weft_golden_run(WEFT_OP_CONV2D, &attr, in, 3, &py, 1, true, msg)) {
			fail(0, "golden: %s", msg);
			macs = 0;
			break;
		}
		macs += (double)(size * size * channels * channels * 9);
		spent = cpu_seconds() - start;
	}
	free(x.data);
	free(w.data);
	free(b.data);
	free(y.data);
	return spent > 0 ? macs / spent : 0;
}

static void add(cJSON *list, const char *name, double value, const char *unit)
{
	cJSON *j = cJSON_CreateObject();

	cJSON_AddStringToObject(j, "name", name);
	cJSON_AddNumberToObject(j, "value", value);
	cJSON_AddStringToObject(j, "unit", unit);
	cJSON_AddItemToArray(list, j);
}

static int compile(const char *path)
{
	char msg[WEFT_MSG_LEN];
	uint8_t *out = NULL;
	weft_net *net;
	size_t n;

	if (weft_net_load_file(path, &net, msg) || weft_net_save(net, "w16", &out, &n, msg))
		return fail(1, "%s: %s", path, msg);
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
	add(list, text, seconds, "processor seconds");
	add(list, text, mb, "MB");
	return 0;
}

int bench_golden(bool print, cJSON *list)
{
	static const struct { const char *name; int64_t size, channels; } shape[] = {
		{ "golden conv 3x3 56x56x64 to 64", 56, 64 }, { "golden conv 3x3 14x14x256 to 256", 14, 256 },
	};

	for (size_t i = 0; i < sizeof(shape) / sizeof(*shape); i++) {
		double rate = golden_rate(shape[i].size, shape[i].channels);
		if (rate <= 0)
			return EXIT_DEVICE;
		if (print)
			printf("%-34s %-5s %10.1f GMAC/s\n", shape[i].name, "host", rate * 1e-9);
		add(list, shape[i].name, rate * 1e-9, "GMAC/s");
	}
	return 0;
}
