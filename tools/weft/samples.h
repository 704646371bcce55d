/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOOLS_WEFT_SAMPLES_H
#define TOOLS_WEFT_SAMPLES_H

#include "weft_cmd.h"

/* A folder of inputs for a network; samples_close() also after a failure. */
struct samples {
	const char *dir;
	const weft_net *net;
	bool pictures;
	long *number;
	char **picture;
	int n;
	bool told;                 /* samples_read() has failed and said why */
};

/** 0, or a status with a message. */
int samples_open(struct samples *s, const char *dir, const weft_net *net);
void samples_close(struct samples *s);

/** weft_quantize_options.sample; user is a struct samples. Tells of failures itself, and leaves msg empty. Returns as that says. */
int samples_read(void *user, int i, weft_tensor *inputs, int n, char *msg);

#endif
