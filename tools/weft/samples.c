/* SPDX-License-Identifier: Apache-2.0 */
/* A folder of inputs: <n>_<input>.npy for each input, or pictures. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "samples.h"

static bool is_picture(const char *s)
{
	return ends_with(s, ".png") || ends_with(s, ".jpg") || ends_with(s, ".jpeg");
}

/* <n>_... .npy: n; else -1. */
static long numbered(const char *s)
{
	char *end;
	long n = isdigit((unsigned char)*s) ? strtol(s, &end, 10) : -1;

	return n >= 0 && *end == '_' && ends_with(s, ".npy") ? n : -1;
}

static int wanted(const struct dirent *e)
{
	return is_picture(e->d_name) || numbered(e->d_name) >= 0;
}

static int by_number(const void *a, const void *b)
{
	long x = *(const long *)a, y = *(const long *)b;

	return x < y ? -1 : x > y;
}

/* Numbers of the samples, or names of the pictures. */
static int sort_out(struct samples *s, struct dirent **e, int n)
{
	s->number = calloc((size_t)n + 1, sizeof *s->number);
	s->picture = calloc((size_t)n + 1, sizeof *s->picture);
	if (!s->number || !s->picture)
		return fail(EXIT_DEVICE, "out of memory");
	int n_numbers = 0, n_pictures = 0;
	for (int i = 0; i < n; i++) {
		long k = numbered(e[i]->d_name);
		if (k >= 0)
			s->number[n_numbers++] = k;
		else if (!(s->picture[n_pictures++] = strdup(e[i]->d_name)))
			return fail(EXIT_DEVICE, "out of memory");
	}
	qsort(s->number, (size_t)n_numbers, sizeof *s->number, by_number);
	for (int i = 0; i < n_numbers; i++)
		if (!s->n || s->number[i] != s->number[s->n - 1])
			s->number[s->n++] = s->number[i];
	s->pictures = !s->n;
	s->n = s->pictures ? n_pictures : s->n;
	return s->n ? 0 : fail(EXIT_USAGE, "%s: neither <n>_<input>.npy nor pictures", s->dir);
}

int samples_open(struct samples *s, const char *dir, const weft_net *net)
{
	struct dirent **e;
	int n = scandir(dir, &e, wanted, alphasort), status;

	*s = (struct samples){ .dir = dir, .net = net };
	if (n < 0)
		return fail(EXIT_USAGE, "%s: %s", dir, strerror(errno));
	status = sort_out(s, e, n);
	for (int i = 0; i < n; i++)
		free(e[i]);
	free(e);
	if (!status && s->pictures && weft_net_n_inputs(net) != 1)
		status = fail(EXIT_USAGE, "%s: pictures for a network of %d inputs", dir, weft_net_n_inputs(net));
	return status;
}

void samples_close(struct samples *s)
{
	for (int i = 0; s->picture && s->picture[i]; i++)
		free(s->picture[i]);
	free(s->picture);
	free(s->number);
}

int samples_read(void *user, int i, weft_tensor *inputs, int n, char *msg)
{
	struct samples *s = user;
	char path[4096], safe[128];
	struct weft_port p;

	if (i >= s->n)
		return 0;
	snprintf(msg, WEFT_MSG_LEN, "%s", "");     /* read_input() has told of a failure */
	for (int k = 0; k < n; k++) {
		if (weft_net_input(s->net, k, &p)) {
			snprintf(msg, WEFT_MSG_LEN, "sample %d has no input %d", i, k);
			return -EINVAL;
		}
		safe_name(p.name, safe, sizeof safe);
		if (s->pictures)
			snprintf(path, sizeof path, "%s/%s", s->dir, s->picture[i]);
		else
			snprintf(path, sizeof path, "%s/%ld_%s.npy", s->dir, s->number[i], safe);
		const int status = read_input(path, &p, &inputs[k]);
		s->told = status;
		if (status)
			return status == EXIT_DEVICE ? -ENOMEM : -EINVAL;
	}
	return 1;
}
