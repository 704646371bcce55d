/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Networks: loading, looking at the edges, saving compiled.
 */
#include "userlib/run/internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "driver/verify/verify.h"
#include "userlib/export/tosa.h"
#include "userlib/import/onnx/onnx.h"
#include "userlib/import/tflite/tflite.h"
#include "userlib/graph/custom.h"
#include "userlib/graph/level.h"
#include "userlib/import/tosa/tosa.h"
#include "userlib/files/file_out.h"
#include <weft/file.h>
#include "weft/gen/cmd.h"

#define FILE_MAX ((uint64_t)1 << 31)

struct weft_load_options weft_load_options_default(void)
{
	return (struct weft_load_options){ 0 };
}

/*
 * Says whether a file is taken for .tflite: by its identifier, or, since that may be damaged, by its
 * name's ending. dot points to the ending with its dot, or is NULL.
 */
static bool is_tflite(const uint8_t *data, size_t len, const char *dot)
{
	return (len >= 8 && !memcmp(data + 4, "TFL3", 4)) || (dot && !strcasecmp(dot, ".tflite"));
}

/*
 * Says whether a file is taken for .onnx: by its contents, or, unless it is empty, by its name's
 * ending. dot points to the ending with its dot, or is NULL.
 */
static bool is_onnx(const void *data, size_t len, const char *dot)
{
	return weft_onnx_is(data, len) || (len && dot && !strcasecmp(dot, ".onnx"));
}

/* Returns how the options say that sums become codes, in one name or in three fields; ANY if they say nothing. */
static enum weft_requant wanted_requant(const struct weft_load_options *o)
{
	if (o->requant != WEFT_REQUANT_ANY)
		return o->requant;
	if (o->requant_rescale)
		return WEFT_REQUANT_RESCALE;
	if (!o->requant_runtime)
		return WEFT_REQUANT_ANY;
	return o->requant_avx2 ? WEFT_REQUANT_RUNTIME_AVX2 : WEFT_REQUANT_RUNTIME;
}

/*
 * Imports a .tflite or .onnx file into *g, told apart by content and the ending of `name`, with the options'
 * values for open dimensions (bound); of a .tflite file also with signature, backbone, runtime and the functions
 * of custom operators; of an .onnx file with the way in which sums become 8 bits (wanted_requant()), the folder
 * of external data, and known inputs (given). Returns 0 with the graph, which the
 * caller frees, or a negative errno with one line in msg: -EINVAL for an empty file, one of another format, or a
 * signature for what is no .tflite; -ENOMEM; or as the importers.
 */
static int import_open(const void *data, size_t len, const char *name, const struct weft_load_options *o, weft_graph **g, char *msg)
{
	const char *dot = strrchr(name, '.');
	const bool tflite = is_tflite(data, len, dot);

	if (!tflite && o->signature) {
		snprintf(msg, WEFT_MSG_LEN, "signature \"%.60s\": only .tflite files have signatures", o->signature);
		return -EINVAL;
	}

	if (!tflite && !is_onnx(data, len, dot)) {
		snprintf(msg, WEFT_MSG_LEN, len ? "not a .tflite, .tosa, .onnx or .weft file" : "the file is empty");
		return -EINVAL;
	}
	struct weft_import_bound *bound = calloc((size_t)(o->n_bound + o->n_given) + 1, sizeof(*bound));
	struct weft_import_bound *given = bound ? bound + o->n_bound : NULL;
	const enum weft_requant r = wanted_requant(o);
	struct weft_onnx_options x = {
		.requant = r == WEFT_REQUANT_RESCALE ? WEFT_ONNX_REQUANT_RESCALE
		           : r == WEFT_REQUANT_RUNTIME || r == WEFT_REQUANT_RUNTIME_AVX2 ? WEFT_ONNX_REQUANT_RUNTIME : WEFT_ONNX_REQUANT_EXACT,
		.saturate = r == WEFT_REQUANT_RUNTIME_AVX2, .folder = o->folder, .bound = bound, .n_bound = o->n_bound, .given = given, .n_given = o->n_given,
	};
	struct weft_tflite_options t = { .backbone = o->backbone, .runtime = o->runtime, .bound = bound, .n_bound = o->n_bound,
	                                 .signature = o->signature, .custom = o->custom };

	if (!bound) {
		snprintf(msg, WEFT_MSG_LEN, "out of memory");
		return -ENOMEM;
	}
	for (int i = 0; i < o->n_bound; i++)
		bound[i] = (struct weft_import_bound){ o->bound[i].name, &o->bound[i].value };
	for (int i = 0; i < o->n_given; i++)
		given[i] = (struct weft_import_bound){ o->given[i].name, &o->given[i].value };
	int err = tflite ? weft_import_tflite_with(data, len, name, &t, g, msg) : weft_import_onnx(data, len, name, &x, g, msg);
	free(bound);
	return err;
}

/*
 * Checks that n's loaded program gives the results of the options' runtime, and has their arithmetic of sums. Returns 0;
 * otherwise frees the program, sets n->loaded to NULL (n->g then points to nothing), and returns
 * -EINVAL with one line in msg.
 */
static int check_program(weft_net *n, const struct weft_load_options *o, char *msg)
{
	if (weft_runtime_fits(n->g->runtime, o->runtime, msg) && weft_requant_fits(n->g->requant, wanted_requant(o), msg))
		return 0;
	weft_program_free(n->loaded);
	n->loaded = NULL;
	return -EINVAL;
}

/*
 * Reads a network of any format into n: a .weft program into n->loaded, a .tosa, .tflite or .onnx file into
 * n->graph; n->g becomes the graph. For .tflite and .onnx see import_open(). A .weft program and a .tosa file
 * get the functions of custom operators (o->custom); the program's runtime and requant have to fit o; values for
 * open dimensions (o->n_bound) and a signature are refused with -EINVAL; and no other option matters for them.
 * Returns 0 or a negative errno with one line in msg; n then owns nothing, and its pointers may be stale.
 */
static int import(const void *data, size_t len, const char *name, const struct weft_load_options *o, weft_net *n, char *msg)
{
	if (o->n_bound && (weft_program_is(data, len) || weft_tosa_is(data, len))) {
		snprintf(msg, WEFT_MSG_LEN, "a %s file leaves no shape open; --bind is for .onnx and .tflite",
		         weft_program_is(data, len) ? ".weft" : ".tosa");
		return -EINVAL;
	}
	if (o->signature && (weft_program_is(data, len) || weft_tosa_is(data, len))) {
		snprintf(msg, WEFT_MSG_LEN, "signature \"%.60s\": only .tflite files have signatures", o->signature);
		return -EINVAL;
	}
	if (weft_program_is(data, len)) {
		int err = weft_program_parse(data, len, &n->loaded, msg);
		n->g = err ? NULL : n->loaded->graph;
		err = err ? err : weft_graph_give_customs(n->loaded->own_graph, o->custom, msg);
		if (err) {
			weft_program_free(n->loaded);
			n->loaded = NULL;
		}
		return err ? err : check_program(n, o, msg);
	}
	if (weft_tosa_is(data, len)) {
		int err = weft_import_tosa(data, len, name, &n->graph, msg);
		err = err ? err : weft_graph_give_customs(n->graph, o->custom, msg);
		n->g = n->graph;
		if (err)
			weft_graph_free(n->graph);
		return err;
	}
	int err = import_open(data, len, name, o, &n->graph, msg);
	n->g = n->graph;
	return err;
}

int weft_net_load(const void *data, size_t len_bytes, const char *name, weft_net **net, char msg WEFT_ROOM(WEFT_MSG_LEN))
{
	return weft_net_load_with(data, len_bytes, name, NULL, net, msg);
}

/*
 * Loads a network from a file of len_bytes bytes in memory, which may go afterwards, with options o
 * (NULL: the defaults), and checks TOSA's level 8K if o->level_8k is set. name is the file's name, for
 * messages and to tell formats apart by its ending. Returns 0 with the network in *net, which
 * weft_net_free() frees; otherwise a negative errno with one line in msg, and *net untouched: -EINVAL
 * (a bad file, another format or runtime, beyond the level), -ENOTSUP (an operator), -ENOMEM.
 */
int weft_net_load_with(const void *data, size_t len_bytes, const char *name, const struct weft_load_options *o,
                       weft_net **net, char msg WEFT_ROOM(WEFT_MSG_LEN))
{
	const struct weft_load_options none = { 0 };
	weft_net *n = calloc(1, sizeof(*n));

	if (!n) {
		snprintf(msg, WEFT_MSG_LEN, "%s: out of memory", name);
		return -ENOMEM;
	}
	int err = import(data, len_bytes, name, o ? o : &none, n, msg);
	if (!err && o && o->level_8k && (err = weft_graph_check_8k(n->g, msg))) {
		weft_one_line(msg, WEFT_MSG_LEN);
		weft_net_free(n);
		return err;
	}
	if (err) {
		weft_one_line(msg, WEFT_MSG_LEN);
		free(n);
		return err;
	}
	n->no_compress = o && o->no_compress;
	*net = n;
	return 0;
}

int weft_net_load_file(const char *path, weft_net **net, char msg WEFT_ROOM(WEFT_MSG_LEN))
{
	return weft_net_load_file_with(path, NULL, net, msg);
}

/*
 * Reads the file at path, of at most FILE_MAX bytes, and loads it as weft_net_load_with() does under
 * its name without the folder; if the options (NULL: the defaults) name no folder, external data of an
 * .onnx file is looked for in the file's own. Returns 0 with the network in *net, or a negative errno
 * of reading or loading, with the path and the reason in msg and *net untouched.
 */
int weft_net_load_file_with(const char *path, const struct weft_load_options *given, weft_net **net, char msg WEFT_ROOM(WEFT_MSG_LEN))
{
	struct weft_load_options o = given ? *given : weft_load_options_default();
	const char *slash = strrchr(path, '/');
	char folder[4096];
	char why[WEFT_MSG_LEN] = "";
	uint8_t *data;
	size_t len;
	int err = weft_file_read(path, FILE_MAX, &data, &len);

	if (err) {
		snprintf(msg, WEFT_MSG_LEN, "%.150s: %s", path, weft_file_error(err));
		weft_one_line(msg, WEFT_MSG_LEN);
		return err;
	}
	snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
	if (!o.folder)
		o.folder = folder;
	err = weft_net_load_with(data, len, slash ? slash + 1 : path, &o, net, why);
	free(data);
	if (err) {
		snprintf(msg, WEFT_MSG_LEN, "%.100s: %.150s", path, why);
		weft_one_line(msg, WEFT_MSG_LEN);
	}
	return err;
}

/* Frees a network; NULL is fine. Its sessions must have been closed before. */
void weft_net_free(weft_net *net)
{
	if (!net)
		return;
	weft_program_free(net->loaded);
	weft_graph_free(net->graph);
	free(net);
}

enum weft_runtime weft_net_runtime(const weft_net *net)
{
	return net->g->runtime;
}

bool weft_runtime_fits(enum weft_runtime is, enum weft_runtime want, char *msg)
{
	if (want == WEFT_RUNTIME_ANY || is == WEFT_RUNTIME_ANY || is == want)
		return true;
	snprintf(msg, WEFT_MSG_LEN, "the network gives the bits of %s, not of %s; import the model again with --runtime %s",
	         weft_runtime_name(is), weft_runtime_name(want), weft_runtime_name(want));
	return false;
}

enum weft_requant weft_net_requant(const weft_net *net)
{
	return net->g->requant;
}

bool weft_requant_fits(enum weft_requant is, enum weft_requant want, char *msg)
{
	if (want == WEFT_REQUANT_ANY || is == WEFT_REQUANT_ANY || is == want)
		return true;
	snprintf(msg, WEFT_MSG_LEN, "the network was imported with --requant %s, not %s; import the model again with --requant %s",
	         weft_requant_name(is), weft_requant_name(want), weft_requant_name(want));
	return false;
}

int weft_net_n_inputs(const weft_net *net)
{
	return net->g->n_inputs;
}

int weft_net_n_outputs(const weft_net *net)
{
	return net->g->n_outputs;
}

int weft_net_n_ops(const weft_net *net)
{
	return net->g->n_ops;
}

weft_opcode weft_net_op(const weft_net *net, int i)
{
	return i < 0 || i >= net->g->n_ops ? WEFT_OP_NONE : net->g->ops[i].op;
}

/*
 * Describes entry i of list[], the n tensor indices of a network's inputs or outputs, in *p: name (the
 * graph's), type, shape, quantisation. Returns 0, or -ERANGE with *p untouched if there is no such
 * entry.
 */
static int port(const weft_net *net, const int *list, int n, int i, struct weft_port *p)
{
	if (i < 0 || i >= n)
		return -ERANGE;
	const struct weft_gtensor *t = &net->g->tensors[list[i]];
	*p = (struct weft_port){ .name = t->name, .dtype = t->t.dtype, .rank = t->t.rank,
		.quantised = t->q.present, .scale = t->q.scale, .zp = t->q.zp };
	memcpy(p->dim, t->t.dim, sizeof(p->dim));
	return 0;
}

int weft_net_input(const weft_net *net, int i, struct weft_port *p)
{
	return port(net, net->g->inputs, net->g->n_inputs, i, p);
}

int weft_net_output(const weft_net *net, int i, struct weft_port *p)
{
	return port(net, net->g->outputs, net->g->n_outputs, i, p);
}

/*
 * Finds the network's program for a configuration (NULL: the loaded one's, or else the compiler's
 * default): the program that was loaded if it is for this configuration, and then *own becomes NULL;
 * otherwise one compiled now, which is also *own and the caller's to free. Returns 0 with the program
 * in *p, or a negative errno with one line in msg and nothing to free.
 */
static int program(const weft_net *net, const char *config, const weft_program **p, weft_program **own, char *msg)
{
	struct weft_compile_options o = { .config = config, .no_compress = net->no_compress };

	*own = NULL;
	if (net->loaded && (!config || !strcmp(net->loaded->config, config))) {
		*p = net->loaded;
		return 0;
	}
	int err = weft_compile(net->g, &o, own, msg);
	*p = *own;
	return err;
}

/*
 * Lets the static verifier check the stream of every NPU step of a program, with its constants (read)
 * and arena (read and write) as windows, against the features of the functional model. Returns 0, or
 * the verifier's negative errno with the first bad step and the rule in msg.
 */
static int verify_steps(const weft_program *p, char *msg)
{
	/* The model has all features; a device that lacks one refuses the stream itself. */
	const struct weft_config *cfg = weft_config_of_model(p->config);
	struct weft_verify_result r;

	for (int i = 0; i < p->n_steps; i++) {
		const struct weft_step *s = &p->steps[i];
		struct weft_verify_windows w = { 0 };
		if (s->kind != WEFT_STEP_NPU)
			continue;
		w.w[WEFT_WIN_STREAM].size = (uint64_t)s->n_words * 8;
		w.w[WEFT_WIN_STREAM].rd = true;
		w.w[WEFT_WIN_CONST].size = p->n_consts;
		w.w[WEFT_WIN_CONST].rd = true;
		w.w[WEFT_WIN_ARENA].size = p->arena_bytes;
		w.w[WEFT_WIN_ARENA].rd = w.w[WEFT_WIN_ARENA].wr = true;
		int err = weft_verify(cfg, p->words + s->first_word, s->n_words, &w, &r);
		if (err) {
			snprintf(msg, WEFT_MSG_LEN, "step %d: %.220s", i, r.text);
			return err;
		}
	}
	return 0;
}

int weft_net_save(const weft_net *net, const char *config, uint8_t **out, size_t *len_bytes, char msg WEFT_ROOM(WEFT_MSG_LEN))
{
	const weft_program *p;
	weft_program *own;
	int err = program(net, config, &p, &own, msg);

	if (!err)
		err = verify_steps(p, msg);
	if (!err)
		err = weft_program_write(p, out, len_bytes, msg);
	weft_program_free(own);
	return err;
}

/* Puts bytes of a container into the file of user, a struct weft_file_out. Returns 0 or a negative errno. */
static int put_file(void *user, uint64_t at, const void *bytes, size_t n)
{
	return weft_file_put(user, at, bytes, n);
}

/*
 * Writes a program as a .weft file to path: to a temporary file that takes the path's place, a piece at a time, or if
 * a device or a pipe has that path, to that, from memory. Returns 0, or a negative errno; then msg has the
 * program's fault, or is "" where the file could not be written.
 */
static int write_program(const weft_program *p, const char *path, char *msg)
{
	struct weft_file_out o;
	uint8_t *whole;
	size_t n;
	int err = weft_file_create(path, &o);

	msg[0] = '\0';
	if (err)
		return err;
	if (o.part)
		return weft_file_finish(&o, weft_program_write_to(p, &(struct weft_program_out){ .put = put_file, .user = &o }, msg));
	err = weft_program_write(p, &whole, &n, msg);
	if (!err) {
		err = weft_file_put(&o, 0, whole, n);
		free(whole);
	}
	return weft_file_finish(&o, err);
}

int weft_net_save_file(const weft_net *net, const char *config, const char *path, char msg WEFT_ROOM(WEFT_MSG_LEN))
{
	const weft_program *p;
	weft_program *own;
	int err = program(net, config, &p, &own, msg);

	if (!err)
		err = verify_steps(p, msg);
	if (!err && (err = write_program(p, path, msg)) && !msg[0]) {
		snprintf(msg, WEFT_MSG_LEN, "%.150s: %s", path, weft_file_error(err));
		weft_one_line(msg, WEFT_MSG_LEN);
	}
	weft_program_free(own);
	return err;
}

int weft_net_convert(const weft_net *net, bool strict, uint8_t **out, size_t *len_bytes, char note WEFT_ROOM(WEFT_MSG_LEN), char msg WEFT_ROOM(WEFT_MSG_LEN))
{
	int n_custom;

	return weft_export_tosa(net->g, strict, out, len_bytes, &n_custom, note, msg);
}

/* ---- streams as text ---- */

/*
 * Prints the program to f step by step: of a host step operator and result, of an NPU step the numbers
 * of commands and words and each command, counted through all streams. A stream that cannot be decoded
 * ends with the fault instead of its other commands.
 */
static void print_steps(FILE *f, const weft_program *p)
{
	char line[2048];
	struct weft_cmd c;

	for (int i = 0; i < p->n_steps; i++) {
		const struct weft_step *s = &p->steps[i];
		if (s->kind == WEFT_STEP_HOST) {
			const struct weft_gop *op = &p->graph->ops[s->op];
			snprintf(line, sizeof(line), "%s", p->graph->tensors[op->out[0]].name);
			weft_one_line(line, sizeof(line));
			fprintf(f, "step %d host: %s -> %s\n", i, weft_op_name(op->op), line);
			continue;
		}
		fprintf(f, "step %d npu: %u commands, %u words\n", i, s->n_cmds, s->n_words);
		const uint64_t *w = p->words + s->first_word;
		size_t at = 0;
		for (uint32_t k = 0; k < s->n_cmds && at < s->n_words; k++) {
			int code = weft_cmd_decode(w + at, s->n_words - at, &c);
			if (code) {
				fprintf(f, "%6u  %s\n", s->first_cmd + k, weft_fault_brief((unsigned)code));
				break;
			}
			weft_cmd_print(&c, line, sizeof(line));
			fprintf(f, "%6u  %s\n", s->first_cmd + k, line);
			at += (size_t)c.h.n_words;
		}
	}
}

int weft_net_disassemble(const weft_net *net, const char *config, char **text, char msg WEFT_ROOM(WEFT_MSG_LEN))
{
	const weft_program *p;
	weft_program *own;
	size_t len;
	int err = program(net, config, &p, &own, msg);

	if (err)
		return err;
	FILE *f = open_memstream(text, &len);
	if (f) {
		fprintf(f, "program for %s: %u words, %llu bytes of constants, %llu bytes of arena\n", p->config,
		        p->n_words, (unsigned long long)p->n_consts, (unsigned long long)p->arena_bytes);
		print_steps(f, p);
	}
	if (!f || fclose(f)) {
		snprintf(msg, WEFT_MSG_LEN, "out of memory");
		err = -ENOMEM;
	}
	weft_program_free(own);
	return err;
}

int weft_net_verify(const weft_net *net, const char *config, char msg WEFT_ROOM(WEFT_MSG_LEN))
{
	const weft_program *p;
	weft_program *own;
	int err = program(net, config, &p, &own, msg);

	if (!err)
		err = verify_steps(p, msg);
	weft_program_free(own);
	return err;
}
