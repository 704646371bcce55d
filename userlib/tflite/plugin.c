/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What TensorFlow Lite finds when it loads the library: a delegate is made of pairs of words, looks
 * at each graph that it is applied to, takes its parts, and is destroyed at any time.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "delegate.h"

#define EXPORTED __attribute__((visibility("default")))
#define MOST_OPTIONS 1024

/* One delegate at a time looks at a graph; and the list of destroyed ones. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct delegate *destroyed;

/*
 * Writes one line to stderr, as "INFO: Weft: LINE", where the runtime's own lines about delegates go: a
 * delegate has no logger, and TensorFlow Lite's own are silent about other people's words unless an error
 * comes of them.
 */
static void say(const char *line)
{
	fprintf(stderr, "INFO: Weft: %s\n", line);
}

/*
 * Writes the kinds of nodes that stay with the interpreter, those not in `taken` (NULL: all), and how
 * many there are of each, to text, which has room for `room` bytes and is cut there: "; the runtime keeps
 * 2 ADD, 1 SOFTMAX". Writes nothing if there are none or there is no memory.
 */
static void list_left(const struct graph *g, const struct rt_ints *taken, char *text, size_t room)
{
	bool *done = calloc((size_t)g->n + 1, sizeof(*done));
	size_t len = 0;

	for (int k = 0; done && taken && k < taken->n; k++)
		for (int i = 0; i < g->n; i++)
			done[i] |= g->ops[i].i == taken->v[k];
	for (int i = 0; done && i < g->n; i++) {
		int count = 0;
		if (done[i])
			continue;
		for (int k = i; k < g->n; k++) {
			if (done[k] || strcmp(op_name(&g->ops[i]), op_name(&g->ops[k])))
				continue;
			count++;
			done[k] = true;
		}
		if (len < room)
			len += (size_t)snprintf(text + len, room - len, "%s%d %s", len ? ", " : "; the runtime keeps ", count, op_name(&g->ops[i]));
	}
	free(done);
}

/*
 * Says in one line on stderr how many nodes and parts are taken, on which device and configuration, the
 * NPU's share of the graph's multiplications, and which nodes the runtime keeps. `taken` are the nodes
 * of the parts that are ready.
 */
static void say_parts(const struct delegate *d, const struct graph *g, const struct rt_ints *taken)
{
	const struct plugin_options *o = d->options;
	char left[512] = "", line[1024 + PLUGIN_DEVICE], device[PLUGIN_DEVICE];
	uint64_t npu = 0, all = 0;
	int parts = 0;

	for (const struct part *p = d->ready; p; p = p->next) {
		npu += p->npu_macs;
		all += p->macs;
		parts++;
	}
	for (int i = 0; i < g->n; i++) {
		bool is = false;
		for (int k = 0; taken && k < taken->n; k++)
			is |= taken->v[k] == g->ops[i].i;
		all += is ? 0 : macs_of(g, &g->ops[i]);
	}
	list_left(g, taken, left, sizeof(left));
	plugin_device_text(o, device, sizeof(device));
	snprintf(line, sizeof(line), "%d of %d nodes in %d part%s on %s (%s), %.1f %% of %llu MACs%s", taken ? taken->n : 0, g->n, parts,
	         parts == 1 ? "" : "s", device, plugin_config_text(o),
	         all ? 100.0 * (double)npu / (double)all : 0.0, (unsigned long long)all, left);
	say(line);
}

/* Frees the parts that are ready but for which the interpreter has made no kernel. */
static void drop_ready(struct delegate *d)
{
	while (d->ready) {
		struct part *p = d->ready;
		d->ready = p->next;
		part_free(p);
	}
}

/*
 * Finds the parts of a graph that the library takes, says so on stderr, and has the interpreter replace
 * them by kernels; parts for which it makes none are freed. Returns 0, also if there are no parts; or a
 * negative errno with one line in msg: -EIO if the interpreter refuses the nodes, or as graph_read() and
 * find_parts().
 */
static int apply(struct delegate *d, struct rt_context *rt, char msg[static WEFT_MSG_LEN])
{
	struct rt_ints *nodes = NULL;
	struct graph g;
	int err = graph_read(&g, rt);

	snprintf(msg, WEFT_MSG_LEN, err == -ENOMEM ? "not enough memory" : "the graph cannot be read");
	if (!err)
		err = find_parts(d, &g, &nodes, msg);
	if (!err)
		say_parts(d, &g, nodes);
	if (!err && nodes->n && rt->replace(rt, part_kernel(), nodes, &d->rt)) {
		snprintf(msg, WEFT_MSG_LEN, "the runtime does not give the nodes");
		err = -EIO;
	}
	free(nodes);
	graph_free(&g);
	drop_ready(d);
	return err;
}

/*
 * The delegate's prepare, which the interpreter calls for each of its graphs, one at a time. A destroyed
 * delegate does nothing; if the interpreter's structs are not those of tflite_abi.h, it takes nothing and
 * says so on stderr. Returns TFL_OK, also if nothing was taken, or TFL_DELEGATE_ERROR, which it has
 * reported.
 */
static int prepare(struct rt_context *rt, struct rt_delegate *rt_delegate)
{
	struct delegate *d = (struct delegate *)rt_delegate;
	char words[WEFT_MSG_LEN], msg[WEFT_MSG_LEN + 64];
	const char *wrong;
	int err = 0;

	pthread_mutex_lock(&lock);
	if (d->options && (wrong = layout_wrong(rt, words))) {
		snprintf(msg, sizeof(msg), "takes nothing: this runtime's structs are not those of 2.14 to LiteRT 2.3 (%s)", wrong);
		say(msg);
	} else if (d->options && (err = apply(d, rt, words))) {
		report_line(rt, words);
	}
	pthread_mutex_unlock(&lock);
	return err ? TFL_DELEGATE_ERROR : TFL_OK;
}

/*
 * Makes a delegate with these options, n keys and values (a NULL among them counts as ""). What is not
 * stated becomes the default. Returns it; or NULL with one line in msg if there is no memory, n is above
 * MOST_OPTIONS, a list is missing, or an option is unknown or has a wrong value.
 */
static struct delegate *create(const char *const *keys, const char *const *values, size_t n, char msg[static WEFT_MSG_LEN])
{
	struct delegate *d = calloc(1, sizeof(*d));
	struct plugin_options *o = malloc(sizeof(*o));
	int err = 0;

	snprintf(msg, WEFT_MSG_LEN, n > MOST_OPTIONS || (n && (!keys || !values)) ? "the options are no list" : "not enough memory");
	if (!d || !o || n > MOST_OPTIONS || (n && (!keys || !values))) {
		free(d);
		free(o);
		return NULL;
	}
	*o = plugin_defaults();
	for (size_t i = 0; !err && i < n; i++)
		err = plugin_take(o, PLUGIN_TFLITE, keys[i] ? keys[i] : "", values[i] ? values[i] : "", msg);
	if (err) {
		free(d);
		free(o);
		return NULL;
	}
	*d = (struct delegate){ .rt = { .data = d, .prepare = prepare, .flags = RT_ALLOW_DYNAMIC }, .options = o };
	return d;
}

/** The runtime's entry: make a delegate; NULL: report_error said why. */
EXPORTED struct rt_delegate *tflite_plugin_create_delegate(const char *const *keys, const char *const *values, size_t n, void (*report_error)(const char *));

/*
 * The runtime's entry: makes a delegate with n options, keys and values. Returns it, for
 * tflite_plugin_destroy_delegate(); or NULL, after calling report_error, unless that is NULL, with one
 * line that says why.
 */
struct rt_delegate *tflite_plugin_create_delegate(const char *const *keys, const char *const *values, size_t n, void (*report_error)(const char *))
{
	char msg[WEFT_MSG_LEN], line[WEFT_MSG_LEN + 16];
	struct delegate *d = create(keys, values, n, msg);

	if (!d && report_error) {
		snprintf(line, sizeof(line), "Weft: %s", msg);
		report_error(line);
	}
	return d ? &d->rt : NULL;
}

/** The runtime's entry: destroy a delegate. Interpreters that have taken nodes to it go on with them. */
EXPORTED void tflite_plugin_destroy_delegate(struct rt_delegate *rt);

/*
 * The runtime's entry: destroys a delegate; NULL is fine. Its options are freed, and from then on it
 * takes no nodes, but it stays in memory, in the list `destroyed`, because the interpreter may ask it
 * again. Interpreters that have taken nodes to it go on with them.
 */
void tflite_plugin_destroy_delegate(struct rt_delegate *rt)
{
	struct delegate *d = (struct delegate *)rt;

	if (!d)
		return;
	pthread_mutex_lock(&lock);
	free(d->options);
	d->options = NULL;
	d->older = destroyed;
	destroyed = d;
	pthread_mutex_unlock(&lock);
}
