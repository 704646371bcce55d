/* SPDX-License-Identifier: Apache-2.0 */
/* Making EPContext nodes, and loading what they hold; context.h describes both. */
#include "context.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <nettle/sha2.h>
#include <weft/file.h>

#include "userlib/files/beneath.h"

#define MAGIC "WEFTCTX1"
#define HEAD (sizeof(MAGIC) - 1 + SHA256_DIGEST_SIZE)
#define MOST (UINT64_C(1) << 31)       /* bytes of a context, and of a source model */

enum field { VERSION, CONFIG, REQUANT, SOURCE, PORTS, PROGRAM, N_FIELDS };

/* Bytes of somebody else. */
struct bytes { const void *data; size_t len; };

/* Writes the SHA-256 of len bytes of data (NULL only if len is 0) to out, the first byte of the digest first. */
static void sha256(const void *data, size_t len, uint8_t out[SHA256_DIGEST_SIZE])
{
	struct sha256_ctx state;

	sha256_init(&state);
	sha256_update(&state, len, data);
	sha256_digest(&state, SHA256_DIGEST_SIZE, out);
}

/* Writes one line to msg, of WEFT_MSG_LEN bytes, that `text` is wrong with the node called `name`. Returns err. */
static int fail(char *msg, int err, const char *text, const char *name)
{
	snprintf(msg, WEFT_MSG_LEN, "EPContext node %.80s: %.150s", name, text);
	return err;
}

/* ---- what a context belongs to ---- */

/* Returns the value of the option requant. */
static const char *requant_of(const struct plugin_options *o)
{
	return o->rescale ? "rescale" : o->requant_avx2 ? "runtime-avx2" : o->requant_runtime ? "runtime" : "exact";
}

/*
 * Appends the number len as 8 bytes, the lowest first, and len bytes of data to where *at points, and
 * moves *at behind them. There is room.
 */
static void put(uint8_t **at, const void *data, size_t len)
{
	for (int i = 0; i < 8; i++)
		*(*at)++ = (uint8_t)((uint64_t)len >> 8 * i);
	memcpy(*at, data, len);
	*at += len;
}

/*
 * Returns the names of n_in inputs and n_out outputs as one field, *len bytes from malloc that the caller
 * frees: n_in as 8 bytes, the lowest first, then each name with its length in 8 bytes in front (a value
 * that is left out has the name ""). NULL: no memory.
 */
static uint8_t *ports_of(const struct ort_api *api, const struct ort_value_info **in, size_t n_in, const struct ort_value_info **out,
                         size_t n_out, size_t *len)
{
	size_t room = 8;

	for (size_t i = 0; i < n_in + n_out; i++)
		room += 8 + strlen(name_of(api, i < n_in ? in[i] : out[i - n_in]));
	uint8_t *const data = malloc(room), *at = data;
	if (!data)
		return NULL;
	for (int i = 0; i < 8; i++)
		*at++ = (uint8_t)((uint64_t)n_in >> 8 * i);
	for (size_t i = 0; i < n_in + n_out; i++) {
		const char *name = name_of(api, i < n_in ? in[i] : out[i - n_in]);
		put(&at, name, strlen(name));
	}
	*len = room;
	return data;
}

/*
 * Reads len bytes of an open file from where it stands to data; interrupted and partial reads are
 * repeated. Returns 0, -EIO if the file ends before, or the negative errno of read().
 */
static int read_all(int fd, uint8_t *data, size_t len)
{
	for (size_t done = 0; done < len;) {
		const ssize_t n = read(fd, data + done, len - done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		done += (size_t)n;
	}
	return 0;
}

/*
 * Reads the file that `name` leads to without leaving the folder (weft_open_beneath) into *data, *len
 * bytes from malloc that the caller frees. Returns 0; -EFBIG for more than MOST bytes; -ENOMEM; or a
 * negative errno of opening or reading it. If it cannot be opened, *data and *len are not written; after
 * any other failure *data is NULL.
 */
static int read_beneath(const char *folder, const char *name, uint8_t **data, size_t *len)
{
	const int fd = weft_open_beneath(folder, name);
	struct stat st;

	if (fd < 0)
		return fd;
	int err = fstat(fd, &st) ? -errno : (uint64_t)st.st_size > MOST ? -EFBIG : 0;
	*len = err ? 0 : (size_t)st.st_size;
	*data = err ? NULL : malloc(*len + 1);
	if (!err)
		err = *data ? read_all(fd, *data, *len) : -ENOMEM;
	close(fd);
	if (err) {
		free(*data);
		*data = NULL;
	}
	return err;
}

/*
 * Writes the folder of a file to out, PLUGIN_PATH bytes, and returns the file's own name, the part of
 * `path` behind its last slash. Without a slash the folder is ".", and of a file in the root it is "/"; a
 * folder that is too long is cut.
 */
static const char *split(const char *path, char *out)
{
	const char *slash = strrchr(path, '/');

	snprintf(out, PLUGIN_PATH, "%.*s", slash ? (int)(slash - path) + !(slash - path) : 1, slash ? path : ".");
	return slash ? slash + 1 : path;
}

/* Returns the path of the model of a graph; "": it was not loaded from a file. */
static const char *path_of(const struct provider *p, const struct ort_graph *graph)
{
	const char *path = "";

	return ort_ok(p->api, p->api->model_path(graph, &path)) && path ? path : "";
}

/*
 * Writes the SHA-256 of the source model's file to out. Returns its length, SHA256_DIGEST_SIZE; 0, with out
 * unchanged, if the model did not come from a file, or the file cannot be read or has more than MOST
 * bytes.
 */
static size_t hash_source(const struct provider *p, const struct ort_graph *graph, uint8_t out[SHA256_DIGEST_SIZE])
{
	const char *path = path_of(p, graph);
	uint8_t *data = NULL;
	size_t len = 0;

	if (!*path || weft_file_read(path, MOST, &data, &len))
		return 0;
	sha256(data, len, out);
	free(data);
	return SHA256_DIGEST_SIZE;
}

/* ---- attributes ---- */

bool context_any(const struct node *n)
{
	return !strcmp(n->op, "EPContext") && !strcmp(n->domain, "com.microsoft");
}

char *node_attr(const struct ort_api *api, const struct node *n, const char *name, int type, size_t *len)
{
	const struct ort_attr **list = NULL;
	const char *its = "";
	char *data = NULL;
	size_t count = 0;
	int is = 0;

	if (ort_ok(api, api->n_attrs(n->ort, &count)))
		list = calloc(count + 1, sizeof(*list));
	if (!list || !ort_ok(api, api->attrs(n->ort, list, count)))
		count = 0;
	for (size_t i = 0; i < count && !data; i++) {
		if (!ort_ok(api, api->attr_name(list[i], &its)) || strcmp(its, name) || !ort_ok(api, api->attr_type(list[i], &is)) || is != type)
			continue;
		data = attr_bytes(api, list[i], type, len);
	}
	free(list);
	return data;
}

bool context_ours(const struct ort_api *api, const struct node *n)
{
	size_t len;
	char *source = context_any(n) ? node_attr(api, n, "source", ORT_ATTR_STRING, &len) : NULL;
	const bool ours = source && !strcmp(source, ORT_PROVIDER);

	free(source);
	return ours;
}

/* ---- loading ---- */

/*
 * Sets field[] to the six fields of a context of len bytes, which point into data. Returns false if it
 * does not begin with MAGIC, a field is not whole, anything but one zero byte at most follows the last
 * one, or the SHA-256 is not that of the fields; field[] is then not to be used.
 */
static bool cut(const uint8_t *data, size_t len, struct bytes field[N_FIELDS])
{
	uint8_t digest[SHA256_DIGEST_SIZE];
	size_t at = HEAD;

	if (len < HEAD || memcmp(data, MAGIC, sizeof(MAGIC) - 1))
		return false;
	for (int i = 0; i < N_FIELDS; i++) {
		uint64_t n = 0;
		if (len - at < 8)
			return false;
		for (int k = 0; k < 8; k++)
			n |= (uint64_t)data[at++] << 8 * k;
		if (n > len - at)
			return false;
		field[i] = (struct bytes){ data + at, (size_t)n };
		at += (size_t)n;
	}
	/* ONNX Runtime puts a zero byte behind a string. */
	if (len - at > 1 || (len > at && data[at]))
		return false;
	sha256(data + HEAD, at - HEAD, digest);
	return !memcmp(digest, data + sizeof(MAGIC) - 1, SHA256_DIGEST_SIZE);
}

/*
 * Returns true if field f is the text `want`. Otherwise returns false and writes one line to msg that the
 * context of the node called `name` was compiled for another one; `what` says of what, such as
 * "configuration".
 */
static bool is_text(const struct bytes *f, const char *want, const char *what, const char *name, char *msg)
{
	if (f->len == strlen(want) && !memcmp(f->data, want, f->len))
		return true;
	snprintf(msg, WEFT_MSG_LEN, "EPContext node %.80s was compiled for %s \"%.*s\", here it is \"%.20s\": compile the model anew", name, what,
	         (int)(f->len < 20 ? f->len : 20), (const char *)f->data, want);
	weft_one_line(msg, WEFT_MSG_LEN);
	return false;
}

/*
 * Compares the SHA-256 of the source model, which attribute onnx_model_filename names in `folder`, with
 * `hash` of the context. Returns 0 if they are equal, and also if hash or folder is empty, the attribute
 * is not there, or there is no such file; -ENOMEM; or -EINVAL if they differ, the file cannot be read, or
 * its path leaves the folder; with one line in msg.
 */
static int check_source(const struct provider *p, const struct node *n, const struct bytes *hash, const char *folder, const char *name, char *msg)
{
	uint8_t digest[SHA256_DIGEST_SIZE], *data = NULL;
	size_t len = 0, unused;
	char *file = hash->len && *folder ? node_attr(p->api, n, "onnx_model_filename", ORT_ATTR_STRING, &unused) : NULL;
	int err = file && *file ? read_beneath(folder, file, &data, &len) : -ENOENT;

	if (!err)
		sha256(data, len, digest);
	free(data);
	if (err == -ENOENT)
		err = 0;
	else if (err)
		fail(msg, err, err == -EXDEV ? "its source model is outside of the model's folder" : "its source model cannot be read", name);
	else if (hash->len != SHA256_DIGEST_SIZE || memcmp(hash->data, digest, SHA256_DIGEST_SIZE))
		err = fail(msg, -EINVAL, "the source model has changed since it was compiled: compile it anew", name);
	free(file);
	return err == -ENOMEM ? err : err ? -EINVAL : 0;
}

/*
 * Checks that a context belongs to this library's version, to the provider's configuration and option
 * requant, to its node's inputs and outputs, and to the source model in `folder` (check_source), in this
 * order. Returns 0, -ENOMEM, or -EINVAL with one line in msg that says what to do.
 */
static int check(const struct provider *p, const struct node *n, const struct bytes field[N_FIELDS], const char *folder, const char *name,
                 char *msg)
{
	size_t len = 0;

	if (!is_text(&field[VERSION], weft_version(), "libweft", name, msg) ||
	    !is_text(&field[CONFIG], p->options.config, "configuration", name, msg) ||
	    !is_text(&field[REQUANT], requant_of(&p->options), "requant", name, msg))
		return -EINVAL;
	uint8_t *ports = ports_of(p->api, n->in, n->n_in, n->out, n->n_out, &len);
	if (!ports)
		return fail(msg, -ENOMEM, "not enough memory", name);
	const bool same = field[PORTS].len == len && !memcmp(field[PORTS].data, ports, len);
	free(ports);
	if (!same)
		return fail(msg, -EINVAL, "its context belongs to another node", name);
	return check_source(p, n, &field[SOURCE], folder, name, msg);
}

/*
 * Gives the bytes of a node's context, *len of them, from malloc or calloc, in *data, which the caller
 * frees: those in the node (embed_mode 1, or not stated), or those of the file in `folder` that attribute
 * ep_cache_context names. Returns 0; -EINVAL if there is no such attribute; -ENOTDIR if a file is named
 * and folder is ""; or the negative errno of reading the file; with one line in msg and nothing to free.
 */
static int read_context(const struct provider *p, const struct node *n, const char *folder, const char *name, uint8_t **data, size_t *len,
                        char *msg)
{
	char *mode = node_attr(p->api, n, "embed_mode", ORT_ATTR_INT, len);
	int64_t embed = 1;

	if (mode && *len == sizeof(embed))
		memcpy(&embed, mode, sizeof(embed));
	free(mode);
	char *context = node_attr(p->api, n, "ep_cache_context", ORT_ATTR_STRING, len);
	if (!context)
		return fail(msg, -EINVAL, "it has no ep_cache_context", name);
	*data = (uint8_t *)context;
	if (embed)
		return 0;
	int err = *folder ? read_beneath(folder, context, data, len) : -ENOTDIR;
	if (err == -ENOTDIR && !*folder)
		fail(msg, err, "its context is in a file beside the model, which was not loaded from a file: ep.context_file_path says where", name);
	else if (err)
		snprintf(msg, WEFT_MSG_LEN, "EPContext node %.60s: its context \"%.60s\": %.60s", name, context,
		         err == -EXDEV ? "the path leaves the model's folder" : weft_file_error(err));
	if (err)
		weft_one_line(msg, WEFT_MSG_LEN);
	free(context);
	return err;
}

int context_load(const struct provider *p, const struct ort_graph *graph, const struct node *n, weft_net **net, char msg[static WEFT_MSG_LEN])
{
	const char *name = "", *path = path_of(p, graph);
	char folder[PLUGIN_PATH] = "";
	struct bytes field[N_FIELDS];
	uint8_t *data = NULL;
	size_t len = 0;

	(void)ort_ok(p->api, p->api->node_name(n->ort, &name));
	path = *path ? path : p->context.path;
	if (*path)
		split(path, folder);
	int err = read_context(p, n, folder, name, &data, &len, msg);
	if (err)
		return err;
	if (!cut(data, len, field))
		err = fail(msg, -EINVAL, "its context is damaged, or not one of Weft's", name);
	else
		err = check(p, n, field, folder, name, msg);
	if (!err)
		err = weft_net_load(field[PROGRAM].data, field[PROGRAM].len, name, net, msg);
	free(data);
	return err;
}

/* ---- making ---- */

/*
 * Makes the context of a network for a fused node: compiles it for the provider's configuration, hashes the
 * source model, and writes MAGIC, the SHA-256 of the fields and the fields. Returns 0 with its *len bytes, from
 * malloc, in *out; or -ENOMEM or a negative errno of weft_net_save() with one line in msg and nothing to free.
 */
static int build(const struct provider *p, const struct part *part, const weft_net *net, uint8_t **out, size_t *len, char *msg)
{
	uint8_t digest[SHA256_DIGEST_SIZE], *program = NULL, *at;
	size_t n_program = 0, n_ports = 0;
	const size_t n_source = hash_source(p, part->graph, digest);
	int err = weft_net_save(net, p->options.config, &program, &n_program, msg);

	if (err)
		return err;
	uint8_t *ports = ports_of(p->api, part->in, part->n_in, part->out, part->n_out, &n_ports);
	const struct bytes field[N_FIELDS] = {
		[VERSION] = { weft_version(), strlen(weft_version()) },
		[CONFIG] = { p->options.config, strlen(p->options.config) },
		[REQUANT] = { requant_of(&p->options), strlen(requant_of(&p->options)) },
		[SOURCE] = { digest, n_source },
		[PORTS] = { ports, n_ports },
		[PROGRAM] = { program, n_program },
	};
	*len = HEAD;
	for (int i = 0; i < N_FIELDS; i++)
		*len += 8 + field[i].len;
	*out = at = ports ? malloc(*len) : NULL;
	if (at) {
		memcpy(at, MAGIC, sizeof(MAGIC) - 1);
		at += HEAD;
		for (int i = 0; i < N_FIELDS; i++)
			put(&at, field[i].data, field[i].len);
		sha256(*out + HEAD, *len - HEAD, *out + sizeof(MAGIC) - 1);
	}
	free(ports);
	free(program);
	if (!at)
		snprintf(msg, WEFT_MSG_LEN, "not enough memory");
	return at ? 0 : -ENOMEM;
}

/*
 * Writes a context to a file beside the model of EPContext nodes, which ONNX Runtime will write
 * (ep.context_file_path, or else beside the source model), and the file's name to `file` of PLUGIN_PATH
 * bytes: MODEL_NAME.weftctx, where MODEL is the model's file name up to its last dot, NAME at most 200 bytes
 * of `name`, and slashes and control characters become '_'. An older file of that name is replaced. Returns
 * 0; -EINVAL if neither path is known; or a negative errno of weft_file_write(); with one line in msg.
 */
static int write_beside(const struct provider *p, const struct part *part, const char *name, const uint8_t *data, size_t len, char *file,
                        char *msg)
{
	const char *model = *p->context.path ? p->context.path : path_of(p, part->graph);
	char folder[PLUGIN_PATH], path[2 * PLUGIN_PATH + 2];

	if (!*model)
		return fail(msg, -EINVAL, "a model that was not loaded from a file: ep.context_file_path says where its contexts go", name);
	const char *own = split(model, folder);
	const char *dot = strrchr(own, '.');
	snprintf(file, PLUGIN_PATH, "%.*s_%.200s.weftctx", (int)(dot ? dot - own : (long)strlen(own)), own, name);
	for (char *c = file; *c; c++)
		if (*c == '/' || (unsigned char)*c < ' ')
			*c = '_';
	snprintf(path, sizeof(path), "%s/%s", folder, file);
	int err = weft_file_write(path, data, len);
	if (err)
		snprintf(msg, WEFT_MSG_LEN, "%.150s: %.60s", path, weft_file_error(err));
	return err;
}

/* The attributes of a node, n of them so far, which the caller frees (release_attr); failed: one could not be made. */
struct attrs { struct ort_attr *list[8]; size_t n; bool failed; };

/*
 * Makes an attribute with that name and type (ORT_ATTR_...) of the len elements at data, and puts it behind the others
 * in *a, which has to have room. If it cannot be made, a->failed is set, and it is not counted in a->n.
 */
static void add_attr(const struct provider *p, struct attrs *a, const char *name, const void *data, size_t len, int type)
{
	const bool made = ort_ok(p->api, p->api->new_attr(name, data, (int)len, type, &a->list[a->n]));

	a->n += made;
	a->failed |= !made;
}

/* Adds an attribute that is a text of len characters, which may be any bytes; see add_attr(). */
static void text_attr(const struct provider *p, struct attrs *a, const char *name, const char *text, size_t len)
{
	add_attr(p, a, name, text, len, ORT_ATTR_STRING);
}

/* Adds an attribute that is a number; see add_attr(). */
static void number_attr(const struct provider *p, struct attrs *a, const char *name, int64_t number)
{
	add_attr(p, a, name, &number, 1, ORT_ATTR_INT);
}

/*
 * Makes the EPContext node `name`, of ONNX Runtime's own domain, with the part's inputs and outputs and
 * the attributes *a, which the caller frees in each case. Returns 0 with it in *out; -ENOMEM; or -EINVAL if
 * an attribute could not be made (a->failed) or the node cannot; with one line in msg.
 */
static int new_node(const struct provider *p, const struct part *part, const char *name, struct attrs *a, struct ort_node **out, char *msg)
{
	const struct ort_editor_api *editor = p->api->editor_api();
	const char **ports = calloc(part->n_in + part->n_out + 1, sizeof(*ports));

	if (!ports)
		return fail(msg, -ENOMEM, "not enough memory", name);
	for (size_t i = 0; i < part->n_in + part->n_out; i++)
		ports[i] = name_of(p->api, i < part->n_in ? part->in[i] : part->out[i - part->n_in]);
	const bool made = editor && !a->failed && ort_ok(p->api, editor->new_node("EPContext", "com.microsoft", name, ports, part->n_in,
	                  ports + part->n_in, part->n_out, a->list, a->n, out));
	free(ports);
	return made ? 0 : fail(msg, -EINVAL, "ONNX Runtime cannot make it", name);
}

int context_make(const struct provider *p, const struct part *part, const char *name, const weft_net *net, struct ort_node **out,
                 char msg[static WEFT_MSG_LEN])
{
	char folder[PLUGIN_PATH], file[PLUGIN_PATH];
	const char *source = split(path_of(p, part->graph), folder);
	struct attrs a = { .n = 0 };
	uint8_t *data = NULL;
	size_t len = 0;
	int err = build(p, part, net, &data, &len, msg);

	if (!err && len > INT32_MAX)
		err = fail(msg, -EFBIG, "its context has more than 2^31 - 1 bytes", name);
	if (!err && !p->context.embed)
		err = write_beside(p, part, name, data, len, file, msg);
	if (err) {
		free(data);
		return err;
	}
	number_attr(p, &a, "main_context", 1);
	number_attr(p, &a, "embed_mode", p->context.embed);
	text_attr(p, &a, "ep_cache_context", p->context.embed ? (const char *)data : file, p->context.embed ? len : strlen(file));
	text_attr(p, &a, "ep_sdk_version", weft_version(), strlen(weft_version()));
	text_attr(p, &a, "onnx_model_filename", source, strlen(source));
	text_attr(p, &a, "partition_name", name, strlen(name));
	text_attr(p, &a, "source", ORT_PROVIDER, strlen(ORT_PROVIDER));
	err = new_node(p, part, name, &a, out, msg);
	for (size_t i = 0; i < a.n; i++)
		p->api->release_attr(a.list[i]);
	free(data);
	return err;
}
