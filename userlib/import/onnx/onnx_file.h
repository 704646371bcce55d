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
	onnx_model *m;             /* the parsed model */
	ProtobufCAllocator allocator;
	size_t room;               /* bytes that protobuf-c may still take */
	bool out_of_room, no_memory;   /* why an allocation of protobuf-c's was refused */
	size_t len;                /* bytes of the file */
	const char *folder;        /* the folder in which external data may lie; NULL: nowhere */
	struct onnx_external *ext; /* files of external data that are open; NULL: none yet */
};

/*
 * Parses len bytes into f->m. Returns 0, -EINVAL or -ENOMEM; after a failure one line is in msg and
 * nothing is left to free.
 */
WEFT_MUST_USE int onnx_read(struct onnx_file *f, const void *data, size_t len, char *msg, size_t msg_bytes);
void onnx_release(struct onnx_file *f);             /* frees the parsed model */

/*
 * onnx_external.c: reads tensor p's external data, which has to be `bytes` bytes, into *data, from
 * malloc with one byte more. The file has to lie in the model's folder, and all that is kept of its
 * files (`kept` bytes of this one) is bounded by their sizes. Returns 0, or a negative errno with the
 * reason in msg.
 */
WEFT_MUST_USE int onnx_external_read(struct onnx_file *f, const onnx_tensor *p, size_t bytes, size_t kept, void **data, char *msg, size_t msg_bytes);
void onnx_external_close(struct onnx_file *f);      /* closes the files of external data */

#define ONNX_STRING 8          /* TensorProto.DataType of strings */

/* Returns our type for a TensorProto.DataType, or 0 if we have none (string, complex). */
weft_dtype onnx_dtype(int64_t type);
const char *onnx_dtype_name(int64_t type);          /* the name of a TensorProto.DataType, or "unknown" */

/*
 * Sets *t to p's type and shape, checked, without data. Returns 0, -EINVAL or -ENOTSUP; msg says why,
 * without the tensor's name.
 */
WEFT_MUST_USE int onnx_tensor_shape(const onnx_tensor *p, weft_tensor *t, char *msg, size_t msg_bytes);

/*
 * Sets *t to p's type, shape and data, which comes from malloc and whose bytes are taken from *room
 * unless it is in a file of its own. Returns 0 or a negative errno with the reason in msg.
 */
WEFT_MUST_USE int onnx_tensor_data(struct onnx_file *f, const onnx_tensor *p, weft_tensor *t, int64_t *room, char *msg, size_t msg_bytes);

#endif
