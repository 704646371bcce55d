/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whose bits a .tflite network gives. TensorFlow Lite's reference kernels changed
 * over the years; docs/tflite.md has a table kernel x release x rule.
 */
#ifndef WEFT_RUNTIME_H
#define WEFT_RUNTIME_H

#include <weft/api.h>

#ifdef __cplusplus
extern "C" {
#endif

enum weft_runtime {
	WEFT_RUNTIME_ANY,          /* not said: the newest; in a compiled network that did not come from .tflite, none */
	WEFT_RUNTIME_LITERT_2_3,   /* ai-edge-litert 2.3, the newest */
	WEFT_RUNTIME_TFLITE_2_14,  /* tflite-runtime 2.14 */
	WEFT_RUNTIME_TFLM,         /* TensorFlow Lite for Microcontrollers */
	WEFT_N_RUNTIMES
};

/** "litert-2.3", "tflite-2.14", "tflm"; "any" for WEFT_RUNTIME_ANY, NULL for other numbers. */
WEFT_API const char *weft_runtime_name(enum weft_runtime r);

/** The runtime of that name, or WEFT_RUNTIME_ANY: there is none. */
WEFT_API enum weft_runtime weft_runtime_named(const char *name);

#ifdef __cplusplus
}
#endif
#endif
