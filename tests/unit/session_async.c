/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs that were submitted give the bytes of weft_session_run(), in order, into the
 * caller's memory; the descriptor tells of each; runs can be cancelled, and a session
 * closed in the middle. On golden and on the functional model. Takes a second;
 * make test SAN=thread T=unit/session_async watches the threads.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <weft/weft.h>

#define NET "tests/models/digits_int8.tflite"
#define RUNS 12
#define ROOM 4096

struct bench {
	weft_net *net;
	weft_session *s;
	weft_tensor in[RUNS], out[RUNS];
	uint8_t want[RUNS][ROOM], got[RUNS][ROOM], data[RUNS][ROOM];
};

static weft_tensor tensor_of(const struct weft_port *p, void *data)
{
	weft_tensor t = { .dtype = p->dtype, .rank = p->rank, .data = data };

	memcpy(t.dim, p->dim, sizeof(t.dim));
	assert_true(weft_tensor_bytes(&t) <= ROOM);
	return t;
}

static void open_bench(struct bench *b, enum weft_device device)
{
	struct weft_session_options o = weft_session_options_default();
	struct weft_port in, out;
	char msg[WEFT_MSG_LEN];

	o.device = device;
	assert_int_equal(weft_net_load_file(NET, &b->net, msg), 0);
	assert_int_equal(weft_session_open(b->net, &o, &b->s, msg), 0);
	weft_net_input(b->net, 0, &in);
	weft_net_output(b->net, 0, &out);
	for (int i = 0; i < RUNS; i++) {
		for (int k = 0; k < ROOM; k++)
			b->data[i][k] = (uint8_t)(k * (2 * i + 3));
		b->in[i] = tensor_of(&in, b->data[i]);
		b->out[i] = tensor_of(&out, b->got[i]);
		weft_tensor want = { 0 };
		assert_int_equal(weft_session_run(b->s, &b->in[i], &want, NULL, msg), 0);
		memcpy(b->want[i], want.data, weft_tensor_bytes(&want));
		weft_tensor_release(&want);
	}
}

static void close_bench(struct bench *b)
{
	weft_session_close(b->s);
	weft_net_free(b->net);
}

static bool readable(int fd, int timeout_ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, timeout_ms) == 1;
}

static void in_order(enum weft_device device)
{
	static struct bench b;
	char msg[WEFT_MSG_LEN];
	weft_run run[RUNS], ended;

	open_bench(&b, device);
	const size_t n = weft_tensor_bytes(&b.out[0]);
	int differ = 0;
	for (int i = 1; i < RUNS; i++)
		differ += memcmp(b.want[0], b.want[i], n) != 0;
	assert_true(differ);
	const int fd = weft_session_fd(b.s);
	assert_true(fd >= 0 && !readable(fd, 0));
	assert_int_equal(weft_session_poll(b.s, &ended), 0);
	for (int i = 0; i < RUNS; i++)
		assert_int_equal(weft_session_submit(b.s, &b.in[i], &b.out[i], &run[i], msg), 0);
	for (int i = 0; i < RUNS; i++) {
		struct weft_report *r = NULL;
		assert_true(readable(fd, 60000));
		assert_int_equal(weft_session_poll(b.s, &ended), 1);
		assert_int_equal(ended, run[i]);
		assert_int_equal(weft_session_wait(b.s, ended, 0, &r, msg), 0);
		assert_non_null(r);
		assert_true(r->macs > 0);
		weft_report_free(r);
		assert_memory_equal(b.got[i], b.want[i], n);
	}
	assert_false(readable(fd, 0));
	assert_int_equal(weft_session_wait(b.s, run[0], 0, NULL, msg), -ENOENT);
	close_bench(&b);
}

static void order(void **state)
{
	(void)state;
	in_order(WEFT_DEVICE_GOLDEN);
	in_order(WEFT_DEVICE_MODEL);
}

/* Some end, some are cancelled; each says which, and those that end are right. */
static void cancel(void **state)
{
	static struct bench b;
	char msg[WEFT_MSG_LEN];
	weft_run run[RUNS];
	int cancelled = 0;

	(void)state;
	open_bench(&b, WEFT_DEVICE_MODEL);
	for (int i = 0; i < RUNS; i++)
		assert_int_equal(weft_session_submit(b.s, &b.in[i], &b.out[i], &run[i], msg), 0);
	for (int i = 0; i < RUNS; i += 2)
		assert_int_equal(weft_session_cancel(b.s, run[i]), 0);
	for (int i = 0; i < RUNS; i++) {
		int err = weft_session_wait(b.s, run[i], -1, NULL, msg);
		if (i % 2 || err != -ECANCELED)
			assert_int_equal(err, 0);
		if (!err)
			assert_memory_equal(b.got[i], b.want[i], weft_tensor_bytes(&b.out[i]));
		cancelled += err == -ECANCELED;
	}
	assert_true(cancelled > 0);
	assert_int_equal(weft_session_cancel(b.s, run[0]), -ENOENT);
	close_bench(&b);
}

struct caller { struct bench *b; int first; };

static void *call(void *user)
{
	const struct caller *c = user;
	char msg[WEFT_MSG_LEN];
	weft_run run;

	for (int i = c->first; i < RUNS; i += 3) {
		int err = i % 2 ? weft_session_run_into(c->b->s, &c->b->in[i], &c->b->out[i], NULL, msg)
		                : weft_session_submit(c->b->s, &c->b->in[i], &c->b->out[i], &run, msg);
		if (!err && i % 2 == 0)
			err = weft_session_wait(c->b->s, run, -1, NULL, msg);
		if (err)
			return c->b;
	}
	return NULL;
}

static void threads(void **state)
{
	static struct bench b;
	struct caller c[3];
	pthread_t t[3];
	void *bad;

	(void)state;
	open_bench(&b, WEFT_DEVICE_MODEL);
	for (int i = 0; i < 3; i++) {
		c[i] = (struct caller){ &b, i };
		assert_int_equal(pthread_create(&t[i], NULL, call, &c[i]), 0);
	}
	for (int i = 0; i < 3; i++) {
		pthread_join(t[i], &bad);
		assert_null(bad);
	}
	for (int i = 0; i < RUNS; i++)
		assert_memory_equal(b.got[i], b.want[i], weft_tensor_bytes(&b.out[i]));
	close_bench(&b);
}

static void outputs_bad(void **state)
{
	static struct bench b;
	char msg[WEFT_MSG_LEN];
	weft_run run;

	(void)state;
	open_bench(&b, WEFT_DEVICE_MODEL);
	weft_tensor out = b.out[0];
	out.data = NULL;
	assert_int_equal(weft_session_run_into(b.s, &b.in[0], &out, NULL, msg), -EINVAL);
	assert_string_equal(msg, "output 0 \"probabilities\": has no memory");
	out = b.out[0];
	out.dim[1]++;
	assert_int_equal(weft_session_submit(b.s, &b.in[0], &out, &run, msg), -EINVAL);
	assert_string_equal(msg, "output 0 \"probabilities\": type or shape is not the network's");
	/* Closed with runs under way. */
	for (int i = 0; i < RUNS; i++)
		assert_int_equal(weft_session_submit(b.s, &b.in[i], &b.out[i], &run, msg), 0);
	close_bench(&b);
}

static void full_bad(void **state)
{
	static struct bench b;
	char msg[WEFT_MSG_LEN];
	weft_run run;

	(void)state;
	open_bench(&b, WEFT_DEVICE_MODEL);
	for (int i = 0; i < WEFT_RUNS_MAX; i++)
		assert_int_equal(weft_session_submit(b.s, &b.in[0], &b.out[0], &run, msg), 0);
	assert_int_equal(weft_session_submit(b.s, &b.in[0], &b.out[0], &run, msg), -EAGAIN);
	assert_string_equal(msg, "64 runs were not waited for: wait for one of them first");
	assert_int_equal(weft_session_wait(b.s, 1, -1, NULL, msg), 0);
	assert_int_equal(weft_session_submit(b.s, &b.in[0], &b.out[0], &run, msg), 0);
	close_bench(&b);
}

/* Two sessions on one device that the caller has opened: each gives what it gives alone, and neither closes the device. */
static void on_one_device(void **state)
{
	static struct bench b;
	struct weft_session_options o = weft_session_options_default();
	struct weft_dev_options d = weft_dev_options_default();
	struct weft_session_options other;
	weft_session *s[2], *none;
	weft_dev *dev;
	char msg[WEFT_MSG_LEN];

	(void)state;
	open_bench(&b, WEFT_DEVICE_MODEL);
	assert_int_equal(weft_dev_open(&d, &dev, msg), 0);
	o.on = dev;
	o.check = true;
	for (int k = 0; k < 2; k++)
		assert_int_equal(weft_session_open(b.net, &o, &s[k], msg), 0);
	for (int i = 0; i < RUNS; i++) {
		assert_int_equal(weft_session_run_into(s[i % 2], &b.in[i], &b.out[i], NULL, msg), 0);
		assert_memory_equal(b.got[i], b.want[i], weft_tensor_bytes(&b.out[i]));
	}
	assert_ptr_equal(weft_session_device(s[1]), dev);
	weft_session_close(s[0]);
	assert_int_equal(weft_session_run_into(s[1], &b.in[0], &b.out[0], NULL, msg), 0);
	weft_session_close(s[1]);
	other = o;
	other.config = "w8";
	assert_int_equal(weft_session_open(b.net, &other, &none, msg), -EINVAL);
	assert_string_equal(msg, "device: it was opened for configuration w16, the session is for w8");
	weft_dev_close(dev);
	close_bench(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(on_one_device),
		cmocka_unit_test(order), cmocka_unit_test(cancel), cmocka_unit_test(threads), cmocka_unit_test(outputs_bad),
		cmocka_unit_test(full_bad),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
