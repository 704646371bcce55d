/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a .weft container. */
#ifndef WEFT_COMPILE_SAVE_H
#define WEFT_COMPILE_SAVE_H

#include "byte_io.h"
#include "userlib/compile/program.h"

/* Limits of a container, so that a small file cannot ask for much memory. */
#define SAVE_MAX_OPS     200000
#define SAVE_MAX_TENSORS 400000

/* save_graph.c. Writing: *g is read. Reading: *g is made, checked; freed on failure. */
void save_graph(struct io *io, weft_graph **g, char *msg);

/* save_graph.c. The attributes that an operator has; nothing for those without. */
void save_attributes(struct io *io, weft_opcode op, weft_attr *a);

/* save_program.c. Reading: arrays are made. */
void save_head(struct io *io, weft_program *p);
void save_steps(struct io *io, weft_program *p);
void save_tensors(struct io *io, weft_program *p);
void save_ops(struct io *io, weft_program *p);
void save_cmds(struct io *io, weft_program *p);
void save_recs(struct io *io, weft_program *p);
void save_late(struct io *io, weft_program *p);
/* Everything read: do the parts fit each other? */
void save_check(struct io *io, const weft_program *p);

#endif
