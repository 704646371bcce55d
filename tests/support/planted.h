/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ten faults that change what the project's own networks compute on the RTL of
 * w16, in both arithmetic modes.
 */
#ifndef TESTS_SUPPORT_PLANTED_H
#define TESTS_SUPPORT_PLANTED_H

#include <weft/dev.h>

static const char int8[] = "tests/models/digits_int8.tflite", int16[] = "tests/models/digits_int16x8.tflite";

static const struct { const char *model; struct weft_plant plant; } failures[] = {
	{ int8, { .kind = WEFT_PLANT_PE, .row = 3, .col = 5, .bit = 17 } },
	{ int8, { .kind = WEFT_PLANT_PE, .row = 0, .col = 0, .bit = 9 } },
	{ int8, { .kind = WEFT_PLANT_PE, .row = 15, .col = 2, .bit = 20 } },
	{ int8, { .kind = WEFT_PLANT_LANE, .lane = 2, .bit = 33 } },
	{ int8, { .kind = WEFT_PLANT_LANE, .lane = 9, .bit = 40 } },
	{ int16, { .kind = WEFT_PLANT_PE, .row = 7, .col = 7, .bit = 30 } },
	{ int16, { .kind = WEFT_PLANT_PE, .row = 1, .col = 4, .bit = 25 } },
	{ int16, { .kind = WEFT_PLANT_LANE, .lane = 0, .bit = 40 } },
	{ int16, { .kind = WEFT_PLANT_LANE, .lane = 15, .bit = 42 } },
	{ int8, { .kind = WEFT_PLANT_LANE, .lane = 2, .bit = 35 } },
};

#endif
