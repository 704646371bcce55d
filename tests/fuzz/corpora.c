/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every file of tests/fuzz/corpus/NAME through target NAME. The corpora are what campaigns of the
 * fuzzer found worth keeping (make fuzz), and files named by the bug that they showed. With make test
 * this runs under the address and undefined sanitizers.
 *
 * corpora --seeds DIR writes the first seeds, from this project's own networks and builders. corpora --recorded DIR writes those of
 * recorded networks and random streams, as make fuzz does.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#include <jpeglib.h>
#include <png.h>

#include <weft/capture.h>
#include <weft/file.h>
#include <weft/npy.h>
#include <weft/weft.h>

#include "tests/support/level.h"
#include "tests/fuzz/fuzz_broker.h"
#include "tests/support/card_stream.h"
#include "tests/support/onnx_build.h"
#include "tests/support/recorded_seeds.h"
#include "weft/gen/msg.h"

#define TARGETS(X) X(tflite) X(onnx) X(tosa) X(weft) X(wcap) X(npy) X(image) X(quantize) X(graph) X(stream) X(redir) X(usbip) X(broker) \
	X(link) X(message) X(rtl)

#define DECLARE(name) int fuzz_##name(const uint8_t *data, size_t size);
TARGETS(DECLARE)

typedef int target_fn(const uint8_t *data, size_t size);

/* Runs all files of a corpus. Returns how many there are. */
static int replay(const char *name, target_fn *fn)
{
	char folder[128], path[512];
	int n = 0;

	snprintf(folder, sizeof folder, "tests/fuzz/corpus/%s", name);
	DIR *d = opendir(folder);
	for (struct dirent *e; d && (e = readdir(d)); n++) {
		uint8_t *data, *exact;
		size_t size;
		snprintf(path, sizeof path, "%s/%.300s", folder, e->d_name);
		if (*e->d_name == '.' || weft_file_read(path, 1 << 24, &data, &size)) {
			n--;
			continue;
		}
		/* As long as it is, so that a sanitizer sees the first byte beyond. */
		exact = malloc(size ? size : 1);
		assert_non_null(exact);
		memcpy(exact, data, size);
		free(data);
		fn(exact, size);
		free(exact);
	}
	if (d)
		closedir(d);
	return n;
}

#define TEST(name) static void test_##name(void **state) \
{ \
	int n = replay(#name, fuzz_##name); \
	(void)state; \
	printf(#name ": %d files\n", n); \
	fflush(stdout); \
	assert_true(n > 0); \
}
TARGETS(TEST)

/* ---- seeds ---- */

static const char *seeds;

/* Writes a seed; prefix: a byte in front of it, or -1. */
static void seed(const char *target, const char *name, int prefix, const uint8_t *p, size_t n)
{
	char path[512];
	const uint8_t first = (uint8_t)prefix;
	const struct weft_piece pieces[] = { { &first, prefix >= 0 }, { p, n } };

	snprintf(path, sizeof path, "%s/%s", seeds, target);
	mkdir(path, 0777);
	snprintf(path, sizeof path, "%s/%s/%s", seeds, target, name);
	if (weft_file_write_pieces(path, pieces, 2)) {
		fprintf(stderr, "%s cannot be written\n", path);
		exit(1);
	}
}

static void seed_file(const char *target, const char *path, int prefix)
{
	uint8_t *p;
	size_t n;

	if (weft_file_read(path, 1 << 24, &p, &n))
		exit(1);
	seed(target, strrchr(path, '/') + 1, prefix, p, n);
	free(p);
}

/* A number from a file, little-endian. */
static uint64_t number(const uint8_t *p, int bytes)
{
	uint64_t v = 0;

	for (int i = 0; i < bytes; i++)
		v |= (uint64_t)p[i] << 8 * i;
	return v;
}

/* The sections of a program for w16, as weft_fuzz.c takes them, and its first stream; or the first stream for w8, as stream_fuzz.c has it. */
static void seed_program(const char *path, bool small)
{
	char msg[WEFT_MSG_LEN] = "";
	weft_net *net;
	uint8_t *p;
	size_t n;

	if (weft_net_load_file(path, &net, msg) || weft_net_save(net, small ? "w8" : "w16", &p, &n, msg))
		exit(1);
	weft_net_free(net);
	const int sections = (int)number(p + 12, 4);
	size_t at = 16 + 24 * (size_t)sections + 4, n_all = 0;
	uint8_t *all = malloc(16 << 20);
	for (int i = 0; i < sections; i++) {
		const uint8_t *e = p + 16 + 24 * i;
		uLongf raw = (uLongf)number(e + 8, 8);
		for (int k = 0; k < 4; k++)
			all[n_all++] = (uint8_t)(raw >> 8 * k);
		uncompress(all + n_all, &raw, p + at, (uLong)number(e + 16, 8));
		if (!memcmp(e, "CMDW", 4))
			seed(small ? "stream" : "rtl", strrchr(path, '/') + 1, -1, all + n_all + 4, raw - 4);
		n_all += raw;
		at += (size_t)number(e + 16, 8);
	}
	if (!small)
		seed("weft", strrchr(path, '/') + 1, -1, all, n_all);
	free(all);
	free(p);
}

/* A small float network for the quantiser: Conv-like products and what may stand between them. */
static void seed_float(void)
{
	static const int64_t x[] = { 1, 4 }, w[] = { 4, 4 };
	static const struct { const char *type, *in; } types[] = { { "MatMul", "v w" }, { "Relu", "v" }, { "Add", "v v" }, { "Gemm", "v w" }, { "Sigmoid", "v" } };
	float values[16];

	for (int i = 0; i < 16; i++)
		values[i] = (float)(i % 5) - 2;
	for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
		const char *const type = types[i].type;
		struct ob g = { 0 }, model = { 0 };
		ob_node(&g, "MatMul", "x w", "v", NULL);
		ob_node(&g, type, types[i].in, "y", NULL);
		ob_tensor(&g, "w", 1, 2, w, values, sizeof values);
		ob_port(&g, 11, "x", 1, 2, x);
		ob_port(&g, 12, "y", 1, 2, x);
		ob_model(&model, &g, 13);
		seed("onnx", type, -1, model.p, model.n);
		for (int to = 0; to < 3; to++) {
			char name[32];
			snprintf(name, sizeof name, "%s.%d", type, to);
			seed("quantize", name, to, model.p, model.n);
		}
		free(model.p);
	}
}

static void seed_arrays(void)
{
	static const weft_dtype types[] = { WEFT_BOOL, WEFT_INT8, WEFT_INT16, WEFT_FP32, WEFT_FP64, WEFT_INT64 };
	weft_tensor t = { .rank = 2, .dim = { 2, 3, 1, 1, 1, 1, 1, 1 } };
	char path[512], msg[WEFT_NPY_MSG];
	uint8_t data[64] = { 1, 2, 3 };

	snprintf(path, sizeof path, "%s/npy", seeds);
	mkdir(path, 0777);
	t.data = data;
	for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
		t.dtype = types[i];
		snprintf(path, sizeof path, "%s/npy/%s.npy", seeds, weft_dtype_name(types[i]));
		if (weft_npy_write(path, &t, msg))
			exit(1);
	}
	snprintf(path, sizeof path, "%s/npy/text.npy", seeds);
	if (weft_npy_write_text(path, &t, "1.5\0" "2\0\0\0" "nan\0" "-7\0\0" "0x1\0" "1e5", 4, msg))
		exit(1);
}

/* Behind usb-redir's hello of 81 bytes, a packet of each kind that belongs to endpoints which no card of ours has. */
static void seed_others(uint8_t *redir)
{
	static const struct { const char *name; uint8_t type, bytes, first; } others[] = {
		{ "start_iso", 12, 3, 1 }, { "stop_iso", 13, 1, 1 }, { "start_interrupt", 15, 1, 0x81 }, { "stop_interrupt", 16, 1, 0x81 },
		{ "alloc_streams", 18, 8, 2 }, { "free_streams", 19, 4, 2 }, { "filter_reject", 22, 0, 0 }, { "filter", 23, 1, 0 },
		{ "start_receiving", 25, 10, 0 }, { "stop_receiving", 26, 5, 0 }, { "iso", 102, 4, 1 }, { "interrupt", 103, 4, 1 },
	};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		memset(redir + 81, 0, 22);
		redir[81] = others[i].type;
		redir[85] = others[i].bytes;
		redir[93] = others[i].first;
		seed("redir", others[i].name, -1, redir, 93 + others[i].bytes);
	}
}

/* Requests of a host: usb-redir's hello and others, USB/IP's list and import. */
static void seed_hosts(void)
{
	static const uint8_t list[] = { 1, 0x01, 0x11, 0x80, 0x05, 0, 0, 0, 0 };
	uint8_t import[1 + 8 + 32 + 48] = { 0, 0x01, 0x11, 0x80, 0x03, 0, 0, 0, 0, '1', '-', '1' };
	uint8_t redir[1 + 12 + 68 + 12 + 10] = { 0 };

	seed("usbip", "list", -1, list, sizeof list);
	uint8_t *submit = import + 41;
	submit[3] = 1;
	submit[7] = 1;
	submit[15] = 1;
	submit[19] = 1;                                   /* in */
	submit[27] = 18;
	memcpy(submit + 40, "\x80\x06\x00\x01\x00\x00\x12\x00", 8);
	seed("usbip", "import", -1, import, sizeof import);
	redir[5] = 68;                                    /* usb_redir_hello: length, version text, capabilities */
	memcpy(redir + 13, "weft fuzz", 9);
	redir[81] = 100;                                  /* control packet */
	redir[85] = 10;
	redir[89] = 1;
	memcpy(redir + 93, "\x80\x06\x80\x00\x01\x00\x00\x12\x00\x00", 10);
	seed("redir", "hello", -1, redir, sizeof redir);
	seed_others(redir);
}

/* A picture of 8 x 8 pixels, as PNG and as JPEG, grey and in colours. */
/* ---- a client of the broker ---- */

struct orders { uint8_t p[4096]; size_t n; };

static void put_bytes(struct orders *o, const void *p, size_t n)
{
	assert_true(n <= sizeof(o->p) - o->n);
	memcpy(o->p + o->n, p, n);
	o->n += n;
}

static void put_number(struct orders *o, uint64_t v, int bytes)
{
	for (int i = 0; i < bytes; i++)
		put_bytes(o, &(uint8_t){ (uint8_t)(v >> 8 * i) }, 1);
}

static void put_message(struct orders *o, const uint32_t *words, unsigned n)
{
	put_number(o, BROKER_FUZZ_MSG, 1);
	put_number(o, n - 1, 1);
	put_bytes(o, words, 4 * n);
}

/* It copies 64 bytes from one window to another, and reads them back. */
static void put_job(struct orders *o, unsigned job, unsigned from_window, int64_t off)
{
	struct card_stream s;

	stream_copy(&s, (int)from_window, off, 2, 0, 64);
	put_number(o, BROKER_FUZZ_WRITE, 1);
	put_number(o, 0, 3);
	put_number(o, 8 * s.n - 1, 2);
	put_bytes(o, s.words, 8 * s.n);
	put_number(o, BROKER_FUZZ_SUBMIT, 1);
	put_number(o, job, 1);
	put_number(o, 0, 2);
	put_number(o, s.n, 2);
	put_number(o, 2, 1);
	for (unsigned i = 0; i < 2; i++) {
		put_number(o, 64 * (i + 1), 2);
		put_number(o, 4096, 3);
		put_number(o, i ? WEFT_MSG_PERM_WRITE : WEFT_MSG_PERM_READ, 1);
	}
	put_number(o, BROKER_FUZZ_TURNS, 1);
	put_message(o, (uint32_t[]){ WEFT_MSG_DONE, job }, 2);
	put_number(o, BROKER_FUZZ_READ, 1);
	put_number(o, 0x10000 + 64 * 128, 4);
	put_number(o, 4096, 3);
}

static void seed_broker(void)
{
	static const uint32_t others[][3] = { { WEFT_MSG_PING, 1, 2 }, { WEFT_MSG_STATS }, { WEFT_MSG_CLIENTS, 0 }, { WEFT_MSG_CANCEL, 1 },
		{ WEFT_MSG_REG_READ, 0, 1 }, { WEFT_MSG_FW_BEGIN, 256 }, { WEFT_MSG_REBOOT }, { WEFT_MSG_LOG_READ, 0 } };
	static const unsigned lengths[] = { 3, 1, 2, 2, 3, 2, 1, 2 };
	struct orders o = { .n = 0 };

	put_message(&o, (uint32_t[]){ WEFT_MSG_HELLO, WEFT_MSG_VERSION_VALUE }, 2);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		put_message(&o, others[i], lengths[i]);
	put_number(&o, BROKER_FUZZ_READ, 1);
	put_number(&o, 0x10000, 4);
	put_number(&o, 4096, 3);
	seed("broker", "before", -1, o.p, o.n);
	put_message(&o, (uint32_t[]){ WEFT_MSG_ABORT_ALL }, 1);
	put_job(&o, 1, 1, 0);
	put_job(&o, 2, 1, 4096);
	put_job(&o, 3, 2, 0);
	seed("broker", "jobs", -1, o.p, o.n);
	put_number(&o, BROKER_FUZZ_CHIP_RESET, 1);
	put_job(&o, 4, 1, 64);
	put_number(&o, BROKER_FUZZ_LINK_RESET, 1);
	put_job(&o, 5, 1, 0);
	put_number(&o, BROKER_FUZZ_RAW, 1);
	seed("broker", "resets", -1, o.p, o.n);
}

/* Frames of a host: a READ, a WRITE, a message; broken ones between. link_fuzz.c says how they are written. */
static void seed_link(void)
{
	static const struct { uint8_t flags, type; uint32_t addr, len; uint8_t words; } frames[] = {
		{ 3, WEFT_FRAME_READ, 0x1000, 64, 0 }, { 3, WEFT_FRAME_WRITE, 0x1ffc, 16, 4 }, { 3, WEFT_FRAME_MSG, 0, 12, 3 },
		{ 3, WEFT_FRAME_READ, 0x3000, 2, 0 }, { 1, WEFT_FRAME_WRITE, 0x2000, 8, 2 }, { 3, WEFT_FRAME_WRITE, 0xffffffff, 4, 1 },
		{ 3, WEFT_FRAME_WRITE, 0xffe, 8, 2 }, { 3, WEFT_FRAME_WRITE, 0x2ffe, 8, 2 }, { 3, WEFT_FRAME_MSG, 0, 513, 8 }, { 0, WEFT_FRAME_READ, 0x1000, 4, 0 },
	};
	struct orders o = { .n = 0 };

	for (int pieces = 0; pieces < 2; pieces++) {
		o.n = 0;
		put_number(&o, pieces, 1);
		put_number(&o, 3, 1);
		for (size_t i = 0; i < sizeof(frames) / sizeof(frames[0]); i++) {
			put_number(&o, frames[i].flags, 1);
			put_number(&o, 0, 1);
			put_number(&o, frames[i].type, 1);
			put_number(&o, i + 1, 2);
			put_number(&o, frames[i].addr, 4);
			put_number(&o, frames[i].len, 4);
			put_number(&o, frames[i].words, 1);
			put_bytes(&o, "0123456789abcdef0123456789abcdef", 4 * frames[i].words);
			seed("link", pieces ? "bytes" : "frames", -1, o.p, o.n);
		}
	}
}

/* Each message that the firmware knows, with words enough and too few; a job. */
static void seed_messages(void)
{
	struct orders o = { .n = 0 };

	for (unsigned type = 1; type <= WEFT_MSG_RELEASE; type++) {
		if (type == WEFT_MSG_REBOOT)
			continue;
		o.n = 0;
		for (unsigned n = 0; n < 12; n += n < 3 ? 1 : 4) {
			put_number(&o, n, 1);
			put_number(&o, type, 1);
			for (unsigned i = 0; i < n; i++)
				put_number(&o, i == 1 ? 64 : i, 4);
		}
		const char *name = weft_msg_type_name(type);
		if (name)
			seed("message", name, -1, o.p, o.n);
	}
	o.n = 0;
	put_bytes(&o, "\0\x10", 2);
	seed("message", "reboot", -1, o.p, o.n);
}

/* Copies from the constants to the arena, and within the arena. */
static void seed_copies(void)
{
	struct card_stream s;

	for (int from = 1; from <= 2; from++) {
		stream_copy(&s, from, 64, 2, 4096, 512);
		seed("rtl", from == 1 ? "constants" : "arena", -1, (const uint8_t *)s.words, 8 * s.n);
	}
}

static void seed_pictures(void)
{
	uint8_t pixels[8 * 8 * 3], png[4096];

	for (size_t i = 0; i < sizeof pixels; i++)
		pixels[i] = (uint8_t)(i * 7);
	for (int colours = 1; colours <= 3; colours += 2) {
		png_image image = { .version = PNG_IMAGE_VERSION, .width = 8, .height = 8, .format = colours == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB };
		png_alloc_size_t n = sizeof png;
		struct jpeg_compress_struct c;
		struct jpeg_error_mgr e;
		unsigned long n_jpeg = 0;
		uint8_t *jpeg = NULL;

		if (!png_image_write_to_memory(&image, png, &n, 0, pixels, 0, NULL))
			exit(1);
		seed("image", colours == 1 ? "grey.png" : "rgb.png", -1, png, n);
		c.err = jpeg_std_error(&e);
		jpeg_create_compress(&c);
		jpeg_mem_dest(&c, &jpeg, &n_jpeg);
		c.image_width = c.image_height = 8;
		c.input_components = colours;
		c.in_color_space = colours == 1 ? JCS_GRAYSCALE : JCS_RGB;
		jpeg_set_defaults(&c);
		jpeg_start_compress(&c, TRUE);
		for (int y = 0; y < 8; y++)
			jpeg_write_scanlines(&c, (JSAMPROW[]){ pixels + y * 8 * colours }, 1);
		jpeg_finish_compress(&c);
		jpeg_destroy_compress(&c);
		seed("image", colours == 1 ? "grey.jpg" : "rgb.jpg", -1, jpeg, n_jpeg);
		free(jpeg);
	}
}

static void seed_capture(void)
{
	uint8_t bytes[64] = { 1, 2, 3 };
	struct weft_capture c = { .device = "rtl", .config = "w16", .tensor = "t", .program = bytes, .n_program = 16, .before = bytes,
	                          .after = bytes, .n_arena = 64, .consts = bytes, .n_consts = 32 };
	char path[512], msg[WEFT_MSG_LEN];

	snprintf(path, sizeof path, "%s/wcap", seeds);
	mkdir(path, 0777);
	snprintf(path, sizeof path, "%s/wcap/small.wcap", seeds);
	if (weft_capture_write(path, &c, msg))
		exit(1);
}

/* Choices of graph_fuzz.c: a whole graph of each type, and small ones of each configuration, whose other choices come from the seed. */
static void seed_graphs(void)
{
	static const char *const names[] = { "int8", "int16", "float8", "alu" };
	static const uint8_t first[] = { 0, 1, 2, 4 };
	char name[32];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		uint8_t bytes[9] = { 1, 0, 0, 0, 0, 0, 0, 0, 0xff };
		seed("graph", names[i], first[i], bytes, sizeof(bytes));
		for (uint8_t config = 0; config < 8; config++) {
			bytes[8] = config;
			snprintf(name, sizeof(name), "small_%s.%u", names[i], config);
			seed("graph", name, first[i], bytes, sizeof(bytes));
		}
	}
}

static int write_seeds(const char *dir)
{
	static const char *const models[] = { "tests/models/digits_int8.tflite", "tests/models/digits_qdq.onnx", "tests/models/digits_fp8.tosa" };
	static const char *const targets[] = { "tflite", "onnx", "tosa" };

	seeds = dir;
	mkdir(dir, 0777);
	for (size_t i = 0; i < 3; i++) {
		seed_file(targets[i], models[i], -1);
		seed_program(models[i], false);
		seed_program(models[i], true);
	}
	seed_file("onnx", "tests/models/digits_qlinear.onnx", -1);
	seed_graphs();
	seed_float();
	seed_arrays();
	seed_hosts();
	seed_broker();
	seed_link();
	seed_messages();
	seed_copies();
	seed_pictures();
	seed_capture();
	return 0;
}

/* A seed whose name may hold a slash. */
static void seed_recorded(const char *target, const char *name, const uint8_t *p, size_t n)
{
	char plain[64];

	snprintf(plain, sizeof plain, "%.60s", name);
	for (char *c = plain; *c; c++)
		if (*c == '/' || *c == ' ')
			*c = '_';
	seed(target, plain, -1, p, n);
}

int main(int argc, char **argv)
{
#define ENTRY(name) cmocka_unit_test(test_##name),
	const struct CMUnitTest tests[] = { TARGETS(ENTRY) };

	if (argc == 3 && !strcmp(argv[1], "--seeds"))
		return write_seeds(argv[2]);
	if (argc == 3 && !strcmp(argv[1], "--recorded")) {
		seeds = argv[2];
		mkdir(seeds, 0777);
		recorded_seeds(seed_recorded);
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
