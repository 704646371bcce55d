/* SPDX-License-Identifier: Apache-2.0 */
/* The first block of the first region is the network; blocks that it names are its sub-graphs. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tosa.h"
#include "tosa_lower.h"

/*
 * What graphs may take: ROOM_FIXED + ROOM_FACTOR * file. The file itself, its tables and the process fit
 * below 64 MB + 8 * file.
 */
#define ROOM_FIXED  ((int64_t)24 << 20)
#define ROOM_FACTOR 5
#define MAX_DECLARED ((int64_t)1 << 30)   /* bytes of all computed values together */

bool weft_tosa_is(const void *data, size_t len)
{
	return len >= 8 && !memcmp((const char *)data + 4, "TOSA", 4);
}

/*
 * Allocates an array of n ints that all are `value`; the caller frees it. Returns NULL if there is
 * no memory.
 */
static int *filled(int n, int value)
{
	int *p = malloc(((size_t)n + 1) * sizeof *p);

	for (int i = 0; p && i < n; i++)
		p[i] = value;
	return p;
}

/*
 * Imports the file's first block into l->outer, with every block that control flow names as a
 * sub-graph, and checks the graph with weft_graph_check(). Allocates l's tables on the way (gt,
 * maker, var, gshape and sub, all -1 at first, consts and blocks). Returns 0, or -EINVAL, -ENOTSUP
 * or -ENOMEM with a line in l->msg; the caller frees everything, also after success.
 */
static int import(struct tosa_lower *l)
{
	int entry = 0, err;

	l->gt = filled(l->f.n_tensors, -1);
	l->maker = filled(l->f.n_tensors, -1);
	l->var = filled(l->f.n_tensors, -1);
	l->gshape = filled(l->f.n_shapes, -1);
	l->sub = filled(l->f.n_blocks, TOSA_SUB_NONE);
	if (!l->outer || !l->gt || !l->maker || !l->var || !l->gshape || !l->sub)
		return tosa_fail(l, -ENOMEM, "out of memory");
	if ((err = tosa_index_consts(l)) || (err = tosa_index_blocks(l)))
		return err;
	l->s.g = l->outer;
	l->sub[entry] = TOSA_SUB_OPEN;
	err = tosa_block(l, entry);
	return err ? err : weft_graph_check(l->outer, l->msg);
}

/*
 * Imports a TOSA file of len bytes held in memory into a new graph with that name, and frees
 * everything but the graph. The graphs may take 24 MB and 5 times len, all computed values together
 * 2^30 bytes. Returns 0 with *g set; or, with *g untouched and a line in msg, -EINVAL if the file
 * breaks a rule of the format or of an operator or exceeds these limits, -ENOTSUP for what is not
 * supported (another version, foreign CUSTOM, tensors without rank), or -ENOMEM.
 */
int weft_import_tosa(const void *data, size_t len, const char *name, weft_graph **g, char msg[WEFT_MSG])
{
	struct tosa_lower *l = calloc(1, sizeof *l);

	if (!l) {
		snprintf(msg, WEFT_MSG, "out of memory");
		return -ENOMEM;
	}
	int err = tosa_read(&l->f, data, len, msg, WEFT_MSG);
	if (!err) {
		l->msg = msg;
		l->room = ROOM_FIXED + ROOM_FACTOR * (int64_t)len;
		l->activations = MAX_DECLARED;
		l->outer = weft_graph_new(name);
		err = import(l);
	}
	if (err)
		weft_graph_free(l->outer);
	else
		*g = l->outer;
	free(l->s.names.e);
	free(l->consts.e);
	free(l->blocks.e);
	free(l->gt);
	free(l->maker);
	free(l->var);
	free(l->gshape);
	free(l->sub);
	tosa_release(&l->f);
	free(l);
	return err;
}
