/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of LiteRT's C interface that label_image.c uses, as libLiteRt.so of ai-edge-litert 2.3
 * exports it; PyPI's wheel has that library but no headers. Who has LiteRT's own headers takes those.
 *
 * Objects are opaque. Functions return LITERT_OK or another number.
 */
#ifndef WEFT_EXAMPLE_LITERT_H
#define WEFT_EXAMPLE_LITERT_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

typedef struct LiteRtEnvironmentT *LiteRtEnvironment;
typedef struct LiteRtAcceleratorT *LiteRtAccelerator;
typedef struct LiteRtDelegateWrapperT *LiteRtDelegateWrapper;
typedef struct LiteRtOptionsT *LiteRtOptions;
typedef struct LiteRtModelT *LiteRtModel;
typedef struct LiteRtSignatureT *LiteRtSignature;
typedef struct LiteRtTensorT *LiteRtTensor;
typedef struct LiteRtCompiledModelT *LiteRtCompiledModel;
typedef struct LiteRtTensorBufferT *LiteRtTensorBuffer;
struct TfLiteDelegate;         /* what tflite_plugin_create_delegate() of an external delegate returns */

enum { LITERT_OK = 0, LITERT_RUNTIME_FAILURE = 3 };
enum { LITERT_CPU = 1, LITERT_GPU = 2 };       /* a set of kinds of hardware is a sum of these */
enum { LITERT_FLOAT32 = 1, LITERT_UINT8 = 3, LITERT_INT8 = 9 };
enum { LITERT_HOST_MEMORY = 1 };
enum { LITERT_READ = 0, LITERT_WRITE = 1 };
enum { LITERT_PER_TENSOR = 1 };
enum { LITERT_OPTION_AUTO_REGISTER = 24, LITERT_ANY_INT = 2 };

typedef struct {
	int tag, padding;
	struct { int type; int64_t value; } any;
} LiteRtEnvOption;

typedef struct { int major, minor, patch; } LiteRtApiVersion;

typedef struct {
	int element_type;
	unsigned int rank : 7, has_strides : 1;
	int32_t dimensions[8];
	uint32_t strides[8];
} LiteRtRankedTensorType;

typedef struct {
	float scale;
	int64_t zero_point;
} LiteRtQuantizationPerTensor;

static_assert(sizeof(LiteRtEnvOption) == 24 && offsetof(LiteRtEnvOption, any) == 8, "LiteRtEnvOption");
static_assert(sizeof(LiteRtRankedTensorType) == 72 && offsetof(LiteRtRankedTensorType, dimensions) == 8, "LiteRtRankedTensorType");
static_assert(sizeof(LiteRtQuantizationPerTensor) == 16, "LiteRtQuantizationPerTensor");

int LiteRtCreateEnvironment(int n_options, const LiteRtEnvOption *, LiteRtEnvironment *);
void LiteRtDestroyEnvironment(LiteRtEnvironment);

/* An accelerator makes the delegate of each compiled model. The environment owns one that is registered, also after a failure. */
int LiteRtCreateAccelerator(LiteRtAccelerator *);
int LiteRtDestroyAccelerator(LiteRtAccelerator);
int LiteRtSetAcceleratorGetName(LiteRtAccelerator, int (*)(LiteRtAccelerator, const char **name));
int LiteRtSetAcceleratorGetVersion(LiteRtAccelerator, int (*)(LiteRtAccelerator, LiteRtApiVersion *));
int LiteRtSetAcceleratorGetHardwareSupport(LiteRtAccelerator, int (*)(LiteRtAccelerator, int *set));
int LiteRtSetDelegateFunction(LiteRtAccelerator,
                              int (*)(void *runtime, LiteRtEnvironment, LiteRtAccelerator, LiteRtOptions, LiteRtDelegateWrapper *));
int LiteRtRegisterAccelerator(LiteRtEnvironment, LiteRtAccelerator, void *data, void (*release)(void *));
int LiteRtWrapDelegate(struct TfLiteDelegate *, void (*destroy)(struct TfLiteDelegate *), LiteRtDelegateWrapper *);

int LiteRtCreateOptions(LiteRtOptions *);
void LiteRtDestroyOptions(LiteRtOptions);
int LiteRtSetOptionsHardwareAccelerators(LiteRtOptions, int set);

int LiteRtCreateModelFromFile(LiteRtEnvironment, const char *path, LiteRtModel *);
void LiteRtDestroyModel(LiteRtModel);
int LiteRtGetModelSignature(LiteRtModel, size_t i, LiteRtSignature *);
int LiteRtGetNumSignatureInputs(LiteRtSignature, size_t *);
int LiteRtGetNumSignatureOutputs(LiteRtSignature, size_t *);
int LiteRtGetSignatureInputTensorByIndex(LiteRtSignature, size_t i, LiteRtTensor *);
int LiteRtGetSignatureOutputTensorByIndex(LiteRtSignature, size_t i, LiteRtTensor *);
int LiteRtGetRankedTensorType(LiteRtTensor, LiteRtRankedTensorType *);
int LiteRtGetQuantizationTypeId(LiteRtTensor, int *);
int LiteRtGetPerTensorQuantization(LiteRtTensor, LiteRtQuantizationPerTensor *);

int LiteRtCreateCompiledModel(LiteRtEnvironment, LiteRtModel, LiteRtOptions, LiteRtCompiledModel *);
void LiteRtDestroyCompiledModel(LiteRtCompiledModel);
int LiteRtRunCompiledModel(LiteRtCompiledModel, size_t signature, size_t n_inputs, LiteRtTensorBuffer *, size_t n_outputs, LiteRtTensorBuffer *);

int LiteRtCreateManagedTensorBuffer(LiteRtEnvironment, int kind, const LiteRtRankedTensorType *, size_t n_bytes, LiteRtTensorBuffer *);
void LiteRtDestroyTensorBuffer(LiteRtTensorBuffer);
int LiteRtLockTensorBuffer(LiteRtTensorBuffer, void **data, int mode);
int LiteRtUnlockTensorBuffer(LiteRtTensorBuffer);

#endif
