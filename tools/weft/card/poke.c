/* SPDX-License-Identifier: Apache-2.0 */
/*
 * weft peek, poke, log, reset: single words of a device, and its firmware.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/gen/regs.h>

#include "tools/weft/target.h"
#include "tools/weft/weft_cmd.h"

#define WORDS_MAX 65536

enum space { REGISTER, MEMORY, SCRATCHPAD };
struct place { enum space space; uint32_t addr; };

static bool named_register(const char *text, uint32_t *offset)
{
	const size_t len = strcspn(text, "[");
	unsigned i = 0;

	for (size_t k = 0; k < WEFT_N_REGS; k++) {
		const struct weft_reg_info *g = &weft_reg_list()[k];
		int end = 0;
		if (strlen(g->name) != len || strncmp(g->name, text, len))
			continue;
		if (text[len] && (sscanf(text + len, "[%u]%n", &i, &end) != 1 || text[len + (size_t)end] || i >= g->count))
			return false;
		*offset = g->offset + i * g->stride;
		return true;
	}
	return false;
}

/* 0x014, status, win_size[2], mem:0x10000, sp:64. 0, or -1 and a message. */
static int parse_place(const char *text, struct place *p)
{
	uint64_t n;

	p->space = !strncmp(text, "mem:", 4) ? MEMORY : !strncmp(text, "sp:", 3) ? SCRATCHPAD : REGISTER;
	if (p->space == REGISTER && named_register(text, &p->addr))
		return 0;
	const char *number = p->space == MEMORY ? text + 4 : p->space == SCRATCHPAD ? text + 3 : text;
	char *end;
	errno = 0;
	n = strtoull(number, &end, 0);
	if (errno || end == number || *end || n > UINT32_MAX || n % 4)
		return fail(-1, "\"%s\" is no register, no mem:ADDRESS and no sp:ADDRESS, multiples of 4", text);
	if (p->space == REGISTER && n >= WEFT_REG_SPACE)
		return fail(-1, "0x%llx: registers end at 0x%x; card memory is mem:0x%llx", (unsigned long long)n, WEFT_REG_SPACE,
		            (unsigned long long)n);
	p->addr = (uint32_t)n;
	return 0;
}

static int no_such(struct target *t, const char *what, char *msg)
{
	snprintf(msg, WEFT_ADMIN_MSG, "%s shows no %s", t->name, what);
	return -ENOTSUP;
}

static int peek(struct target *t, const struct place *p, uint32_t n, uint32_t *out, char *msg)
{
	int err = 0;

	if (p->space == MEMORY)
		return t->a ? weft_admin_read(t->a, p->addr, out, 4 * n, msg) : no_such(t, "memory of its own", msg);
	if (p->space == SCRATCHPAD && t->a)
		return no_such(t, "scratchpad", msg);
	if (p->space == SCRATCHPAD) {
		err = weft_dev_peek_sp(t->dev, p->addr, 4 * n, out);
		if (err)
			snprintf(msg, WEFT_ADMIN_MSG, "scratchpad 0x%x: %s", p->addr, strerror(-err));
		return err;
	}
	for (uint32_t i = 0; i < n && !err; i++)
		err = target_reg_read(t, p->addr + 4 * i, &out[i], msg);
	return err;
}

static int poke(struct target *t, const struct place *p, uint32_t value, char *msg)
{
	if (p->space == MEMORY)
		return t->a ? weft_admin_write(t->a, p->addr, &value, 4, msg) : no_such(t, "memory of its own", msg);
	if (p->space == SCRATCHPAD)
		return no_such(t, "scratchpad that would keep it", msg);
	return target_reg_write(t, p->addr, value, msg);
}

/* ---- the commands ---- */

struct args { const char *device, *config, *plain[2]; int n_plain; };

static int take_args(int argc, char **argv, int max, struct args *a)
{
	static const struct option_def defs[] = { { "--device", true }, { "--config", true }, { NULL, false } };
	const char *v;
	int at = 0, opt;

	*a = (struct args){ .device = "usb", .config = "w16" };
	while ((opt = next_option(&at, argc, argv, defs, &v)) != -2) {
		if (opt == -3)
			return EXIT_USAGE;
		if (opt == 0 || (opt == -1 && (!strncmp(v, "usb:", 4) || !strcmp(v, "usb"))))
			a->device = v;
		else if (opt == 1)
			a->config = v;
		else if (a->n_plain < max)
			a->plain[a->n_plain++] = v;
		else
			return fail(EXIT_USAGE, "\"%s\": one argument too many", v);
	}
	return 0;
}

static int finish(struct target *t, int err, const char *msg)
{
	target_close(t);
	return err ? fail(status_of(err), "%s", msg) : EXIT_DONE;
}

static int peek_main(int argc, char **argv)
{
	char msg[WEFT_ADMIN_MSG] = "";
	struct target t;
	struct place p;
	struct args a;
	uint64_t n = 1;

	if (take_args(argc, argv, 2, &a))
		return EXIT_USAGE;
	if (!a.n_plain)
		return fail(EXIT_USAGE, "peek: wants an ADDRESS");
	if (parse_place(a.plain[0], &p) || (a.n_plain > 1 && parse_number("peek: N", a.plain[1], WORDS_MAX, &n)))
		return EXIT_USAGE;
	if (!n || (p.space == REGISTER && p.addr + 4 * n > WEFT_REG_SPACE))
		return fail(EXIT_USAGE, "peek: %llu words from 0x%x", (unsigned long long)n, p.addr);
	uint32_t *words = calloc(n, sizeof(*words));
	int status = words ? target_open(&t, a.device, a.config) : fail(EXIT_DEVICE, "out of memory");
	if (!status) {
		int err = peek(&t, &p, (uint32_t)n, words, msg);
		for (uint32_t i = 0; i < n && !err; i += 4) {
			printf("0x%08x ", p.addr + 4 * i);
			for (uint32_t k = i; k < n && k < i + 4; k++)
				printf(" %08x", words[k]);
			printf("\n");
		}
		status = finish(&t, err, msg);
	}
	free(words);
	return status;
}

static int poke_main(int argc, char **argv)
{
	char msg[WEFT_ADMIN_MSG] = "";
	struct target t;
	struct place p;
	struct args a;
	uint64_t value;

	if (take_args(argc, argv, 2, &a))
		return EXIT_USAGE;
	if (a.n_plain != 2)
		return fail(EXIT_USAGE, "poke: wants an ADDRESS and a VALUE");
	if (parse_place(a.plain[0], &p) || parse_number("poke: VALUE", a.plain[1], UINT32_MAX, &value))
		return EXIT_USAGE;
	int status = target_open(&t, a.device, a.config);
	if (status)
		return status;
	int err = poke(&t, &p, (uint32_t)value, msg);
	return finish(&t, err, msg);
}

/* Of a command that takes a device and nothing else. */
static int open_alone(int argc, char **argv, struct target *t)
{
	struct args a;

	return take_args(argc, argv, 0, &a) ? EXIT_USAGE : target_open(t, a.device, a.config);
}

static int log_main(int argc, char **argv)
{
	char msg[WEFT_ADMIN_MSG] = "";
	struct target t;
	int status = open_alone(argc, argv, &t);

	if (status)
		return status;
	int err = t.a ? card_log(t.a, msg) : no_such(&t, "log: it has no firmware", msg);
	return finish(&t, err, msg);
}

static int reset_main(int argc, char **argv)
{
	char msg[WEFT_ADMIN_MSG] = "";
	struct target t;
	int status = open_alone(argc, argv, &t);

	if (status)
		return status;
	int err = t.a ? weft_admin_reset(t.a, msg) : weft_dev_reset(t.dev);
	if (err && !t.a)
		snprintf(msg, sizeof(msg), "%s does not come out of reset", t.name);
	return finish(&t, err, msg);
}

#define DEVICE_USAGE "  --device D       usb (default: any card; also usb:SERIAL, usb:@SOCKET), rtl, model\n" \
	"  --config C       rtl, model: " WEFT_CONFIG_NAMES " (default: w16)\n"

const struct subcommand cmd_peek = {
	"peek", "read words of a device",
	"usage: weft peek ADDRESS [N] [options]\n\n"
	"N words (1). ADDRESS: a register's offset or name (0x014, status, win_size[2]),\n"
	"mem:ADDRESS of card memory, sp:ADDRESS of a simulated scratchpad.\n\n" DEVICE_USAGE,
	peek_main,
};

const struct subcommand cmd_poke = {
	"poke", "write a word of a device",
	"usage: weft poke ADDRESS VALUE [options]\n\n"
	"ADDRESS as of weft peek: a register or mem:ADDRESS. A card refuses registers while\n"
	"jobs are there, and ctrl and irq_enable always.\n\n" DEVICE_USAGE,
	poke_main,
};

const struct subcommand cmd_log = {
	"log", "the log of a card's firmware",
	"usage: weft log [usb:SERIAL | usb:@SOCKET]\n\n"
	"Number, cycle, what; the log survives all resets but power.\n\n"
	"  --device D       the same as usb:SERIAL, usb:@SOCKET; default: any card\n",
	log_main,
};

const struct subcommand cmd_reset = {
	"reset", "reset a device",
	"usage: weft reset [usb:SERIAL | usb:@SOCKET]\n\n"
	"Resets the chip and waits until its firmware answers.\n\n" DEVICE_USAGE,
	reset_main,
};
