/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small random graphs in the shape to which networks are lowered: one to four
 * operators in sequence, with residuals and branches, every size, zero point,
 * multiplier and shift drawn from its legal range and biased to its edges.
 */
#ifndef WEFT_TESTS_RANDOM_GRAPH_H
#define WEFT_TESTS_RANDOM_GRAPH_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "userlib/graph/graph.h"

struct random_net {
	weft_graph *g;
	weft_tensor *inputs;       /* g->n_inputs, with data */
};

/*
 * The same seed gives the same graph. lanes: the array's size, around which
 * channel counts are drawn. large: tensors that do not fit a small scratchpad.
 * type: WEFT_INT8 or WEFT_INT16, of all tensors between operators; WEFT_FP8E4M3: they
 * are float8 of any encoding, or fp16.
 */
void random_net_make(struct random_net *r, uint64_t seed, int lanes, bool large, weft_dtype type);
/* The same with operators that only a device with the command alu runs. int8 or int16. */
void random_net_make_alu(struct random_net *r, uint64_t seed, int lanes, bool large, weft_dtype type);
/*
 * Graphs of one to three operators whose tensors have at most 120 elements for each lane: with few lanes they compile and run
 * within a millisecond or two. What is drawn but elements of tensors is taken from `choices`, a byte each, as long as there are
 * some, so that another byte is another choice, not another graph.
 */
void random_net_make_small(struct random_net *r, uint64_t seed, int lanes, weft_dtype type, bool alu, const uint8_t *choices, size_t n_choices);
typedef void random_net_maker(struct random_net *r, uint64_t seed, int lanes, weft_dtype type);
/* An image that is made smaller and larger again and comes beside itself, as in a U-Net, or for half of the seeds convolutions
 * that come beside all that was before them, as in a DenseNet; of up to 200000 bytes, and perhaps more behind it. int8 or
 * int16. */
void random_net_make_unet(struct random_net *r, uint64_t seed, int lanes, weft_dtype type);
/* One to three blocks as in mobile networks: more channels, depthwise, activations, squeeze-excite, fewer channels. int8 or
 * int16. */
void random_net_make_mobile(struct random_net *r, uint64_t seed, int lanes, weft_dtype type);
/* Makes what a network for images begins with: a convolution of an image of few channels, with a kernel of up to 11x11 and
 * any padding, and perhaps more operators behind it. int8 or int16. */
void random_net_make_stem(struct random_net *r, uint64_t seed, int lanes, weft_dtype type);
/* Makes a first layer of few channels: a convolution of 1 to 3 input channels, with kernels of up to 5x5, and of so few output
 * channels that neighbouring pixels become one; perhaps one more operator behind it. int8 or int16. */
void random_net_make_thin(struct random_net *r, uint64_t seed, int lanes, weft_dtype type);
/* One to four convolutions of small maps with several column tiles, which the array computes in pairs; with residual sums,
 * int4 weights and blocks of mobile networks among them. int8 or int16. */
void random_net_make_pairs(struct random_net *r, uint64_t seed, int lanes, weft_dtype type);
void random_net_free(struct random_net *r);

/* One line per operator: what a person needs to see why it failed. */
void random_net_print(const struct random_net *r, FILE *f);

#endif
