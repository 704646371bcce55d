/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Static verification of a command stream, before any backend sees it.
 *
 * A stream that passes cannot fault, hang, depend on timing, read scratchpad
 * bytes that nobody wrote, or touch memory outside its windows; and it ends
 * within bounded time. Rules and limits are described in driver/README.md.
 */
#ifndef WEFT_DRIVER_VERIFY_H
#define WEFT_DRIVER_VERIFY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/gen/cmd.h>
#include <weft/gen/config.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Limits that programs do not meet; they bound the time of every backend. */
#define WEFT_VERIFY_MAX_CMDS  65534             /* of one unit; waits have 16 bits */
#define WEFT_VERIFY_MAX_BYTES (UINT64_C(1) << 26) /* one DMA command moves */
#define WEFT_VERIFY_MAX_ROWS  (UINT64_C(1) << 19) /* one DMA command's inner rows */
#define WEFT_VERIFY_MAX_TAPS  (UINT64_C(1) << 28) /* operands one other command multiplies or
						   * compares: pixels * taps * channels (conv:
						   * pixels * weights of a channel * column tiles) */
#define WEFT_VERIFY_MAX_WORK  (UINT64_C(1) << 30) /* steps of the verifier itself, all commands */
#define WEFT_VERIFY_MAX_ROW   (INT64_C(1) << 17)  /* input row number, either sign */
#define WEFT_VERIFY_MAX_XB    (INT64_C(1) << 21)  /* byte number in an input row, either sign */

/* Name, and what the rule forbids. */
#define WEFT_VERIFY_RULES(X) \
	X(NONE,             "nothing is wrong") \
	X(BAD_OP,           "unknown opcode") \
	X(BAD_LEN,          "word count in the header is not the opcode's") \
	X(TRUNCATED,        "the stream ends inside a command") \
	X(RESERVED_BITS,    "a reserved bit is set") \
	X(BAD_FIELD,        "a field is outside its range") \
	X(BAD_ALIGN,        "an address is not a multiple of N, or cuts elements") \
	X(MODE,             "arithmetic mode not in this configuration") \
	X(MODE_FIELD,       "a field that this arithmetic mode does not have") \
	X(TYPE_RANGE,       "a limit or zero point beyond the elements' type") \
	X(CLAMP_ORDER,      "lower clamp above upper clamp") \
	X(ADD_NOT_ALLOWED,  "this command cannot add") \
	X(LINE_TOO_LONG,    "row longer than the depthwise line buffer") \
	X(COORD_RANGE,      "coordinate beyond what hardware counts") \
	X(KEEP_SHAPE,       "kept sums do not fit the array or the next command") \
	X(KEEP_DANGLING,    "kept sums that no command takes") \
	X(TOO_LARGE,        "more work than any program needs") \
	X(TOO_MANY_COMMANDS, "more commands than waits can count") \
	X(WAIT_FUTURE,      "waits for a command that is not before it") \
	X(NO_END,           "the stream ends without END") \
	X(AFTER_END,        "words behind END") \
	X(SP_RANGE,         "scratchpad address beyond its end") \
	X(WINDOW,           "memory access outside its window") \
	X(WINDOW_PERM,      "memory access that the window does not permit") \
	X(USE_BEFORE_LOAD,  "reads scratchpad bytes that nobody wrote") \
	X(OVERLAP_SELF,     "output overlaps the command's own input, or itself") \
	X(RACE_RAW,         "reads what an earlier command may not have written yet") \
	X(RACE_WAR,         "overwrites what an earlier command may not have read yet") \
	X(RACE_WAW,         "overwrites what an earlier command may not have written yet") \
	X(MEM_RACE,         "LD and ST meet in memory without a wait")

enum weft_verify_rule {
#define X(name, brief) WEFT_VERIFY_##name,
	WEFT_VERIFY_RULES(X)
#undef X
	WEFT_VERIFY_N_RULES
};

/* "SP_RANGE"; "?" for an unknown rule. */
const char *weft_verify_rule_name(enum weft_verify_rule rule);

/* What LD and ST may reach. Windows are taken to be disjoint memory. */
struct weft_verify_windows {
	struct {
		uint64_t size;          /* bytes */
		bool rd, wr;
	} w[WEFT_N_WINDOWS];
};

struct weft_verify_result {
	enum weft_verify_rule rule;     /* WEFT_VERIFY_NONE if the stream passes */
	size_t cmd;                     /* index of the offender; passing: commands, END included */
	size_t word;                    /* index of its first word */
	uint32_t sp_addr;               /* USE_BEFORE_LOAD: the first byte that nobody wrote */
	char text[256];                 /* "cmd 17 conv: SP_RANGE: input 0x80000 >= 0x80000"; "" */
};

/**
 * Verify a stream.
 *
 * @param words  Any words whatsoever.
 * @param win    NULL: no window is open.
 * @param r      Always filled.
 * @return 0, -EINVAL (a rule is broken, see *r) or -ENOMEM. Takes less than
 *   30 MB and, whatever the stream, a few seconds at most.
 */
WEFT_MUST_USE int weft_verify(const struct weft_config *cfg, const uint64_t *words, size_t n_words,
		const struct weft_verify_windows *win, struct weft_verify_result *r);

#ifdef __cplusplus
}
#endif
#endif
