/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a .weft container. */
#ifndef WEFT_COMPILE_SAVE_H
#define WEFT_COMPILE_SAVE_H

#include "userlib/compile/program.h"
#include "userlib/files/byte_io.h"
#include "userlib/graph/save.h"

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
