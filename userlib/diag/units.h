/* SPDX-License-Identifier: Apache-2.0 */
/* From the streams of the test of the units that do not end to the block that holds them up. */
#ifndef WEFT_USERLIB_DIAG_UNITS_H
#define WEFT_USERLIB_DIAG_UNITS_H

#include <stdbool.h>

/* The streams of the test, each with one kind of command, in the order in which they run. */
enum part { PART_END, PART_LOAD, PART_STORE, PART_ALU, PART_ELT, PART_POOL, PART_DW, PART_RAW, PART_CONV, N_PARTS };

/*
 * Returns the id of the message (DIAG-RUN-1 to -6) about the block that explains best which streams did not
 * end (stops[part]; at least one did not) and which commands of their own did not retire (retires[part]).
 * A stream that was not run counts as one that ended.
 */
const char *diag_culprit(const bool stops[N_PARTS], const bool retires[N_PARTS]);

#endif
