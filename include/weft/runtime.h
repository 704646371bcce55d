/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The release of TensorFlow Lite whose results a .tflite network gives, bit for bit. Its reference
 * kernels changed over the years; docs/tflite.md has a table of kernels, releases and rules. And the arithmetic by
 * which an .onnx network's sums become codes; docs/onnx.md. The functions are thread-safe and touch nothing but their
 * arguments.
 */
#ifndef WEFT_RUNTIME_H
#define WEFT_RUNTIME_H

#include <weft/api.h>

#ifdef __cplusplus
extern "C" {
#endif

enum weft_runtime {
	WEFT_RUNTIME_ANY,          /* not stated: the newest; of a network that does not come from .tflite: none */
	WEFT_RUNTIME_LITERT_2_3,   /* ai-edge-litert 2.3, the newest */
	WEFT_RUNTIME_TFLITE_2_14,  /* tflite-runtime 2.14 */
	WEFT_RUNTIME_TFLM,         /* TensorFlow Lite for Microcontrollers */
	WEFT_N_RUNTIMES
};

/** Returns "litert-2.3", "tflite-2.14", "tflm"; "any" for WEFT_RUNTIME_ANY; NULL for a number that is none. */
WEFT_API const char *weft_runtime_name(enum weft_runtime r);

/** Returns the runtime of that name; WEFT_RUNTIME_ANY if there is none. */
WEFT_API enum weft_runtime weft_runtime_named(const char *name);

enum weft_requant {
	WEFT_REQUANT_ANY,          /* not stated; of a network that does not come from .onnx: none */
	WEFT_REQUANT_EXACT,        /* ONNX's bits */
	WEFT_REQUANT_RESCALE,      /* the nearest RESCALE */
	WEFT_REQUANT_RUNTIME,      /* ONNX Runtime's own arithmetic */
	WEFT_REQUANT_RUNTIME_AVX2, /* that of processors without VNNI, whose sums of uint8 by int8 saturate */
	WEFT_N_REQUANTS
};

/** Returns "exact", "rescale", "runtime", "runtime-avx2"; "any" for WEFT_REQUANT_ANY; NULL for a number that is none. */
WEFT_API const char *weft_requant_name(enum weft_requant r);

/** Returns the arithmetic of that name; WEFT_REQUANT_ANY if there is none. */
WEFT_API enum weft_requant weft_requant_named(const char *name);

#ifdef __cplusplus
}
#endif
#endif
