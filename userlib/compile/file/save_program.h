/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sections of a .weft container. Each function but save_check() writes the section
 * from the program into io, or reads the section from io into the program, as io->write
 * says. Reading allocates the program's array; weft_program_free() frees it. A failure
 * sets io->err, and nothing more happens then.
 */
#ifndef WEFT_COMPILE_SAVE_H
#define WEFT_COMPILE_SAVE_H

#include "userlib/compile/program.h"
#include "userlib/files/byte_io.h"
#include "userlib/graph/save.h"

void save_head(struct io *io, weft_program *p);      /* HEAD: configuration, bytes of the arena */
void save_steps(struct io *io, weft_program *p);     /* STEP: steps with their estimates */
void save_tensors(struct io *io, weft_program *p);   /* TENS: place, lifetime and size of each tensor */
void save_ops(struct io *io, weft_program *p);       /* OPER: unit, step, estimates and reason of each operator */
void save_cmds(struct io *io, weft_program *p);      /* DBGC: for each command its operator and its debug records */
void save_recs(struct io *io, weft_program *p);      /* DBGR: debug records */
void save_late(struct io *io, weft_program *p);      /* LATE: scales and weights known only as the program runs */

/* Check a program that has been read with its graph: io->err becomes -EINVAL if a table names what is not there. */
void save_check(struct io *io, const weft_program *p);

#endif
