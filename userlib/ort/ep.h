/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the provider's files share: its options, a graph as they see it, and the error path.
 */
#ifndef WEFT_ORT_EP_H
#define WEFT_ORT_EP_H

#include <weft/weft.h>

#include "ort_abi.h"
#include "userlib/plugin/plugin.h"

#define ORT_PROVIDER "WeftExecutionProvider"

/* What the session asks for of EPContext nodes (context.h). */
struct context_options {
	bool enable;               /* ep.context_enable: compile to a model of such nodes */
	bool embed;                /* ep.context_embed_mode: contexts lie in the nodes, not in files */
	char path[PLUGIN_PATH];    /* ep.context_file_path: that model's file; "": the source model's with _ctx */
};

/* The provider in one session of ONNX Runtime; ort comes first, so that a pointer to it is one to this. */
struct provider {
	struct ort_ep ort;
	const struct ort_api *api;
	const struct ort_logger *log;
	struct plugin_options options;
	struct context_options context;
	struct plugin_device *device; /* on which parts are opened, until all are; NULL: none is yet */
	struct kept *kept;         /* parts that GetCapability has opened and Compile has not yet taken */
	int n_parts;               /* parts that were opened */
};

/* A node and its values. The arrays belong to this struct, what they point to to ONNX Runtime. */
struct node {
	const struct ort_node *ort;
	const char *op, *domain;   /* the operator's name and domain */
	const struct ort_value_info **in, **out;   /* inputs and results; NULL: left out */
	size_t n_in, n_out;
	size_t n_read;             /* length of in: n_in inputs, and behind them the values that only subgraphs read */
};

/* Nodes that become one network, and the values at its edges. */
struct part {
	const struct ort_graph *graph;
	const struct node *const *nodes;   /* n nodes in topological order */
	size_t n;
	const struct ort_value_info **in, **out;   /* the network's inputs and outputs */
	size_t n_in, n_out;
};

/* A part that is open, and the number of its nodes; these and the names of its ports tell it from others. */
struct kept {
	struct plugin_part part;
	struct kept *next;
	size_t n_nodes;
};

/* Returns a status with that code and one line, cut after WEFT_MSG_LEN + 63 characters. */
struct ort_status *fail_ort(const struct ort_api *api, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Says whether a call succeeded, which its status does by being NULL; releases any other status. */
bool ort_ok(const struct ort_api *api, struct ort_status *status);

/* Returns the name of a value, which ONNX Runtime owns; "" if it is left out or cannot be read. */
const char *name_of(const struct ort_api *api, const struct ort_value_info *v);

/**
 * Read a node of ONNX Runtime into *out: operator, domain, inputs, results, and behind the inputs the
 * values that only its subgraphs read. The caller calls node_free() in each case.
 * @return 0; -EINVAL: a call to ONNX Runtime failed; -ENOMEM
 */
WEFT_MUST_USE int node_read(const struct ort_api *api, const struct ort_node *ort, struct node *out);
/** Free a node's arrays. */
void node_free(struct node *n);

/**
 * Read all nodes of a graph; *n becomes their number.
 * @return an array of *n nodes in topological order, for nodes_free(); NULL: no memory, or a call to ONNX
 *         Runtime failed; *n does not count then
 */
struct node *nodes_read(const struct ort_api *api, const struct ort_graph *graph, size_t *n);
void nodes_free(struct node *nodes, size_t n);

/**
 * Returns the bytes of an attribute of that type, as ONNX Runtime gives them, and their number in *len;
 * from calloc, with a zero byte behind, and the caller frees them. NULL: no memory, or they cannot be
 * read. If ONNX Runtime says no length, as for an attribute of another type, there are 0 bytes.
 */
void *attr_bytes(const struct ort_api *api, const struct ort_attr *a, int type, size_t *len);

/**
 * Return how many multiplications a node needs: of a convolution, the result's elements times the weights
 * of one output channel; of a transposed one, the input's elements times the weights of one input
 * channel; of a product of matrices, the result's elements times the inner dimension; of a recurrent layer, each
 * weight once in each step; of ONNX's own Attention, queries by keys and weights by values; of Einsum, the lengths of
 * all labels. 0 where a shape is not known, open, or of more than 16 dimensions, and for all other operators. Which
 * operators count says the table in macs.c, by name and, but for Attention, in whatever domain. `weft info` counts the same
 * (userlib/compile/program_tables.c, node_macs.c).
 */
uint64_t macs_of(const struct ort_api *api, const struct node *n);

/**
 * Read an attribute of a node.
 * @param type  ORT_ATTR_..., which the attribute has to have
 * @param[out] len  bytes of the value; set only with one
 * @return the value, from calloc with a zero byte behind, which the caller frees; NULL: there is none, it cannot be read, or no memory
 */
char *node_attr(const struct ort_api *api, const struct node *n, const char *name, int type, size_t *len);

/**
 * Write a part as an ONNX model with its constants.
 * @param[out] out  The model's *len bytes, from malloc; set only on success.
 * @return 0; -ENOTSUP: a type, attribute or open dimension that cannot be written; -ENOMEM; with
 *         one line in msg
 */
WEFT_MUST_USE int part_write(const struct ort_api *api, const struct part *p, uint8_t **out, size_t *len, char msg WEFT_ROOM(WEFT_MSG_LEN));

/**
 * Write a part as an ONNX model and load it as a network, with the provider's options for how sums become
 * 8 bits and the defaults for all others. @return 0 with the network in *net, which the caller frees; or a
 * negative errno of part_write() or of loading, with one line in msg
 */
WEFT_MUST_USE int part_load(const struct provider *p, const struct part *part, weft_net **net, char msg WEFT_ROOM(WEFT_MSG_LEN));

/** Close the parts that were kept and not taken, and leave the device; p->kept and p->device are NULL then. */
void forget_kept(struct provider *p);

/**
 * The provider's GetCapability: tells ONNX Runtime which nodes of the graph the provider takes, as
 * which parts, and logs one line about it. Their opened networks wait in the provider's list `kept`. A graph
 * inside of a node is left alone, without a line, as is one of which ONNX Runtime cannot say whether it is.
 * @return NULL, also if nothing is taken, or a status, without that line: the graph's nodes cannot be read,
 * there is no memory, or ONNX Runtime refuses a part
 */
struct ort_status *find_parts(struct ort_ep *ep, const struct ort_graph *graph, struct ort_support *support);

/**
 * The provider's Compile: makes computes[i] for each of the n fused nodes, whose inner graph is
 * graphs[i], from the parts that were kept, or by loading them now; and, if the session asks for them, its
 * EPContext node context_nodes[i], which ONNX Runtime owns afterwards. At the end parts that were kept and
 * not needed are closed, and the device is left. After a failure nothing is left of any fused node, both lists
 * are NULL as far as they were written, and parts that were kept stay so until forget_kept(). release_parts()
 * frees n of them. @return NULL or a status with the reason:
 * ORT_INVALID_ARGUMENT for -EINVAL, otherwise ORT_EP_FAIL
 */
struct ort_status *compile_parts(struct ort_ep *ep, const struct ort_graph **graphs, const struct ort_node **fused, size_t n,
                                 struct ort_compute **computes, struct ort_node **context_nodes);
void release_parts(struct ort_ep *ep, struct ort_compute **computes, size_t n);

/**
 * Returns the library's type for ONNX Runtime's number of an element type; 0 if such tensors cannot be
 * exchanged.
 */
weft_dtype dtype_of(int element_type);

#endif
