/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of targets: tab-separated text, "#" comments, of which the last
 * names the columns: file, memory, network, target, and a peer each.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

#define FIXED_COLUMNS 4
#define MAX_COLUMNS (FIXED_COLUMNS + BENCH_MAX_PEERS)

static int split(char *line, char **column)
{
	int n = 0;

	line[strcspn(line, "\r\n")] = 0;
	for (char *next = line; next && n < MAX_COLUMNS; n++) {
		column[n] = next;
		next = strchr(next, '\t');
		if (next)
			*next++ = 0;
	}
	return n;
}

static void take_head(struct bench_targets *t, char **column, int n)
{
	t->n_peers = n > FIXED_COLUMNS ? n - FIXED_COLUMNS : 0;
	for (int i = 0; i < t->n_peers; i++)
		snprintf(t->peer[i], sizeof(t->peer[i]), "%s", column[FIXED_COLUMNS + i]);
}

/* Thousands of cycles, or "-". */
static int figure(const char *text, double *cycles)
{
	char *end;

	*cycles = 0;
	if (!strcmp(text, "-"))
		return 0;
	*cycles = 1000 * strtod(text, &end);
	return *end || end == text || !(*cycles > 0 && *cycles < 1e15) ? -1 : 0;
}

static int take_line(struct bench_targets *t, char **column, int n)
{
	struct bench_target *grown = realloc(t->line, sizeof(*grown) * (size_t)(t->n + 1));

	if (!grown)
		return -1;
	t->line = grown;
	struct bench_target *l = &grown[t->n];
	memset(l, 0, sizeof(*l));
	if (n != FIXED_COLUMNS + t->n_peers || figure(column[3], &l->target))
		return -1;
	snprintf(l->file, sizeof(l->file), "%s", column[0]);
	snprintf(l->memory, sizeof(l->memory), "%s", column[1]);
	snprintf(l->name, sizeof(l->name), "%s", column[2]);
	for (int i = 0; i < t->n_peers; i++)
		if (figure(column[FIXED_COLUMNS + i], &l->peer[i]))
			return -1;
	t->n++;
	return 0;
}

int bench_targets_read(const char *file, struct bench_targets *t)
{
	char line[1024], *column[MAX_COLUMNS];
	FILE *f = fopen(file, "r");
	int number = 0, bad = 0;

	memset(t, 0, sizeof(*t));
	if (!f)
		return fail(EXIT_USAGE, "%s: %s", file, strerror(errno));
	while (!bad && fgets(line, sizeof(line), f)) {
		int n = split(line, column);
		number++;
		if (line[0] == '#')
			take_head(t, column, n);
		else if (line[0])
			bad = take_line(t, column, n);
	}
	fclose(f);
	return bad ? fail(EXIT_USAGE, "%s: line %d: not file, memory, network and %d figures or \"-\", between tabs", file,
	                  number, 1 + t->n_peers) : 0;
}

void bench_targets_free(struct bench_targets *t)
{
	free(t->line);
	memset(t, 0, sizeof(*t));
}

const struct bench_target *bench_target_find(const struct bench_targets *t, const char *file, const char *memory)
{
	for (int i = 0; i < t->n; i++)
		if (!strcmp(t->line[i].file, file) && !strcmp(t->line[i].memory, memory))
			return &t->line[i];
	return NULL;
}

const char *bench_name(const struct bench_targets *t, const char *file)
{
	for (int i = 0; i < t->n; i++)
		if (!strcmp(t->line[i].file, file))
			return t->line[i].name;
	return file;
}

int bench_best_peer(const struct bench_targets *t, const struct bench_target *line, uint32_t macs_per_cycle)
{
	int best = -1;

	for (int i = 0; line && i < t->n_peers; i++) {
		const char *dash = strrchr(t->peer[i], '-');
		if (line->peer[i] > 0 && dash && strtoul(dash + 1, NULL, 10) == macs_per_cycle &&
		    (best < 0 || line->peer[i] < line->peer[best]))
			best = i;
	}
	return best;
}
