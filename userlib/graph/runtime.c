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

/* Returns the number of that name among n, of which number 0 stands for any and has no name to ask for; 0 if there is none. */
static int find(const char *const *all, int n, const char *name)
{
	for (int i = 1; i < n; i++)
		if (!strcmp(name, all[i]))
			return i;
	return 0;
}

enum weft_runtime weft_runtime_named(const char *name)
{
	return (enum weft_runtime)find(names, WEFT_N_RUNTIMES, name);
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
	return (enum weft_requant)find(requants, WEFT_N_REQUANTS, name);
}
