/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waveforms of a network in several streams: around a command, counted as weft dump
 * counts, whichever stream has it; and of the whole run. And a disk that is full, or memory that ends,
 * while one is written.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <weft/file.h>
#include <weft/weft.h>

#include "tests/support/file.h"
#include "tests/support/level.h"

#define MODEL "migraphx_onnx/matmulinteger_int8_uint8_one_zp_test.onnx"
#define AROUND 20

struct span { uint64_t from, to; };

static uint64_t big_endian(const uint8_t *p)
{
	uint64_t v = 0;

	for (int i = 0; i < 8; i++)
		v = v << 8 | p[i];
	return v;
}

/* FST's header block: its kind (0), length, first and last time; two times a cycle. */
static struct span span_of(const char *file)
{
	uint8_t head[25];
	FILE *f = fopen(file, "rb");

	assert_non_null(f);
	assert_int_equal(fread(head, 1, sizeof(head), f), sizeof(head));
	fclose(f);
	assert_int_equal(head[0], 0);
	return (struct span){ big_endian(head + 9), big_endian(head + 17) };
}

/* Runs with the waveform of that command; cycles of all streams. */
static uint64_t run(const weft_net *net, const char *file, int64_t cmd)
{
	struct weft_session_options o = weft_session_options_default();
	char msg[WEFT_MSG_LEN] = "";
	weft_tensor in[4] = { 0 }, out[4] = { 0 };
	struct weft_report *r;
	struct weft_port p;
	weft_session *s;

	o.device = WEFT_DEVICE_RTL;
	o.wave = file;
	o.wave_cmd = cmd;
	o.wave_cycles = AROUND;
	if (weft_session_open(net, &o, &s, msg))
		fail_msg("%s", msg);
	for (int i = 0; i < weft_net_n_inputs(net); i++) {
		assert_int_equal(weft_net_input(net, i, &p), 0);
		in[i] = (weft_tensor){ .dtype = p.dtype, .rank = p.rank };
		memcpy(in[i].dim, p.dim, sizeof(p.dim));
		in[i].data = calloc(1, weft_tensor_bytes(&in[i]) + 1);
	}
	if (weft_session_run(s, in, out, &r, msg))
		fail_msg("%s", msg);
	uint64_t cycles = r->cycles;
	weft_report_free(r);
	for (int i = 0; i < 4; i++) {
		weft_tensor_release(&in[i]);
		weft_tensor_release(&out[i]);
	}
	weft_session_close(s);
	return cycles;
}

/* Commands of the first stream and of all, as the disassembly has them. */
static void count(const weft_net *net, int *first, int *all)
{
	char msg[WEFT_MSG_LEN] = "", *text;

	if (weft_net_disassemble(net, "w16", &text, msg))
		fail_msg("%s", msg);
	*first = *all = 0;
	for (const char *p = strstr(text, "step"); p; p = strstr(p + 1, "step ")) {
		int n = 0;
		sscanf(p, "step %*d npu: %d commands", &n);
		*first = *first ? *first : n;
		*all += n;
	}
	free(text);
}

static void streams(void **state)
{
	const char *data = test_env("WEFT_DATA", "../shared/data");
	char path[512], file[128], msg[WEFT_MSG_LEN] = "";
	int first, all;
	weft_net *net;

	(void)state;
	snprintf(path, sizeof(path), "%s/%s", data, MODEL);
	if (access(path, R_OK)) {
		printf("%s is not there\n", path);
		skip();
	}
	if (weft_net_load_file(path, &net, msg))
		fail_msg("%s", msg);
	count(net, &first, &all);
	assert_true(first > 0 && all > first);
	test_path(file, sizeof(file), "wave-%d.fst", (int)getpid());

	uint64_t cycles = run(net, file, -1);
	struct span whole = span_of(file);
	assert_true((whole.to - whole.from) / 2 >= cycles);
	run(net, file, 0);
	struct span one = span_of(file);
	run(net, file, first);     /* of the second stream the first */
	struct span two = span_of(file);
	for (int i = 0; i < 2; i++) {
		const struct span *s = i ? &two : &one;
		assert_true((s->to - s->from) / 2 <= 2 * AROUND + 2 && s->to - s->from >= 2 * AROUND);
	}
	assert_true(two.from > one.to);
	unlink(file);

	struct weft_session_options o = weft_session_options_default();
	weft_session *s;
	o.device = WEFT_DEVICE_RTL;
	o.wave = file;
	o.wave_cmd = all;
	assert_int_not_equal(weft_session_open(net, &o, &s, msg), 0);
	assert_non_null(strstr(msg, "the program's last is"));
	weft_net_free(net);
}

/* ---- what fails while a waveform is written ---- */

#define DIGITS "tests/models/digits_int8.tflite"

static const char old[] = "what was there before";

/* How a run ended in a process of its own. */
struct ended { bool over; int err; char msg[WEFT_MSG_LEN]; };

/* The process has no more than that of a resource (setrlimit()), on top of the address space that it has: runs, and tells. */
static void limited_run(const weft_net *net, const char *file, int resource, rlim_t most, int to)
{
	struct weft_session_options o = weft_session_options_default();
	struct ended e = { .over = true };
	weft_tensor in = { .dtype = WEFT_INT8, .rank = 4, .dim = { 1, 8, 8, 1, 1, 1, 1, 1 }, .data = calloc(64, 1) }, out = { 0 };
	weft_session *s = NULL;

	for (int i = 1; i < 32; i++)           /* cmocka would go on in here */
		signal(i, i == SIGXFSZ ? SIG_IGN : SIG_DFL);
	if (resource == RLIMIT_AS) {
		unsigned long pages = 0;
		FILE *f = fopen("/proc/self/statm", "r");
		if (!f || fscanf(f, "%lu", &pages) != 1)
			_exit(1);
		fclose(f);
		most += pages * (rlim_t)sysconf(_SC_PAGESIZE);
	}
	o.device = WEFT_DEVICE_RTL;
	o.wave = file;
	e.err = weft_session_open(net, &o, &s, e.msg);
	setrlimit(resource, &(struct rlimit){ most, most });
	if (!e.err)
		e.err = weft_session_run(s, &in, &out, NULL, e.msg);
	setrlimit(resource, &(struct rlimit){ RLIM_INFINITY, RLIM_INFINITY });
	weft_session_close(s);
	weft_tensor_release(&out);
	free(in.data);
	_exit(write(to, &e, sizeof(e)) != sizeof(e));
}

/* Runs so, and returns how that ended, which a signal is not. */
static struct ended run_limited(const weft_net *net, const char *file, int resource, rlim_t most)
{
	struct ended e = { 0 };
	int fd[2], status;

	assert_int_equal(pipe(fd), 0);
	fflush(NULL);
	const pid_t pid = fork();
	if (!pid)
		limited_run(net, file, resource, most, fd[1]);
	close(fd[1]);
	const ssize_t n = read(fd[0], &e, sizeof(e));
	close(fd[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (n != sizeof(e) || status)
		fail_msg("with %llu bytes: status 0x%x", (unsigned long long)most, (unsigned)status);
	return e;
}

/* Files of a folder. */
static int count_files(const char *folder)
{
	DIR *d = opendir(folder);
	int n = 0;

	for (struct dirent *e; d && (e = readdir(d)); n++)
		;
	if (d)
		closedir(d);
	return n - 2;
}

static off_t size_of(const char *file)
{
	struct stat st;

	return stat(file, &st) ? -1 : st.st_size;
}

/*
 * One run after the other, each with less of the resource. Either all of the waveform is there, or an error says what
 * failed, the old file is there and no other one.
 */
static void less_and_less(int resource, rlim_t most, rlim_t less, int want, const char *says)
{
	char dir[128], file[160], msg[WEFT_MSG_LEN] = "";
	int good = 0, bad = 0;
	weft_net *net;

	test_path(dir, sizeof(dir), "wave-XXXXXX");
	assert_non_null(mkdtemp(dir));
	snprintf(file, sizeof(file), "%s/w.fst", dir);
	if (weft_net_load_file(DIGITS, &net, msg))
		fail_msg("%s", msg);
	struct ended e = run_limited(net, file, resource, RLIM_INFINITY / 2);
	if (e.err)
		fail_msg("%s", e.msg);
	const off_t whole = size_of(file);
	const struct span span = span_of(file);
	assert_true(whole > 0);
	for (rlim_t n = most; n > 0 && n <= most; n -= less) {
		assert_int_equal(weft_file_write(file, (const uint8_t *)old, sizeof(old)), 0);
		e = run_limited(net, file, resource, n);
		if (e.err && (e.err != want || !strstr(e.msg, says) || strchr(e.msg, '\n')))
			fail_msg("with %llu bytes: %d \"%s\"", (unsigned long long)n, e.err, e.msg);
		const off_t is = size_of(file);
		if (e.err ? is != sizeof(old) : is < whole / 2)
			fail_msg("with %llu bytes: %d, a file of %lld bytes", (unsigned long long)n, e.err, (long long)is);
		assert_int_equal(count_files(dir), 1);
		if (!e.err)
			assert_true(span_of(file).from == span.from && span_of(file).to == span.to);
		good += !e.err;
		bad += e.err != 0;
	}
	printf("%d runs whose waveform of %lld bytes is there, %d with an error\n", good, (long long)whole, bad);
	fflush(stdout);
	assert_true(good && bad);
	weft_net_free(net);
	unlink(file);
	rmdir(dir);
}

/* A limit on the size of files stands for a disk without room. */
static void full_disk(void **state)
{
	(void)state;
	less_and_less(RLIMIT_FSIZE, 1 << 20, test_every(64, 16, 4) << 10, -EFBIG, "w.fst: File too large");
}

static void no_memory(void **state)
{
	(void)state;
#ifdef __SANITIZE_ADDRESS__
	puts("the address sanitizer needs more address space than any limit");
	skip();
#else
	less_and_less(RLIMIT_AS, (rlim_t)320 << 20, (rlim_t)test_every(16, 4, 1) << 20, -ENOMEM, "out of memory");
#endif
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(streams), cmocka_unit_test(full_disk), cmocka_unit_test(no_memory) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
