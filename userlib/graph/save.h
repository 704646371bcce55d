/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A graph as bytes: in a .weft container, and the attributes of an operator that TOSA
 * does not have in a CUSTOM operator. One function writes and reads (byte_io.h); errors
 * are in io->err.
 */
#ifndef WEFT_GRAPH_SAVE_H
#define WEFT_GRAPH_SAVE_H

#include "graph.h"
#include "userlib/files/byte_io.h"

/* Limits of a graph in a file, so that a small file cannot ask for much memory. */
#define SAVE_MAX_OPS     200000
#define SAVE_MAX_TENSORS 400000

/* Writing: *g is read. Reading: *g is made and checked; it is freed on failure, and msg (WEFT_MSG bytes) says why. */
void save_graph(struct io *io, weft_graph **g, char *msg);

/* The attributes that an operator has; nothing for those without. */
void save_attributes(struct io *io, weft_opcode op, weft_attr *a);

#endif
