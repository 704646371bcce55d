/* SPDX-License-Identifier: Apache-2.0 */
/* Recorded networks and random streams as seeds of the fuzz targets. */
#ifndef WEFT_TESTS_RECORDED_SEEDS_H
#define WEFT_TESTS_RECORDED_SEEDS_H

#include <stddef.h>
#include <stdint.h>

/* Takes a seed of n bytes for a target; the same name may come twice. */
typedef void recorded_seed(const char *target, const char *name, const uint8_t *p, size_t n);

/*
 * Gives each recorded network of one operator (one of each name) and of control flow that is small: as it is for the target tflite,
 * and for tosa what it becomes; and random streams that are short for the targets stream and rtl. Fails the program if a file cannot
 * be read.
 */
void recorded_seeds(recorded_seed *give);

#endif
