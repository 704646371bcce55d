/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the provider's files share: its options, a graph as they see it, and the error path.
 */
#ifndef WEFT_ORT_EP_H
#define WEFT_ORT_EP_H

#include <weft/weft.h>

#include "ort_abi.h"

#define ORT_PROVIDER "WeftExecutionProvider"

struct provider_options {
	enum weft_device device;
	char usb[64];              /* which card; "": any */
	char config[16];
	bool check;
	bool rescale, runtime;     /* how sums become 8 bits; see struct weft_load_options */
};

/* The provider in one session of ONNX Runtime; ort comes first, so that a pointer to it is one to this. */
struct provider {
	struct ort_ep ort;
	const struct ort_api *api;
	const struct ort_logger *log;
	struct provider_options options;
};

/* A node and its values; what is in the arrays belongs to ONNX Runtime, the arrays to this. */
struct node {
	const struct ort_node *ort;
	const char *op, *domain;
	const struct ort_value_info **in, **out;
	size_t n_in, n_out;
	size_t n_read;             /* of in: n_in, and behind them what only subgraphs read */
};

/* Nodes that become one network, and its edges. */
struct part {
	const struct ort_graph *graph;
	const struct node *const *nodes;
	size_t n;
	const struct ort_value_info **in, **out;
	size_t n_in, n_out;
};

/* A status of this line; the length is limited to WEFT_MSG_LEN. */
struct ort_status *fail_ort(const struct ort_api *api, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Did a call succeed? Its status is released. */
bool ort_ok(const struct ort_api *api, struct ort_status *status);

/* The name of a value; "" if it is left out. */
const char *name_of(const struct ort_api *api, const struct ort_value_info *v);

/** Take session options that begin with "ep.weftexecutionprovider."; others are none of the provider's. */
struct ort_status *take_options(const struct ort_api *api, const struct ort_session_options *o, struct provider_options *out);

/** Read a node. @return 0, -EINVAL, -ENOMEM; node_free() in each case */
int node_read(const struct ort_api *api, const struct ort_node *ort, struct node *out);
void node_free(struct node *n);

/** All nodes of a graph, in topological order. @return an array of *n from malloc, for nodes_free(); NULL: no memory, or a call failed */
struct node *nodes_read(const struct ort_api *api, const struct ort_graph *graph, size_t *n);
void nodes_free(struct node *nodes, size_t n);

/**
 * Write a part as an ONNX model.
 * @param[out] out  From malloc.
 * @return 0; -ENOTSUP with msg: something that cannot be written; -ENOMEM
 */
int part_write(const struct ort_api *api, const struct part *p, uint8_t **out, size_t *len, char msg WEFT_ROOM(WEFT_MSG_LEN));

/** Write a part and load it as a network. @return 0 or a negative errno with msg */
int part_load(const struct provider *p, const struct part *part, weft_net **net, char msg WEFT_ROOM(WEFT_MSG_LEN));

/** A session for a network with the provider's options. @return as weft_session_open() */
int open_session(const struct provider *p, const weft_net *net, weft_session **s, char msg WEFT_ROOM(WEFT_MSG_LEN));

/** The provider's GetCapability: which nodes it takes. */
struct ort_status *find_parts(struct ort_ep *ep, const struct ort_graph *graph, struct ort_support *support);

/** The provider's Compile, and its inverse. */
struct ort_status *compile_parts(struct ort_ep *ep, const struct ort_graph **graphs, const struct ort_node **fused, size_t n,
                                 struct ort_compute **computes, struct ort_node **context_nodes);
void release_parts(struct ort_ep *ep, struct ort_compute **computes, size_t n);

/** The library's type of ONNX's element type, 0 if tensors of it cannot be exchanged. */
weft_dtype dtype_of(int element_type);

#endif
