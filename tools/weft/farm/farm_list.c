/* SPDX-License-Identifier: Apache-2.0 */
/* The list of jobs: words with zero bytes between them, so that names may have any other byte. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "farm.h"

void words_add(struct words *w, const char *word)
{
	const size_t n = strlen(word) + 1;

	if (!w->failed && w->room - w->len < n) {
		const size_t room = 2 * (w->room + n);
		char *data = realloc(w->data, room);
		w->failed = !data;
		if (data) {
			w->data = data;
			w->room = room;
		}
	}
	if (w->failed)
		return;
	memcpy(w->data + w->len, word, n);
	w->len += n;
}

/* Each job: the number of its words, then folder, seed, program and arguments. */
void list_add(struct words *w, const char *folder, const char *seed, char *const *argv)
{
	char number[24];
	size_t n = 2;

	while (argv[n - 2])
		n++;
	snprintf(number, sizeof(number), "%zu", n);
	words_add(w, number);
	words_add(w, folder);
	words_add(w, seed);
	for (char *const *a = argv; *a; a++)
		words_add(w, *a);
}

/* Takes the next word, or NULL at the end. */
static char *next_word(struct words *w, size_t *at)
{
	if (*at >= w->len)
		return NULL;
	char *word = w->data + *at;
	*at += strlen(word) + 1;
	return word;
}

int list_cut(struct farm *f)
{
	size_t at = 0, room = 0;
	char *word;

	if (f->list.failed)
		return fail(EXIT_DEVICE, "out of memory");
	if (!f->list.len || f->list.data[f->list.len - 1])
		return fail(EXIT_USAGE, "%s/jobs: no list of jobs", f->dir);
	while ((word = next_word(&f->list, &at))) {
		const size_t n = strtoul(word, NULL, 10);
		if (f->n == room) {
			struct job *jobs = realloc(f->jobs, (room = 2 * room + 16) * sizeof(*jobs));
			if (!jobs)
				return fail(EXIT_DEVICE, "out of memory");
			f->jobs = jobs;
		}
		if (n < 3 || n > f->list.len)
			return fail(EXIT_USAGE, "%s/jobs: job %zu has %zu words", f->dir, f->n, n);
		struct job *j = &f->jobs[f->n++];
		j->folder = next_word(&f->list, &at);
		j->seed = next_word(&f->list, &at);
		j->argv = calloc(n - 1, sizeof(j->argv[0]));
		if (!j->argv)
			return fail(EXIT_DEVICE, "out of memory");
		for (size_t i = 0; i < n - 2; i++)
			j->argv[i] = next_word(&f->list, &at);
		if (!j->folder || !j->seed || !j->argv[n - 3])
			return fail(EXIT_USAGE, "%s/jobs: it ends within job %zu", f->dir, f->n - 1);
	}
	return 0;
}

char *farm_path(const struct farm *f, char *path, size_t room, const char *format, ...)
{
	const int n = snprintf(path, room, "%s/", f->dir);
	va_list ap;

	va_start(ap, format);
	if (n > 0 && (size_t)n < room)
		vsnprintf(path + n, room - (size_t)n, format, ap);
	va_end(ap);
	return path;
}
