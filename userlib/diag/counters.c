/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Test of counters and interrupts with a stream whose numbers of commands and bytes are known. It
 * runs twice, which shows that the device counts from 0 for each stream.
 */
#include <errno.h>
#include <string.h>

#include "userlib/diag/ops.h"

/*
 * Fills s with six commands: three loads (1000 bytes, N * N bytes, N parameter records), one conv, one
 * elt and one store of N * N bytes, where N is the array's size.
 */
static void known_stream(const struct weft_diag *d, struct diag_stream *s)
{
	const uint32_t n = d->cfg->n;
	struct weft_cmd c = diag_conv(d->cfg, 0x2000, 0x1000, 0x800, 0x3000, 0, (int)n, n);

	diag_put(s, 0x2000, NULL, 1000);
	diag_put(s, 0x1000, NULL, n * n);
	diag_params(s, 0x800, n, 1 << 30, 30, 5);
	diag_add(s, &c);
	c = diag_elt(0x3000, 0x4000, 0, n, 1, n);
	diag_add(s, &c);
	diag_store(s, 0x4000, n * n);
}

/*
 * Reports DIAG-CNT-1: counter `name` is got and should be want; relation ("", "more than ", "at least
 * ", "at most ") stands before want in the message.
 */
static void differs(struct weft_diag *d, const char *name, uint64_t got, const char *relation, uint64_t want)
{
	diag_find(d, "DIAG-CNT-1", DIAG_NOWHERE, "counter %s is %llu, should be %s%llu", name, (unsigned long long)got, relation,
	          (unsigned long long)want);
}

/*
 * Compares the counters c of the known stream: commands and bytes read and written must be exact, each
 * of the four units must have been busy, the units' busy cycles together must not exceed the stream's
 * cycles (commands run one at a time), and the stalls of the array not its busy cycles. Each wrong
 * counter is a finding (differs()). Counts 9 checks.
 */
static void judge(struct weft_diag *d, const struct weft_counters *c)
{
	const uint32_t n = d->cfg->n, rd = 1000 + n * n + n * WEFT_PARAM_BYTES;
	const struct { const char *name; uint32_t got; } parts[] = {
		{ "cnt_ld_busy", c->ld_busy }, { "cnt_st_busy", c->st_busy }, { "cnt_cv_busy", c->cv_busy }, { "cnt_ve_busy", c->ve_busy },
	};

	if (c->cmds != 6)
		differs(d, "cnt_cmds", c->cmds, "", 6);
	if (c->rd_bytes != rd)
		differs(d, "cnt_rd_bytes", c->rd_bytes, "", rd);
	if (c->wr_bytes != n * n)
		differs(d, "cnt_wr_bytes", c->wr_bytes, "", n * n);
	uint64_t sum = 0;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		sum += parts[i].got;
		if (!parts[i].got)
			differs(d, parts[i].name, 0, "more than ", 0);
	}
	/* The commands run one at a time, so their cycles do not overlap. */
	if (sum > c->cycles)
		differs(d, "cnt_cycles", c->cycles, "at least ", sum);
	if (c->cv_stall_act + c->cv_stall_wgt + c->cv_stall_post > c->cv_busy)
		differs(d, "cnt_cv_stall_*", c->cv_stall_act + c->cv_stall_wgt + c->cv_stall_post, "at most ", c->cv_busy);
	d->r->checks += 9;
}

/*
 * Reads the registers that a finished known stream leaves (numbers of retired commands, fault, status,
 * irq_status) and reports each with another value as DIAG-CNT-2. Then clears the done bit of irq_status
 * by writing 1 and reports, as DIAG-CNT-2 too, if the register is not 0 then. Returns 0 whatever it
 * found, or a negative errno of diag_reg_read() or diag_reg_write().
 */
static int registers(struct weft_diag *d)
{
	static const struct { const char *name; uint32_t addr, want; } at[] = {
		{ "retired_ld", WEFT_REG_RETIRED_LD, 3 }, { "retired_st", WEFT_REG_RETIRED_ST, 1 }, { "retired_cv", WEFT_REG_RETIRED_CV, 1 },
		{ "retired_ve", WEFT_REG_RETIRED_VE, 1 }, { "fault", WEFT_REG_FAULT, 0 },
		{ "status", WEFT_REG_STATUS, WEFT_REG_STATUS_DONE_MASK },
		{ "irq_status", WEFT_REG_IRQ_STATUS, WEFT_REG_IRQ_STATUS_DONE_MASK },
	};
	uint32_t got;
	int err;

	for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		if ((err = diag_reg_read(d, at[i].addr, &got)))
			return err;
		if (got != at[i].want)
			diag_find(d, "DIAG-CNT-2", (struct diag_place){ -1, -1, -1, -1, at[i].addr }, "register %s is 0x%x after a stream, not 0x%x",
			          at[i].name, got, at[i].want);
		d->r->checks++;
	}
	/* Writing 1 clears a cause of the interrupt. */
	if ((err = diag_reg_write(d, WEFT_REG_IRQ_STATUS, WEFT_REG_IRQ_STATUS_DONE_MASK)) ||
	    (err = diag_reg_read(d, WEFT_REG_IRQ_STATUS, &got)))
		return err;
	if (got)
		diag_find(d, "DIAG-CNT-2", (struct diag_place){ -1, -1, -1, -1, WEFT_REG_IRQ_STATUS },
		          "irq_status is 0x%x after 1 was written, not 0", got);
	return 0;
}

/*
 * Test counters: runs the known stream twice and compares counters and, on the RTL, registers each
 * time, so that values which do not start afresh are noticed. Wrong values, and a stream that does not
 * end (diag_stopped), are findings in d->r; the state is absent on the model, which counts nothing.
 * Returns 0 whatever it found, or a negative errno as diag_exec() or diag_reg_read().
 */
int diag_counters(struct weft_diag *d)
{
	if (d->o.kind == WEFT_DEV_MODEL) {
		diag_absent(d, "the model counts nothing");
		return 0;
	}
	for (int turn = 0; turn < 2; turn++) {
		struct diag_stream s = { 0 };
		struct diag_out out = { 0 };
		known_stream(d, &s);
		int err = diag_exec(d, &s, &out);
		if (err == DIAG_STOPPED)
			diag_stopped(d, &out, "counters", NULL);
		if (err == DIAG_RAN)
			judge(d, &out.job.counters);
		diag_out_free(&out);
		if (!err && d->o.kind == WEFT_DEV_RTL)
			err = registers(d);
		if (err < 0)
			return err;
	}
	return 0;
}

/* Test sensors: always absent, since no device has a sensor. Returns 0. */
int diag_sensors(struct weft_diag *d)
{
	diag_absent(d, "this device has no sensor of temperature or supply");
	return 0;
}
