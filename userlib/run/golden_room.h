/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Golden's tensors in memory that processes share: one process fills it, operator by operator,
 * while the processes that it forked before wait for the tensors that they need.
 */
#ifndef WEFT_RUN_GOLDEN_ROOM_H
#define WEFT_RUN_GOLDEN_ROOM_H

#include "userlib/run/golden_exec.h"

struct weft_golden_room;

/**
 * Make room for tensors of a checked graph, which outlives the room.
 * @param want    want[i]: make room for tensor i; constants get none, wanted or not.
 * @param shared  Processes that are forked later share the memory. False is enough if the room is
 *                filled before any process is forked.
 * @return the room, which weft_golden_room_free() frees; NULL: out of memory
 */
struct weft_golden_room *weft_golden_room_new(const weft_graph *g, const bool *want, bool shared);
void weft_golden_room_free(struct weft_golden_room *r);

/**
 * Returns the graph's tensors, by their index; the room owns them. Tensors that were wanted have memory from
 * the beginning, but no values before weft_golden_room_fill() has made them; the data of tensors that were
 * not wanted is NULL.
 */
weft_tensor *weft_golden_room_tensors(struct weft_golden_room *r);

/** Run golden on the inputs and leave the wanted tensors in the room. @return as weft_golden_exec_vars() */
WEFT_MUST_USE int weft_golden_room_fill(struct weft_golden_room *r, struct weft_vars *vars, const weft_tensor *inputs, char *msg);

/**
 * Wait until weft_golden_room_fill(), in this or another process, has made a tensor. There is no time
 * limit: the process that fills the room must not die before those who wait.
 */
void weft_golden_room_wait(const struct weft_golden_room *r, int tensor);

#endif
