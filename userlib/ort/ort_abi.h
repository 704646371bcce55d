/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of ONNX Runtime's C ABI, version 23, that this provider uses.
 *
 * ONNX Runtime 1.23 and later ones hand out this version when they are asked for it.
 * Its function tables are structs of pointers: a table is described here by the members
 * that are called, and by the number of pointers between them. The assertions at the end
 * state each member's index in its table, which is what the ABI fixes.
 *
 * Objects of ONNX Runtime are opaque. A function that returns a status returns NULL if it
 * succeeded; the caller releases any other status.
 */
#ifndef WEFT_ORT_ABI_H
#define WEFT_ORT_ABI_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ORT_ABI_VERSION 23

struct ort_status;
struct ort_value;
struct ort_value_info;
struct ort_type_info;
struct ort_shape;
struct ort_graph;
struct ort_node;
struct ort_attr;
struct ort_logger;
struct ort_pairs;
struct ort_hardware;
struct ort_ep_device;
struct ort_support;
struct ort_session_options;
struct ort_kernel;

enum { ORT_FAIL = 1, ORT_INVALID_ARGUMENT = 2, ORT_NOT_IMPLEMENTED = 9, ORT_EP_FAIL = 11 };
enum { ORT_LOG_INFO = 1, ORT_LOG_WARNING = 2 };
enum { ORT_HARDWARE_CPU = 0, ORT_HARDWARE_NPU = 2 };

#define ORT_MAKES_HARDWARE 24  /* the version from which on a provider may make hardware */

enum ort_attr_type {
	ORT_ATTR_INT = 1,
	ORT_ATTR_INTS,
	ORT_ATTR_FLOAT,
	ORT_ATTR_FLOATS,
	ORT_ATTR_STRING,
	ORT_ATTR_STRINGS,
	ORT_ATTR_GRAPH,
	ORT_ATTR_TENSOR,
};

#define STATUS struct ort_status *

/* The general table. */
struct ort_api {
	STATUS (*create_status)(int code, const char *msg);
	void *skip_1;
	const char *(*error_message)(const struct ort_status *);
	void *skip_3[48];
	STATUS (*mutable_data)(struct ort_value *, void **data);
	void *skip_52[3];
	STATUS (*tensor_info)(const struct ort_type_info *, const struct ort_shape **); /* the type info owns *shape; NULL: it is no tensor */
	void *skip_56[4];
	STATUS (*element_type)(const struct ort_shape *, int *type); /* the same number as ONNX's TensorProto.DataType up to 16 */
	STATUS (*rank)(const struct ort_shape *, size_t *n);
	STATUS (*dimensions)(const struct ort_shape *, int64_t *dims, size_t n); /* negative: not known */
	void *skip_63[2];
	STATUS (*value_shape)(const struct ort_value *, struct ort_shape **); /* the caller releases it */
	void *skip_66[22];
	STATUS (*kernel_n_inputs)(const struct ort_kernel *, size_t *n);
	STATUS (*kernel_n_outputs)(const struct ort_kernel *, size_t *n);
	STATUS (*kernel_input)(const struct ort_kernel *, size_t i, const struct ort_value **);
	STATUS (*kernel_output)(struct ort_kernel *, size_t i, const int64_t *dims, size_t rank, struct ort_value **);
	void *skip_92;
	void (*release_status)(STATUS);
	void *skip_94[2];
	void (*release_value)(struct ort_value *);
	void *skip_97[2];
	void (*release_shape)(struct ort_shape *);
	void *skip_100[111];
	STATUS (*new_attr)(const char *name, const void *data, int len, int type, struct ort_attr **); /* len: bytes of a string; 1 for one number */
	void (*release_attr)(struct ort_attr *);
	void *skip_213[34];
	STATUS (*log)(const struct ort_logger *, int severity, const char *text, const char *file, int line, const char *function);
	void *skip_248[24];
	STATUS (*read_attr)(const struct ort_attr *, int type, void *data, size_t room, size_t *len); /* if there is no room, it fails and sets *len to what is needed */
	void *skip_273[13];
	void (*release_node)(struct ort_node *);
	void *skip_287[2];
	STATUS (*value_name)(const struct ort_value_info *, const char **);
	STATUS (*value_type)(const struct ort_value_info *, const struct ort_type_info **); /* the value info owns it */
	const struct ort_editor_api *(*editor_api)(void); /* NULL: a build that cannot make models */
	void *skip_292[3];
	void (*new_pairs)(struct ort_pairs **); /* NULL: no memory; the caller releases them */
	void (*add_pair)(struct ort_pairs *, const char *key, const char *value);
	const char *(*value_of)(const struct ort_pairs *, const char *key); /* NULL: there is no such key; the pairs own it */
	void (*pairs)(const struct ort_pairs *, const char *const **keys, const char *const **values, size_t *n);
	void *skip_299;
	void (*release_pairs)(struct ort_pairs *);
	void *skip_301[6];
	int (*hardware_type)(const struct ort_hardware *);
	void *skip_308[3];
	const struct ort_pairs *(*hardware_metadata)(const struct ort_hardware *); /* the hardware owns them */
	void *skip_312[5];
	const struct ort_ep_api *(*ep_api)(void);
	STATUS (*value_bytes)(const struct ort_value *, size_t *len);
	void *skip_319[7];
	STATUS (*initializer)(const struct ort_value_info *, const struct ort_value **); /* NULL: it is none; the graph owns it */
	void *skip_327[3];
	STATUS (*is_graph_output)(const struct ort_value_info *, bool *);
	STATUS (*is_constant)(const struct ort_value_info *, bool *);
	void *skip_332[2];
	STATUS (*model_path)(const struct ort_graph *, const char **); /* "": it was not loaded from a file */
	STATUS (*ir_version)(const struct ort_graph *, int64_t *);
	STATUS (*n_operator_sets)(const struct ort_graph *, size_t *n);
	STATUS (*operator_sets)(const struct ort_graph *, const char **domains, int64_t *versions, size_t n);
	void *skip_338[6];
	STATUS (*n_nodes)(const struct ort_graph *, size_t *n);
	STATUS (*nodes)(const struct ort_graph *, const struct ort_node **, size_t n); /* in topological order */
	STATUS (*parent_node)(const struct ort_graph *, const struct ort_node **);
	void *skip_347[2];
	STATUS (*node_name)(const struct ort_node *, const char **);
	STATUS (*node_op)(const struct ort_node *, const char **);
	STATUS (*node_domain)(const struct ort_node *, const char **);
	void *skip_352;
	STATUS (*n_inputs)(const struct ort_node *, size_t *n);
	STATUS (*inputs)(const struct ort_node *, const struct ort_value_info **, size_t n); /* NULL: left out */
	STATUS (*n_outputs)(const struct ort_node *, size_t *n);
	STATUS (*outputs)(const struct ort_node *, const struct ort_value_info **, size_t n);
	STATUS (*n_implicit)(const struct ort_node *, size_t *n); /* values that only a node's subgraphs read */
	STATUS (*implicit)(const struct ort_node *, const struct ort_value_info **, size_t n);
	STATUS (*n_attrs)(const struct ort_node *, size_t *n);
	STATUS (*attrs)(const struct ort_node *, const struct ort_attr **, size_t n);
	void *skip_361;
	STATUS (*attr_tensor)(const struct ort_attr *, struct ort_value **); /* the caller releases it */
	STATUS (*attr_type)(const struct ort_attr *, int *);
	STATUS (*attr_name)(const struct ort_attr *, const char **);
	STATUS (*n_subgraphs)(const struct ort_node *, size_t *n);
	void *skip_366[12];
	STATUS (*value_data)(const struct ort_value *, const void **);
	STATUS (*session_entries)(const struct ort_session_options *, struct ort_pairs **); /* the caller releases them */
};

/* The table for making models. Attributes are copied; ONNX Runtime owns a node that Compile hands over. */
struct ort_editor_api {
	void *skip_0[6];
	STATUS (*new_node)(const char *op, const char *domain, const char *name, const char *const *in, size_t n_in, const char *const *out,
	                   size_t n_out, struct ort_attr **, size_t n_attrs, struct ort_node **);
};

struct ort_fusion {
	uint32_t version;
	bool drop_constants;       /* constants are no inputs of the fused node */
};

struct ort_factory;

/* The table for providers. */
struct ort_ep_api {
	STATUS (*create_device)(struct ort_factory *, const struct ort_hardware *, const struct ort_pairs *metadata,
	                        const struct ort_pairs *options, struct ort_ep_device **);
	void *skip_1;
	STATUS (*fuse)(struct ort_support *, const struct ort_node *const *, size_t n, const struct ort_fusion *);
	void *skip_3[13];
	/* From version ORT_MAKES_HARDWARE on. Words and metadata are copied; who made it releases it. */
	STATUS (*new_hardware)(int type, uint32_t vendor, uint32_t device, const char *vendor_name, const struct ort_pairs *metadata,
	                       struct ort_hardware **);
	void (*release_hardware)(struct ort_hardware *);
};

/* What ONNX Runtime hands to the library's entry point. */
struct ort_api_base {
	const struct ort_api *(*get_api)(uint32_t version); /* NULL: this release does not have it */
	const char *(*release)(void);
};

/* What computes a fused node. */
struct ort_compute {
	uint32_t version;
	STATUS (*create_state)(struct ort_compute *, void *context, void **state);
	STATUS (*compute)(struct ort_compute *, void *state, struct ort_kernel *);
	void (*release_state)(struct ort_compute *, void *state);
};

/* A provider in one session; members that are NULL take ONNX Runtime's defaults. */
struct ort_ep {
	uint32_t version;
	const char *(*name)(const struct ort_ep *);
	STATUS (*capability)(struct ort_ep *, const struct ort_graph *, struct ort_support *);
	STATUS (*compile)(struct ort_ep *, const struct ort_graph **, const struct ort_node **fused, size_t n, struct ort_compute **,
	                  struct ort_node **context_nodes);
	void (*release_computes)(struct ort_ep *, struct ort_compute **, size_t n);
	void *defaults[8];
};

/* What makes providers. */
struct ort_factory {
	uint32_t version;
	const char *(*name)(const struct ort_factory *);
	const char *(*vendor)(const struct ort_factory *);
	STATUS (*devices)(struct ort_factory *, const struct ort_hardware *const *, size_t n, struct ort_ep_device **, size_t room, size_t *made);
	STATUS (*create_ep)(struct ort_factory *, const struct ort_hardware *const *, const struct ort_pairs *const *metadata, size_t n,
	                    const struct ort_session_options *, const struct ort_logger *, struct ort_ep **);
	void (*release_ep)(struct ort_factory *, struct ort_ep *);
	uint32_t (*vendor_id)(const struct ort_factory *);
	const char *(*provider_version)(const struct ort_factory *);
	void *compatibility;       /* NULL: compiled models are not judged */
	STATUS (*create_allocator)(struct ort_factory *, const void *memory, const struct ort_pairs *, void **);
	void (*release_allocator)(struct ort_factory *, void *);
	STATUS (*create_transfer)(struct ort_factory *, void **); /* may not be NULL: release 1.31.1 calls it unasked */
	bool (*stream_aware)(const struct ort_factory *);
	STATUS (*create_stream)(struct ort_factory *, const void *memory, const struct ort_pairs *, void **);
};

#define AT(type, member, index) static_assert(offsetof(struct type, member) == (index) * sizeof(void *), #type "." #member)

AT(ort_api, error_message, 2);
AT(ort_api, mutable_data, 51);
AT(ort_api, tensor_info, 55);
AT(ort_api, element_type, 60);
AT(ort_api, dimensions, 62);
AT(ort_api, value_shape, 65);
AT(ort_api, kernel_n_inputs, 88);
AT(ort_api, kernel_output, 91);
AT(ort_api, release_status, 93);
AT(ort_api, release_value, 96);
AT(ort_api, release_shape, 99);
AT(ort_api, new_attr, 211);
AT(ort_api, release_attr, 212);
AT(ort_api, log, 247);
AT(ort_api, read_attr, 272);
AT(ort_api, value_name, 289);
AT(ort_api, release_node, 286);
AT(ort_api, value_type, 290);
AT(ort_api, editor_api, 291);
AT(ort_api, new_pairs, 295);
AT(ort_api, value_of, 297);
AT(ort_api, pairs, 298);
AT(ort_api, release_pairs, 300);
AT(ort_api, hardware_type, 307);
AT(ort_api, hardware_metadata, 311);
AT(ort_api, ep_api, 317);
AT(ort_api, value_bytes, 318);
AT(ort_api, initializer, 326);
AT(ort_api, is_graph_output, 330);
AT(ort_api, is_constant, 331);
AT(ort_api, model_path, 334);
AT(ort_api, ir_version, 335);
AT(ort_api, operator_sets, 337);
AT(ort_api, n_nodes, 344);
AT(ort_api, nodes, 345);
AT(ort_api, parent_node, 346);
AT(ort_api, node_name, 349);
AT(ort_api, node_domain, 351);
AT(ort_api, n_inputs, 353);
AT(ort_api, outputs, 356);
AT(ort_api, n_attrs, 359);
AT(ort_api, attrs, 360);
AT(ort_api, attr_tensor, 362);
AT(ort_api, n_subgraphs, 365);
AT(ort_api, value_data, 378);
AT(ort_api, session_entries, 379);
AT(ort_ep_api, fuse, 2);
AT(ort_ep_api, new_hardware, 16);
AT(ort_ep_api, release_hardware, 17);
AT(ort_editor_api, new_node, 6);
AT(ort_compute, release_state, 3);
AT(ort_ep, capability, 2);
AT(ort_ep, compile, 3);
AT(ort_ep, release_computes, 4);
AT(ort_factory, create_ep, 4);
AT(ort_factory, release_ep, 5);
AT(ort_factory, provider_version, 7);
AT(ort_factory, create_transfer, 11);
AT(ort_factory, create_stream, 13);
static_assert(sizeof(struct ort_ep) == 13 * sizeof(void *), "ort_ep");
static_assert(offsetof(struct ort_fusion, drop_constants) == 4 && sizeof(struct ort_fusion) == 8, "ort_fusion");

#undef AT
#undef STATUS

#endif
