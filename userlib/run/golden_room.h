/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Golden's tensors in memory that processes share: one fills it, operator by
 * operator, while those that it forked before wait for what they need.
 */
#ifndef WEFT_RUN_GOLDEN_ROOM_H
#define WEFT_RUN_GOLDEN_ROOM_H

#include "userlib/run/golden_exec.h"

struct weft_golden_room;

/**
 * Room for tensors of a checked graph, which outlives the room.
 * @param want    By tensor: room for it?
 * @param shared  false: who fills it does so before it forks anyone.
 * @return NULL: out of memory
 */
struct weft_golden_room *weft_golden_room_new(const weft_graph *g, const bool *want, bool shared);
void weft_golden_room_free(struct weft_golden_room *r);

/** By tensor of the graph. Their data is there from the beginning, but not yet what is in it; NULL where none is wanted. */
weft_tensor *weft_golden_room_tensors(struct weft_golden_room *r);

/** Make them. @return as weft_golden_exec_vars() */
int weft_golden_room_fill(struct weft_golden_room *r, struct weft_vars *vars, const weft_tensor *inputs, char *msg);

/** Until a tensor is what it will be. Whoever fills the room must not die before those who wait. */
void weft_golden_room_wait(const struct weft_golden_room *r, int tensor);

#endif
