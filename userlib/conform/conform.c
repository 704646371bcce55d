/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cjson/cJSON.h>

#include <weft/conform.h>
#include <weft/file.h>
#include "judge.h"
#include <weft/npy.h>

#define PATH 4096
#define MAX_DEPTH 6
#define JSON_MAX (1 << 20)

/* The walk through the folders. */
struct walk {
	const struct weft_conform_options *o;
	int (*seen)(void *user, const struct weft_conform_case *c);   /* the caller's function, called after each test */
	void *user;                /* its first argument */
	size_t root_len;           /* characters of the root's path, with its slash */
	int n;                     /* tests that were run */
	char *msg;                 /* the caller's room of WEFT_MSG_LEN bytes */
};

/* One test that is being run. */
struct test {
	const struct weft_conform_options *o;
	const char *folder;        /* the test's folder */
	cJSON *json;               /* its test.json; NULL if that cannot be read */
	const weft_net *net;       /* its graph, once loaded */
	weft_tensor *in, *out;     /* arrays of n_in inputs and n_out outputs, while it runs */
	int n_in, n_out;
	char why[WEFT_MSG_LEN];    /* why it did not pass, or what refused a broken graph */
	bool npu;                  /* some operator ran on the NPU */
	char host[64];             /* the last operator, constants apart, that ran on the host; "" if there is none */
	char reason[160];          /* why that one ran there */
};

/*
 * Writes "dir/name" to path, which has room for PATH bytes. Returns 0, or -ENAMETOOLONG if it was cut.
 */
static int join(char *path, const char *dir, const char *name)
{
	return (size_t)snprintf(path, PATH, "%s/%s", dir, name) < PATH ? 0 : -ENAMETOOLONG;
}

/* ---- test.json ---- */

/*
 * Returns the string at `key` of a JSON object, valid as long as the object; NULL if there is none or
 * it is no string.
 */
static const char *text(const cJSON *j, const char *key)
{
	const cJSON *v = cJSON_GetObjectItemCaseSensitive(j, key);

	return cJSON_IsString(v) ? v->valuestring : NULL;
}

/* Returns the number at `key` of a JSON object; 0 if there is none or it is no number. */
static double value(const cJSON *j, const char *key)
{
	const cJSON *v = cJSON_GetObjectItemCaseSensitive(j, key);

	return cJSON_IsNumber(v) ? v->valuedouble : 0;
}

/* Returns whether the value at `key` of a JSON object is true or a number other than 0. */
static bool truth(const cJSON *j, const char *key)
{
	const cJSON *v = cJSON_GetObjectItemCaseSensitive(j, key);

	return cJSON_IsTrue(v) || (cJSON_IsNumber(v) && v->valuedouble != 0);
}

/*
 * Returns the parsed test.json of a folder, which the caller frees by cJSON_Delete(); NULL if it is
 * missing, larger than JSON_MAX bytes or broken.
 */
static cJSON *read_json(const char *folder)
{
	char path[PATH];
	uint8_t *data = NULL;
	size_t n;

	if (join(path, folder, "test.json") || weft_file_read(path, JSON_MAX, &data, &n))
		return NULL;
	cJSON *j = cJSON_ParseWithLength((char *)data, n);
	free(data);
	return j;
}

/*
 * Fills *j from a test output's "compare" object, which says how the output is to be judged; numbers
 * that are not there become 0. Returns 0, or -EINVAL if the mode is missing or unknown; *j then has
 * mode EXACT.
 */
static int read_judge(const cJSON *compare, struct weft_judge *j)
{
	const char *mode = text(compare, "mode");
	int m = mode ? weft_judge_mode_of(mode) : -1;

	*j = (struct weft_judge){
		.mode = m < 0 ? WEFT_JUDGE_EXACT : (enum weft_judge_mode)m,
		.ulp = value(compare, "ulp"), .ulp_lower = value(compare, "ulp_lower"),
		.max = value(compare, "max"), .scale = value(compare, "scale"), .ulp_bound = value(compare, "ulp_bound"),
		.n = value(compare, "n"),
		.base_bound = value(compare, "base_bound"), .lower_bound = value(compare, "lower_bound"),
		.normal_divisor = value(compare, "normal_divisor"), .max_compare = value(compare, "max_compare"),
		.bound_as_magnitude = truth(compare, "bound_as_magnitude"),
		.s = value(compare, "s"), .ksb = value(compare, "ksb"), .abs_bound = value(compare, "abs_bound"),
		.variance_error_bound = value(compare, "variance_error_bound"),
		.unsigned_data = truth(compare, "unsigned_data"),
	};
	return m < 0 ? -EINVAL : 0;
}

/*
 * Returns the short form of a type that tables of results use ("INT8": "i8"); "?" if the name is
 * unknown or NULL.
 */
static const char *short_type(const char *t)
{
	static const char *const names[][2] = {
		{ "BOOL", "b" }, { "INT4", "i4" }, { "INT8", "i8" }, { "INT16", "i16" }, { "INT32", "i32" }, { "INT48", "i48" },
		{ "FP16", "f16" }, { "BF16", "bf16" }, { "FP32", "f32" }, { "FP8E4M3", "e4m3" }, { "FP8E5M2", "e5m2" },
		{ "SHAPE", "shape" },
	};

	for (size_t i = 0; t && i < sizeof names / sizeof names[0]; i++)
		if (!strcmp(t, names[i][0]))
			return names[i][1];
	return "?";
}

/*
 * Writes a test's types to s (len bytes) in the short form of tables. Convolutions and MATMUL with at
 * least two types: both operands, "i8xi8". CAST, RESCALE and RESIZE: input and output, "i8>i32".
 * Others, and the former with fewer types: the first type, "i8". A type that is missing or that
 * short_type() does not know is "?".
 */
static void name_types(const cJSON *json, const char *op, char *s, size_t len)
{
	const cJSON *types = cJSON_GetObjectItemCaseSensitive(json, "types");
	const cJSON *a = cJSON_GetArrayItem(types, 0), *b = cJSON_GetArrayItem(types, 1);
	const cJSON *y = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(json, "outputs"), 0);
	const char *first = short_type(a ? a->valuestring : NULL);

	if (b && (strstr(op, "CONV") || !strcmp(op, "MATMUL")))
		snprintf(s, len, "%sx%s", first, short_type(b->valuestring));
	else if (!strcmp(op, "CAST") || !strcmp(op, "RESCALE") || !strcmp(op, "RESIZE"))
		snprintf(s, len, "%s>%s", first, short_type(text(y, "type")));
	else
		snprintf(s, len, "%s", first);
}

/* ---- arrays ---- */

/*
 * Reads one of the test's .npy files into *a, whose data the caller frees. file is its name within the
 * test's folder, as test.json has it, or NULL. Returns 0; -EINVAL if file is NULL or the path too long;
 * or a negative errno of weft_npy_read(); with one line in why (WEFT_MSG_LEN bytes).
 */
static int read_array(const struct test *t, const char *file, weft_tensor *a, char *why)
{
	char path[PATH];

	if (!file || join(path, t->folder, file))
		return snprintf(why, WEFT_MSG_LEN, "test.json does not name a file"), -EINVAL;
	return weft_npy_read(path, a, why);
}

/*
 * Returns the file name, in the test's folder, of the values of the graph's input called `name`; NULL
 * if test.json does not name one.
 */
static const char *input_file(const cJSON *json, const char *name)
{
	const cJSON *inputs = cJSON_GetObjectItemCaseSensitive(json, "inputs"), *i;

	cJSON_ArrayForEach(i, inputs)
		if (text(i, "name") && !strcmp(text(i, "name"), name))
			return text(i, "file");
	return NULL;
}

/*
 * Reads the files of all inputs into t->in. Each must have as many bytes as the network's input; it
 * then gets that input's type and shape. Returns 0 or a negative errno with one line in t->why; what
 * was read is freed by run_net().
 */
static int read_inputs(struct test *t)
{
	for (int i = 0; i < t->n_in; i++) {
		struct weft_port p;
		weft_net_input(t->net, i, &p);
		int err = read_array(t, input_file(t->json, p.name), &t->in[i], t->why);
		if (err)
			return err;
		weft_tensor want = { .dtype = p.dtype, .rank = p.rank };
		memcpy(want.dim, p.dim, sizeof want.dim);
		if (weft_tensor_bytes(&want) != weft_tensor_bytes(&t->in[i])) {
			snprintf(t->why, sizeof t->why, "input %d: the file has not the tensor's size", i);
			return -EINVAL;
		}
		want.data = t->in[i].data;
		t->in[i] = want;
	}
	return 0;
}

/*
 * Makes the folder `path` and all folders above it whose names end behind its first `from` bytes.
 * Folders that exist already are fine. Changes path while it works and restores it. Returns 0 or a
 * negative errno.
 */
static int make_dirs(char *path, size_t from)
{
	for (char *p = path + from; *p; p++) {
		if (*p != '/' || p == path)
			continue;
		*p = '\0';
		int err = mkdir(path, 0777) && errno != EEXIST ? -errno : 0;
		*p = '/';
		if (err)
			return err;
	}
	return mkdir(path, 0777) && errno != EEXIST ? -errno : 0;
}

/*
 * Returns the part of a path from its last but one name on: "conv2d/test_1" of "/data/conv2d/test_1",
 * which are the operator's folder and the test's. A path of one name or none is returned as it is.
 */
static const char *last_two(const char *folder)
{
	const char *p = strrchr(folder, '/');

	while (p && p > folder && p[-1] != '/')
		p--;
	return p ? p : folder;
}

/*
 * If the options name an out_dir, writes the output y to OUT_DIR/<operator>/<test>/out-<k>.npy, making
 * the folders. `expected` is the file name of the result to compare with, expected-<k>.npy: what follows
 * its first "-" (at most 60 characters with the "-") ends the new name, "-0.npy" if it has none. Returns
 * 0, also without doing anything if there is no out_dir, or a negative errno with one line in why.
 */
static int write_output(const struct test *t, const char *expected, const weft_tensor *y, char *why)
{
	const char *k = strchr(expected, '-');
	char dir[PATH], path[PATH + 64];

	if (!t->o->out_dir)
		return 0;
	int err = join(dir, t->o->out_dir, last_two(t->folder));
	if (!err)
		err = make_dirs(dir, 1);
	if (!err && (size_t)snprintf(path, sizeof path, "%s/out%.60s", dir, k ? k : "-0.npy") >= sizeof path)
		err = -ENAMETOOLONG;
	if (err)
		return snprintf(why, WEFT_MSG_LEN, "%.200s: %s", dir, weft_file_error(err)), err;
	return weft_npy_write(path, y, why);
}

/* ---- judging ---- */

/*
 * Judges output y by o, its entry in test.json, after writing y to a file if the options name an out_dir.
 * Returns 0 if TOSA allows the result; 1 if not; -EINVAL if the comparison is unknown or no file of
 * expected values is named; or a negative errno if a file cannot be read or written. If it is not 0,
 * t->why has one line.
 */
static int judge_output(struct test *t, const cJSON *o, const weft_tensor *y)
{
	weft_tensor expected = { 0 }, ref = { 0 }, bound = { 0 };
	const char *file = text(o, "expected"), *ref_file = text(o, "ref64"), *bound_file = text(o, "bounds64");
	struct weft_judge j;
	char line[WEFT_JUDGE_MSG] = "";
	int err = read_judge(cJSON_GetObjectItemCaseSensitive(o, "compare"), &j);

	if (err)
		snprintf(t->why, sizeof t->why, "test.json asks for an unknown comparison");
	if (!err)
		err = read_array(t, file, &expected, t->why);
	if (!err && ref_file)
		err = read_array(t, ref_file, &ref, t->why);
	if (!err && bound_file)
		err = read_array(t, bound_file, &bound, t->why);
	if (!err)
		err = write_output(t, file, y, t->why);
	if (!err && (err = weft_judge(&j, y, &expected, ref_file ? &ref : NULL, bound_file ? &bound : NULL, line)))
		snprintf(t->why, sizeof t->why, "output \"%.40s\": %s", text(o, "name") ? text(o, "name") : "", line);
	free(expected.data);
	free(ref.data);
	free(bound.data);
	return err;
}

/*
 * Judges every output of the test in order, up to the first that fails, and writes them to files if the
 * options name an out_dir. Returns 0 if TOSA allows all; 1 if one is wrong or the network has another
 * number of outputs than the test; a negative errno if one could not be judged. If it is not 0, t->why
 * has one line.
 */
static int judge_outputs(struct test *t)
{
	const cJSON *outputs = cJSON_GetObjectItemCaseSensitive(t->json, "outputs");

	if (cJSON_GetArraySize(outputs) != t->n_out) {
		snprintf(t->why, sizeof t->why, "%d outputs, the test has %d", t->n_out, cJSON_GetArraySize(outputs));
		return 1;
	}
	for (int i = 0; i < t->n_out; i++) {
		int err = judge_output(t, cJSON_GetArrayItem(outputs, i), &t->out[i]);
		if (err)
			return err;
	}
	return 0;
}

/*
 * Copies the name of operator o, which ran on the host, to t->host and the reason for it to t->reason (""
 * if the report has none); an earlier operator's are overwritten.
 */
static void note_host(struct test *t, const struct weft_op_report *o)
{
	snprintf(t->host, sizeof t->host, "%s", o->op);
	snprintf(t->reason, sizeof t->reason, "%s", o->reason ? o->reason : "");
}

/*
 * Opens a session on the chosen device, runs the network once on t->in and leaves the results in t->out;
 * the session is closed again. Sets t->npu if an operator ran on the NPU (not on the golden device), and
 * notes the last operator but CONST that ran on the host in t->host and t->reason. Returns 0 or the
 * negative errno of opening or running, with one line in t->why.
 */
static int run_session(struct test *t)
{
	struct weft_report *report = NULL;
	weft_session *s;
	int err = weft_session_open(t->net, &t->o->session, &s, t->why);

	if (err)
		return err;
	err = weft_session_run(s, t->in, t->out, &report, t->why);
	for (int i = 0; report && i < report->n_ops; i++) {
		t->npu = t->npu || (t->o->session.device != WEFT_DEVICE_GOLDEN && report->ops[i].unit == WEFT_RUN_NPU);
		if (report->ops[i].unit == WEFT_RUN_HOST && strcmp(report->ops[i].op, "CONST"))
			note_host(t, &report->ops[i]);
	}
	weft_report_free(report);
	weft_session_close(s);
	return err;
}

/*
 * Reads the test's inputs, runs its network, which is loaded, and judges the outputs. Arrays and tensors
 * are freed at the end, the network is not. Returns 0 if the test passed; 1 if a result is wrong; a
 * negative errno if it could not be run or judged. If it is not 0, t->why has one line.
 */
static int run_net(struct test *t)
{
	t->n_in = weft_net_n_inputs(t->net);
	t->n_out = weft_net_n_outputs(t->net);
	t->in = calloc((size_t)t->n_in + 1, sizeof *t->in);
	t->out = calloc((size_t)t->n_out + 1, sizeof *t->out);
	int err = -ENOMEM;
	if (t->in && t->out)
		err = read_inputs(t);
	else
		snprintf(t->why, sizeof t->why, "out of memory");
	if (!err)
		err = run_session(t);
	if (!err)
		err = judge_outputs(t);
	for (int i = 0; t->in && i < t->n_in; i++)
		weft_tensor_release(&t->in[i]);
	for (int i = 0; t->out && i < t->n_out; i++)
		weft_tensor_release(&t->out[i]);
	free(t->in);
	free(t->out);
	return err;
}

/*
 * Loads the graph of a test ("graph" of test.json, or test.tosa), runs it and returns the verdict; the
 * network is freed again. A test that expects an error passes if loading gives -EINVAL or -ENOTSUP, and
 * fails otherwise, without being run. Any other test passes if its results are right, is unsupported if
 * loading, running or judging gives -ENOTSUP, and fails otherwise. t->why has one line if it did not
 * pass, or what refused the graph.
 */
static enum weft_verdict run_test(struct test *t)
{
	bool error_expected = truth(t->json, "error_expected");
	const char *graph = text(t->json, "graph");
	char path[PATH];
	weft_net *net = NULL;
	int err = join(path, t->folder, graph ? graph : "test.tosa");

	if (err)
		snprintf(t->why, sizeof t->why, "the graph's path has %d bytes or more", PATH);
	else
		err = weft_net_load_file(path, &net, t->why);
	t->net = net;
	if (error_expected) {
		weft_net_free(net);
		if (err == -EINVAL || err == -ENOTSUP)
			return WEFT_PASSED;
		snprintf(t->why, sizeof t->why, "not refused: %.60s", text(t->json, "error") ? text(t->json, "error") : "");
		return WEFT_FAILED;
	}
	if (!err)
		err = run_net(t);
	weft_net_free(net);
	if (!err)
		return WEFT_PASSED;
	return err == -ENOTSUP ? WEFT_UNSUPPORTED : WEFT_FAILED;
}

/* ---- folders ---- */

/*
 * Runs the test in a folder, counts it in w->n, and hands its result to the caller's function w->seen.
 * The path in the result is relative to the root. A test.json that cannot be read or has no "op" is a
 * failed test with operator "?". Returns what the caller's function returns; a test that fails is no
 * error.
 */
static int test_folder(struct walk *w, const char *folder)
{
	struct test t = { .o = w->o, .folder = folder, .json = read_json(folder) };
	const char *op = t.json ? text(t.json, "op") : NULL;
	char types[48] = "";
	struct weft_conform_case c = { .op = op ? op : "?", .types = types, .why = t.why, .verdict = WEFT_FAILED };

	c.path = strlen(folder) > w->root_len ? folder + w->root_len : folder;
	if (op) {
		name_types(t.json, op, types, sizeof types);
		c.error_expected = truth(t.json, "error_expected");
		c.verdict = run_test(&t);
		c.npu = t.npu;
		c.host = t.host[0] ? t.host : NULL;
		c.reason = c.host ? t.reason : NULL;
	} else {
		snprintf(t.why, sizeof t.why, "test.json is not readable");
	}
	w->n++;
	int err = w->seen(w->user, &c);
	cJSON_Delete(t.json);
	return err;
}

/* For scandir(): takes entries whose names do not begin with a dot. */
static int not_hidden(const struct dirent *d)
{
	return d->d_name[0] != '.';
}

/*
 * Runs the test in a folder if it has a test.json; otherwise goes through the folders below it in
 * alphabetical order, hidden ones left out, down to MAX_DEPTH + 1 levels below the root. depth is the
 * folder's level below the root. Ends as soon as the caller's function does not return 0 or a folder
 * cannot be read. Returns 0; what the caller's function returned; -ENAMETOOLONG for a path of PATH bytes
 * or more; or the negative errno of reading a folder, for which alone w->msg is set.
 */
static int walk(struct walk *w, const char *folder, int depth)
{
	struct dirent **list;
	char path[PATH];
	struct stat st;
	int err = join(path, folder, "test.json"), n;

	if (!err && !stat(path, &st))
		return test_folder(w, folder);
	if (err || depth > MAX_DEPTH)
		return err;
	n = scandir(folder, &list, not_hidden, alphasort);
	if (n < 0)
		return snprintf(w->msg, WEFT_MSG_LEN, "%.200s: %s", folder, weft_file_error(-errno)), -errno;
	for (int i = 0; i < n; i++) {
		if (!err && !(err = join(path, folder, list[i]->d_name)) && !stat(path, &st) && S_ISDIR(st.st_mode))
			err = walk(w, path, depth + 1);
		free(list[i]);
	}
	free(list);
	return err;
}

int weft_conform(const char *dir, const struct weft_conform_options *o,
                 int (*seen)(void *user, const struct weft_conform_case *c), void *user, char msg WEFT_ROOM(WEFT_MSG_LEN))
{
	char root[PATH];
	size_t n = strlen(dir);

	while (n > 1 && dir[n - 1] == '/')
		n--;
	if (n >= PATH)
		return snprintf(msg, WEFT_MSG_LEN, "path is too long"), -ENAMETOOLONG;
	memcpy(root, dir, n);
	root[n] = '\0';
	struct walk w = { .o = o, .seen = seen, .user = user, .root_len = n + 1, .msg = msg };
	int err = walk(&w, root, 0);
	if (!err && !w.n) {
		snprintf(msg, WEFT_MSG_LEN, "%.200s: no test.json below it", dir);
		err = -ENOENT;
	}
	return err;
}
