/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An ONNX file as protobuf-c's structures, and its tensors as ours.
 *
 * protobuf-c checks bounds; what it may allocate is limited here, because a
 * byte or two of a hostile file can ask for a hundred. The messages of
 * onnx.proto do not contain themselves, so parsing does not recurse further
 * than they do.
 */
#ifndef WEFT_IMPORT_ONNX_FILE_H
#define WEFT_IMPORT_ONNX_FILE_H

#include <stdbool.h>

#include <weft/tensor.h>

#include "onnx.pb-c.h"

typedef Weft__Onnx__Model onnx_model;
typedef Weft__Onnx__Graph onnx_graph;
typedef Weft__Onnx__Node onnx_node;
typedef Weft__Onnx__Attribute onnx_attribute;
typedef Weft__Onnx__Tensor onnx_tensor;

struct onnx_file {
	onnx_model *m;
	ProtobufCAllocator allocator;
	size_t room;               /* bytes that protobuf-c may still take */
	bool out_of_room, no_memory;
	size_t len;
	const char *folder;        /* where external data may lie; NULL: nowhere */
};

/* 0, -EINVAL or -ENOMEM with one line in msg; on failure nothing is left to free. */
int onnx_read(struct onnx_file *f, const void *data, size_t len, char *msg, size_t msg_bytes);
void onnx_release(struct onnx_file *f);

#define ONNX_STRING 8

/* ONNX's TensorProto.DataType as ours; 0: none (string, complex). */
weft_dtype onnx_dtype(int64_t type);
const char *onnx_dtype_name(int64_t type);

/* Type and shape, judged. 0, -EINVAL, -ENOTSUP; msg says why, without a prefix. */
int onnx_tensor_shape(const onnx_tensor *p, weft_tensor *t, char *msg, size_t msg_bytes);

/* With data from malloc; *room goes down by its bytes. */
int onnx_tensor_data(const struct onnx_file *f, const onnx_tensor *p, weft_tensor *t, int64_t *room, char *msg, size_t msg_bytes);

#endif
