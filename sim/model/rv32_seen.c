/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table of (address, word), open addressing, without locks: a slot is taken once by compare and swap, and
 * never given back. A word that finds no slot is not noted, and its line counts as not executed.
 */
#include "rv32_seen.h"

#ifdef WEFT_FUZZ
/* The section's name is libFuzzer's. */
uint8_t rv32_counters[RV32_COUNTERS] __attribute__((section("__libfuzzer_extra_counters")));
#endif

#ifdef WEFT_COVERAGE

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { SLOTS = 1 << 17, TRIES = 64 };

static _Atomic uint64_t table[SLOTS];
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Writes the table; a child that ends writes a file of its own. */
static void write_table(void)
{
	const char *dir = getenv("WEFT_SEEN");
	char path[512];
	FILE *f;

	if (!dir)
		return;
	snprintf(path, sizeof(path), "%s/rv32-%ld", dir, (long)getpid());
	f = fopen(path, "a");
	if (!f)
		return;
	for (unsigned i = 0; i < SLOTS; i++) {
		uint64_t v = atomic_load_explicit(&table[i], memory_order_relaxed);

		if (v)
			fprintf(f, "%08x %08x\n", (unsigned)(v >> 32), (unsigned)v);
	}
	fclose(f);
}

static void begin(void)
{
	atexit(write_table);
}

void rv32_seen(uint32_t pc, uint32_t insn)
{
	uint64_t v = (uint64_t)pc << 32 | insn;
	uint32_t at = (pc >> 2) * 2654435761u ^ insn * 0x9e3779b1u;

	for (unsigned i = 0; i < TRIES; i++, at++) {
		uint64_t found = atomic_load_explicit(&table[at % SLOTS], memory_order_relaxed);

		if (!found && atomic_compare_exchange_strong(&table[at % SLOTS], &found, v)) {
			pthread_once(&once, begin);
			return;
		}
		if (found == v)
			return;
	}
}

#endif
