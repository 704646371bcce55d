/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs of a network by libweft itself, for comparison with a server on the same cards.
 *
 *   direct NET CARDS RUNS THREADS
 *
 * NET has one input, of float32. CARDS is the option usb of a session. Prints the seconds that the runs took, their
 * processor time, and the cycles of one. Exit status 1: something failed, and a line says what.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <weft/weft.h>

static weft_session *session;
static weft_tensor in;
static atomic_long left;
static atomic_ullong cycles;

/* Runs until none is left. Returns NULL, or what went wrong, in memory of its own. */
static void *work(void *unused)
{
	char msg[WEFT_MSG_LEN];

	(void)unused;
	while (atomic_fetch_sub(&left, 1) > 0) {
		struct weft_report *report = NULL;
		weft_tensor out = { 0 };
		const int err = weft_session_run(session, &in, &out, &report, msg);
		if (report)
			atomic_store(&cycles, report->cycles);
		weft_report_free(report);
		weft_tensor_release(&out);
		if (err)
			return strdup(msg);
	}
	return NULL;
}

/* Seconds of a clock. */
static double now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Runs `runs` times by `threads` threads. Returns 0, or -1 with a line said. */
static int run_all(long runs, int threads)
{
	pthread_t t[64];
	int err = 0;

	atomic_store(&left, runs);
	for (int i = 0; i < threads; i++)
		pthread_create(&t[i], NULL, work, NULL);
	for (int i = 0; i < threads; i++) {
		void *said = NULL;
		pthread_join(t[i], &said);
		if (said)
			fprintf(stderr, "direct: %s\n", (char *)said);
		err |= said ? -1 : 0;
		free(said);
	}
	return err;
}

int main(int argc, char **argv)
{
	struct weft_session_options o = weft_session_options_default();
	char msg[WEFT_MSG_LEN] = "usage: direct NET CARDS RUNS THREADS";
	const int threads = argc == 5 ? atoi(argv[4]) : 0;
	struct weft_port port;
	weft_net *net = NULL;

	o.device = WEFT_DEVICE_USB;
	o.usb = argc == 5 ? argv[2] : NULL;
	int err = threads > 0 && threads <= 64 ? weft_net_load_file(argv[1], &net, msg) : -1;
	if (!err)
		err = weft_session_open(net, &o, &session, msg);
	if (!err)
		err = weft_net_input(net, 0, &port);
	if (err) {
		fprintf(stderr, "direct: %s\n", msg);
		return 1;
	}
	in = (weft_tensor){ .dtype = port.dtype, .rank = port.rank };
	memcpy(in.dim, port.dim, sizeof(in.dim));
	in.data = calloc(1, weft_tensor_bytes(&in));
	for (size_t i = 0; in.data && i < weft_tensor_bytes(&in) / sizeof(float); i++)
		((float *)in.data)[i] = (float)(i * 37 % 101) / 101;
	const double begin = now(CLOCK_MONOTONIC), cpu = now(CLOCK_PROCESS_CPUTIME_ID);
	err = in.data ? run_all(atol(argv[3]), threads) : -1;
	printf("%f %f %llu\n", now(CLOCK_MONOTONIC) - begin, now(CLOCK_PROCESS_CPUTIME_ID) - cpu, (unsigned long long)cycles);
	weft_session_close(session);
	weft_net_free(net);
	free(in.data);
	return err != 0;
}
