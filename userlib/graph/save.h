/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A graph as bytes in a .weft container; and the attributes of one operator, for an operator that TOSA
 * does not have in a TOSA file's CUSTOM operator. The same function writes and reads (byte_io.h);
 * failures are in io->err.
 */
#ifndef WEFT_GRAPH_SAVE_H
#define WEFT_GRAPH_SAVE_H

#include "graph.h"
#include "userlib/files/byte_io.h"

/* Limits of a graph in a file, so that a small file cannot ask for much memory. */
#define SAVE_MAX_OPS     200000
#define SAVE_MAX_TENSORS 400000

/*
 * Writes *g with its sub-graphs, or reads a graph, which must be all that is left in io, and checks it
 * with weft_graph_check(). Reading, *g becomes a new graph that the caller frees with
 * weft_graph_free(); after a failure it is NULL, io->err is -EINVAL or -ENOMEM, and for -EINVAL the
 * reason is in io->why or, if that is NULL, in msg (WEFT_MSG bytes), which weft_graph_check() wrote.
 */
void save_graph(struct io *io, weft_graph **g, char *msg);

/*
 * Writes the attributes that an operator with code op has from *a, or reads them into *a, field by
 * field as attr_ops lists them; other bytes of *a stay. Nothing is done for a code without attributes
 * or one that does not exist.
 */
void save_attributes(struct io *io, weft_opcode op, weft_attr *a);

#endif
