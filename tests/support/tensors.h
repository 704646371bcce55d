/* SPDX-License-Identifier: Apache-2.0 */
/* Small tensors for tests, filled and read as integers whatever their type. */
#ifndef WEFT_TESTS_TENSORS_H
#define WEFT_TESTS_TENSORS_H

#include <stdint.h>

#include <weft/tensor.h>

/* Zeroed; a test that runs out of memory ends. */
weft_tensor *tensor_new(weft_dtype dtype, int rank, const int64_t *dim);
void tensor_free(weft_tensor *t); /* NULL is allowed */

#define DIMS(...) ((const int64_t[]){ __VA_ARGS__ })
#define TENSOR(dtype, ...) \
	tensor_new(dtype, (int)(sizeof(DIMS(__VA_ARGS__)) / sizeof(int64_t)), DIMS(__VA_ARGS__))

/* Element i of an integer tensor (bytes of a float one). */
void tensor_set(weft_tensor *t, int64_t i, int64_t v);
int64_t tensor_get(const weft_tensor *t, int64_t i);

/* The values in order, as many as the tensor has elements. */
weft_tensor *tensor_fill(weft_tensor *t, const int64_t *v);
#define VALUES(t, ...) tensor_fill(t, (const int64_t[]){ __VA_ARGS__ })

/* Full range of the type, repeatable from *state. */
weft_tensor *tensor_random(weft_tensor *t, uint64_t *state);
uint64_t test_random(uint64_t *state);
uint64_t test_below(uint64_t *state, uint64_t n);  /* from 0 to n - 1 */

#endif
