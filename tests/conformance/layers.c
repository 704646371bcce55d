/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TFLite networks through importer and golden: outputs bit for bit as stored,
 * and every source operator's result by the CRC-32 that independent code gave.
 * Reads tflm_expected of the foreign data; one test per network.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "tests/support/each_file.h"
#include "tests/support/file.h"
#include "userlib/import/tflite/tflite.h"
#include "userlib/run/golden_exec.h"

static void *load(const char *path, size_t *n)
{
	void *p = test_file(path, n);

	if (!p)
		fail_msg("%s: cannot open", path);
	return p;
}

struct network {
	char dir[512], id[256];    /* id: "set/model" */
	cJSON *io;
	weft_graph *g;
	weft_tensor *inputs, *all;
};

/* Element i's file in io[list], which must have as many bytes as t. */
static void *load_port(const struct network *n, const char *list, int i, const weft_tensor *t)
{
	cJSON *port = cJSON_GetArrayItem(cJSON_GetObjectItem(n->io, list), i);
	char path[1024];
	size_t bytes;

	assert_non_null(port);
	snprintf(path, sizeof path, "%s/%s", n->dir, cJSON_GetObjectItem(port, "file")->valuestring);
	void *p = load(path, &bytes);
	assert_int_equal(bytes, weft_tensor_bytes(t));
	return p;
}

static void import(struct network *n)
{
	char path[1024], msg[WEFT_MSG] = "";
	size_t bytes;

	snprintf(path, sizeof path, "%s/%s", test_data(), cJSON_GetObjectItem(n->io, "model")->valuestring);
	void *file = load(path, &bytes);
	const struct weft_tflite_options o = { .runtime = WEFT_RUNTIME_TFLM };    /* whose outputs are stored */
	if (weft_import_tflite_with(file, bytes, n->id, &o, &n->g, msg))
		fail_msg("%s: %s", n->id, msg);
	free(file);
}

static void check_outputs(const struct network *n)
{
	for (int i = 0; i < n->g->n_outputs; i++) {
		const weft_tensor *t = &n->all[n->g->outputs[i]];
		uint8_t *want = load_port(n, "outputs", i, t);
		const uint8_t *got = t->data;
		for (size_t k = 0; k < weft_tensor_bytes(t); k++)
			if (got[k] != want[k])
				fail_msg("%s: output %d byte %zu: expected %02x, got %02x", n->id, i, k, want[k], got[k]);
		free(want);
	}
}

/* The result of the file's operator `index`, or NULL. */
static const weft_tensor *result_of(const struct network *n, int index)
{
	for (int i = 0; i < n->g->n_srcs; i++)
		if (n->g->srcs[i].index == index)
			return &n->all[n->g->srcs[i].out];
	return NULL;
}

/* layer_crc.tsv: model, operator index, operator, shape, CRC-32, distinct values. */
static void check_layers(const struct network *n)
{
	char path[1024], model[300];
	size_t bytes;
	int checked = 0;

	snprintf(path, sizeof path, "%s/tflm_expected/layer_crc.tsv", test_data());
	char *text = load(path, &bytes), *save = NULL;
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char id[256], op[64], shape[64];
		unsigned crc;
		int index;
		if (sscanf(line, "%255s %d %63s %63s %x", id, &index, op, shape, &crc) != 5)
			continue;
		snprintf(model, sizeof model, "%s.tflite", n->id);
		if (strcmp(model, id))
			continue;
		const weft_tensor *t = result_of(n, index);
		if (!t)
			fail_msg("%s: operator %d %s has no result", n->id, index, op);
		unsigned got = (unsigned)crc32(0, t->data, (uInt)weft_tensor_bytes(t));
		if (got != crc)
			fail_msg("%s: operator %d %s %s: CRC-32 %08x, expected %08x", n->id, index, op, shape, got, crc);
		checked++;
	}
	free(text);
	print_message("%s: %d layers\n", n->id, checked);
	/* Those two have no stored layers, only outputs. */
	if (strcmp(n->id, "tflite_micro/keyword_scrambled") && strcmp(n->id, "tflite_micro/trained_lstm_int8"))
		assert_true(checked > 0);
}

static void network(void **state)
{
	struct network n = { .g = NULL };
	char path[1024], msg[WEFT_MSG] = "";
	size_t bytes;

	snprintf(n.dir, sizeof n.dir, "%s", (const char *)*state);
	*strrchr(n.dir, '/') = '\0';
	snprintf(n.id, sizeof n.id, "%s", strstr(n.dir, "tflm_expected/") + strlen("tflm_expected/"));
	snprintf(path, sizeof path, "%s/io.json", n.dir);
	char *text = load(path, &bytes);
	n.io = cJSON_Parse(text);
	free(text);
	assert_non_null(n.io);
	import(&n);

	n.inputs = calloc((size_t)n.g->n_inputs, sizeof *n.inputs);
	n.all = calloc((size_t)n.g->n_tensors, sizeof *n.all);
	assert_non_null(n.inputs);
	assert_non_null(n.all);
	for (int i = 0; i < n.g->n_inputs; i++) {
		n.inputs[i] = n.g->tensors[n.g->inputs[i]].t;
		n.inputs[i].data = load_port(&n, "inputs", i, &n.inputs[i]);
	}
	if (weft_golden_exec(n.g, n.inputs, n.all, true, msg))
		fail_msg("%s: %s", n.id, msg);
	check_layers(&n);
	check_outputs(&n);

	weft_golden_release(n.g, n.all);
	for (int i = 0; i < n.g->n_inputs; i++)
		free(n.inputs[i].data);
	free(n.inputs);
	free(n.all);
	weft_graph_free(n.g);
	cJSON_Delete(n.io);
}

int main(void)
{
	return test_each_file("layers", "tflm_expected/*/*/io.json", network, NULL);
}
