/* SPDX-License-Identifier: Apache-2.0 */
/*
 * EPContext nodes: a part that was compiled before. ONNX Runtime writes a model of such nodes if a
 * session asks for it (ep.context_enable), and runs that model like any other.
 *
 * A node's context is a compiled network (a .weft file) with what it belongs to in front:
 *
 *     "WEFTCTX1"
 *     SHA-256 of everything behind
 *     six fields, each with its length (64 bits, little-endian) in front:
 *       the library's version; the configuration; the option requant; SHA-256 of the source model's
 *       file, or nothing if it was not a file; names of the node's inputs and outputs; the .weft file
 *
 * It lies in the node's attribute ep_cache_context, or in a file that this names (embed_mode 0).
 */
#ifndef WEFT_ORT_CONTEXT_H
#define WEFT_ORT_CONTEXT_H

#include "ep.h"

/** Says whether a node is an EPContext node of any provider's. */
bool context_any(const struct node *n);

/**
 * Says whether a node is an EPContext node whose attribute `source` names this provider; false also if
 * that cannot be read.
 */
bool context_ours(const struct ort_api *api, const struct node *n);

/**
 * Load the network of a node of ours, after checking that its context is whole, and that it belongs to
 * this library, to the provider's options, to this node, and, if the source model lies beside the model,
 * to that. Files are looked for in the folder of the graph's model, or without one in that of
 * ep.context_file_path.
 * @return 0 with the network in *net; -EINVAL: the context is damaged or belongs to something else;
 *         -ENOTDIR: the context is in a file and no folder is known; another negative errno of reading or
 *         loading it; with one line in msg
 */
WEFT_MUST_USE int context_load(const struct provider *p, const struct ort_graph *graph, const struct node *n, weft_net **net,
                 char msg WEFT_ROOM(WEFT_MSG_LEN));

/**
 * Make the EPContext node for a fused node, called `name`, whose network is `net`; with embed_mode 0 its
 * context is written to a file beside the model that ONNX Runtime will write.
 * @param part      The fused node's edges and graph.
 * @param[out] out  Set only on success. ONNX Runtime owns it once Compile has succeeded.
 * @return 0; -EFBIG: the context has more than 2^31 - 1 bytes; -EINVAL: no path is known for its file, or
 *         ONNX Runtime cannot make the node; -ENOMEM; or a negative errno of compiling or writing; with
 *         one line in msg
 */
WEFT_MUST_USE int context_make(const struct provider *p, const struct part *part, const char *name, const weft_net *net, struct ort_node **out,
                 char msg WEFT_ROOM(WEFT_MSG_LEN));

#endif
