/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The compiler's estimate against the RTL's cycles, for the networks of
 * `make bench` in both memory profiles (the large ones only at test-full, but for
 * MobileNetV2 in ddr): within 10 % a network and 25 % an operator of at least 500
 * cycles. Cycles repeat exactly, so a difference is a change of the one or the other.
 * Of all operators together they are the network's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <inttypes.h>
#include <sys/stat.h>
#include <weft/weft.h>

#include "../support/file.h"
#include "../support/level.h"

#define LEAST_CYCLES 500

static uint64_t off_by(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

static void compare(const char *path, const char *memory, const struct weft_report *r)
{
	const char *model = strrchr(path, '/') + 1;
	uint64_t cycles = 0, estimate = 0;
	int bad = 0, n = 0;

	for (int i = 0; i < r->n_ops; i++) {
		const struct weft_op_report *o = &r->ops[i];
		cycles += o->cycles;
		estimate += o->estimate;
		n += o->cycles >= LEAST_CYCLES;
		if (o->cycles < LEAST_CYCLES || 4 * off_by(o->cycles, o->estimate) <= o->cycles)
			continue;
		printf("%s, %s: operator %d, %s, takes %" PRIu64 " cycles, estimate %" PRIu64 "\n", model, memory, o->index, o->op,
		       o->cycles, o->estimate);
		bad++;
	}
	printf("%s, %s: %" PRIu64 " cycles, estimate %" PRIu64 "; %d operators\n", model, memory, r->cycles, r->estimate, n);
	assert_true(n > 0);
	assert_int_equal(bad, 0);
	assert_true(cycles == r->cycles && estimate == r->estimate);
	assert_true(10 * off_by(r->cycles, r->estimate) <= r->cycles);
}

static void run(const char *path, enum weft_memory memory)
{
	struct weft_session_options o = weft_session_options_default();
	struct weft_load_options load = weft_load_options_default();
	char msg[WEFT_MSG_LEN] = "";
	struct weft_report *r = NULL;
	weft_net *net;
	weft_session *s;

	load.backbone = true;
	if (weft_net_load_file_with(path, &load, &net, msg))
		fail_msg("%s", msg);
	o.device = WEFT_DEVICE_RTL;
	o.memory = memory;
	if (weft_session_open(net, &o, &s, msg))
		fail_msg("%s: %s", path, msg);
	int n_in = weft_net_n_inputs(net), n_out = weft_net_n_outputs(net);
	weft_tensor *in = calloc((size_t)n_in, sizeof(*in)), *out = calloc((size_t)n_out, sizeof(*out));
	for (int i = 0; i < n_in; i++) {
		struct weft_port p;
		weft_net_input(net, i, &p);
		in[i].dtype = p.dtype;
		in[i].rank = p.rank;
		memcpy(in[i].dim, p.dim, sizeof(in[i].dim));
		in[i].data = calloc(1, weft_tensor_bytes(&in[i]));
	}
	if (weft_session_run(s, in, out, &r, msg))
		fail_msg("%s: %s", path, msg);
	compare(path, memory == WEFT_MEMORY_SRAM ? "sram" : "ddr", r);
	for (int i = 0; i < n_in; i++)
		weft_tensor_release(&in[i]);
	for (int i = 0; i < n_out; i++)
		weft_tensor_release(&out[i]);
	free(in);
	free(out);
	weft_report_free(r);
	weft_session_close(s);
	weft_net_free(net);
}

static void all(const char *dir, const char *const *files, bool sram)
{
	struct stat st;
	char path[4096];
	int found = 0;

	for (; *files; files++) {
		snprintf(path, sizeof(path), "%s/%s", dir, *files);
		if (stat(path, &st))
			continue;
		found++;
		if (sram)
			run(path, WEFT_MEMORY_SRAM);
		run(path, WEFT_MEMORY_DDR);
	}
	if (!found) {
		printf("no network of %s is there\n", dir);
		skip();
	}
}

static void own(void **state)
{
	(void)state;
	if (!test_have_rtl("w16"))
		skip();
	all("tests/models", (const char *const[]){ "digits_int8.tflite", NULL }, true);
}

static void small(void **state)
{
	(void)state;
	if (!test_have_rtl("w16"))
		skip();
	all(test_data(), (const char *const[]){ "mlperf_tiny/kws_ref_model.tflite", "mlperf_tiny/vww_96_int8.tflite",
		"mlperf_tiny/pretrainedResnet_quant.tflite", "mlperf_tiny/ad01_int8.tflite", "tflite_micro/person_detect.tflite",
		"tflite_micro/micro_speech_quantized.tflite", "tflite_micro/keyword_scrambled.tflite",
		"tflite_micro/trained_lstm_int8.tflite", "silabs_mltk/autoencoder_example.tflite",
		"silabs_mltk/image_example1.tflite", "silabs_mltk/keyword_spotting_mobilenetv2.tflite",
		"silabs_mltk/keyword_spotting_on_off.tflite", "silabs_mltk/tflite_micro_magic_wand.tflite",
		"tinyengine/vww.tflite", "nxp_eiq/yolo_face_detect.tflite",
		"coral_test_data/mobilenet_v1_0.25_128_quant.tflite", NULL }, true);
}

static void large(void **state)
{
	(void)state;
	if (!test_have_rtl("w16"))
		skip();
	all(test_data(), (const char *const[]){ "hapv3/mobilenet_v2_224_int8.tflite", NULL }, test_level() == 2);
	if (test_level() == 2)
		all(test_data(), (const char *const[]){ "coral_test_data/mobilenet_v1_0.5_160_quant.tflite",
			"coral_test_data/mobilenet_v2_1.0_224_quant.tflite",
			"coral_test_data/movenet_single_pose_lightning_ptq.tflite",
			"coral_test_data/deeplabv3_mnv2_dm05_pascal_quant.tflite",
			"coral_test_data/posenet_mobilenet_v1_075_353_481_16_quant_decoder.tflite", NULL }, true);
}

static void standard(void **state)
{
	char command[4096], dir[4000];

	(void)state;
	if (test_level() < 2) {
		printf("the standard shapes take minutes: make test-full\n");
		skip();
	}
	if (!test_have_rtl("w16"))
		skip();
	snprintf(dir, sizeof(dir), "%s/nets", test_env("WEFT_BUILD", "build"));
	snprintf(command, sizeof(command), "python3 tools/train/standard_nets.py %s", dir);
	assert_int_equal(system(command), 0);
	all(dir, (const char *const[]){ "mobilenet_v1_1.0_224_int8.tflite", "resnet50_v1.5_224_int8.tflite", NULL }, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(own), cmocka_unit_test(small), cmocka_unit_test(large), cmocka_unit_test(standard),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
