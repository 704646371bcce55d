/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include <weft/runtime.h>

static const char *const names[WEFT_N_RUNTIMES] = {
	[WEFT_RUNTIME_ANY] = "any",
	[WEFT_RUNTIME_LITERT_2_3] = "litert-2.3",
	[WEFT_RUNTIME_TFLITE_2_14] = "tflite-2.14",
	[WEFT_RUNTIME_TFLM] = "tflm",
};

const char *weft_runtime_name(enum weft_runtime r)
{
	return (unsigned)r < WEFT_N_RUNTIMES ? names[r] : NULL;
}

enum weft_runtime weft_runtime_named(const char *name)
{
	for (int r = WEFT_RUNTIME_ANY + 1; r < WEFT_N_RUNTIMES; r++)
		if (!strcmp(name, names[r]))
			return (enum weft_runtime)r;
	return WEFT_RUNTIME_ANY;
}

static const char *const requants[WEFT_N_REQUANTS] = {
	[WEFT_REQUANT_ANY] = "any",
	[WEFT_REQUANT_EXACT] = "exact",
	[WEFT_REQUANT_RESCALE] = "rescale",
	[WEFT_REQUANT_RUNTIME] = "runtime",
	[WEFT_REQUANT_RUNTIME_AVX2] = "runtime-avx2",
};

const char *weft_requant_name(enum weft_requant r)
{
	return (unsigned)r < WEFT_N_REQUANTS ? requants[r] : NULL;
}

enum weft_requant weft_requant_named(const char *name)
{
	for (int r = WEFT_REQUANT_ANY + 1; r < WEFT_N_REQUANTS; r++)
		if (!strcmp(name, requants[r]))
			return (enum weft_requant)r;
	return WEFT_REQUANT_ANY;
}
