/* SPDX-License-Identifier: Apache-2.0 */
/* Windows over up to three axes behind batch and channels, from a node's attributes. */
#ifndef WEFT_GOLDEN_ONNX_WINDOW_H
#define WEFT_GOLDEN_ONNX_WINDOW_H

#include "sim/golden/onnx/ref/ref.h"

/* Where the attributes of a window stand: auto_pad, then four lists. */
enum { AUTO_PAD, KERNEL = 1, STRIDES = 10, DILATIONS = 19, PADS = 28, BEHIND_WINDOW = 37 };

struct window {
	int n;
	int64_t in[3], kernel[3], stride[3], dilation[3], before[3], after[3], out[3];
};

/* x [N,C,...]; kernel NULL: the attribute. ceil rounds up, but no window starts in the padding behind. */
int ref_window_of(struct ref *r, const weft_tensor *x, const int64_t *kernel, bool ceil, struct window *w);

/* Result k: of type t, operand 0's images with so many channels of place[0] x place[1] ... places (win.out, or win.in of ConvTranspose). */
int ref_y_images(struct ref *r, int k, weft_dtype t, int64_t channels, const int64_t *place);

/* Of ConvTranspose: the window that leads from the result (w->in) to x (w->out). */
int ref_transposed_window(struct ref *r, struct window *w);

/* Window p, tap k (both counted through): its place in the image, or -1 in the padding. */
int64_t ref_tap(const struct window *w, int64_t p, int64_t k);
/* Returns how many taps of window p lie in the image or in its padding. With ceil_mode, other taps may lie behind both. */
int64_t ref_padded_taps(const struct window *w, int64_t p);
int64_t ref_taps(const struct window *w);       /* of one window */
int64_t ref_places(const int64_t *dim, int n);  /* their product */

#endif
