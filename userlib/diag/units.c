/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Test of whether each unit starts a command and retires it; results do not matter yet. Which
 * streams do not end, and which still do, tells the block at fault.
 */
#include "userlib/diag/diag.h"
#include "userlib/diag/ops.h"
#include "userlib/diag/units.h"

/* The streams, by the last command in them before END. */
static const char *const names[N_PARTS] = { "END alone", "a load", "a store", "an alu", "an elt", "a pool", "a dw",
	"a conv that writes raw sums", "a conv" };

/*
 * Fills the stream that tries `part`: a load of several bursts, and then, unless part is PART_LOAD, one
 * command of that kind, with parameter records loaded before all but a store. PART_RAW is a conv that
 * writes its sums as they are.
 */
static void add_part(const struct weft_diag *d, struct diag_stream *s, enum part part)
{
	const uint32_t n = d->cfg->n, params = 0x800, weights = 0x1000, in = 0x2000, out = 0x3000;
	struct weft_cmd c;

	/* A load of several bursts, which must retire only once. */
	diag_put(s, 1, NULL, 2000);
	switch (part) {
	case PART_STORE:
		diag_store(s, 1, 2000);
		return;
	case PART_ALU:
		c = diag_alu(0, n, 1);
		break;
	case PART_ELT:
		c = diag_elt(in, out, 0, n, 1, n);
		break;
	case PART_POOL:
		c = diag_pool(in, out, 0, n, 1, n);
		break;
	case PART_DW:
		c = diag_dw(in, weights, params, out, 0, n, 3, 3);
		break;
	case PART_RAW:
	case PART_CONV:
		c = diag_conv(d->cfg, in, weights, params, out, 0, 1, n);
		if (part == PART_RAW)
			diag_raw(&c);
		break;
	default:
		return;
	}
	/* Parameter records of zeros would be out of range (shift 0), so load valid ones. */
	diag_params(s, params, n, 1 << 30, 30, 0);
	diag_add(s, &c);
}

/* Says whether the configuration has the command that `part` tries. */
static bool present(const struct weft_config *cfg, enum part p)
{
	return p == PART_ALU ? cfg->has_alu : p == PART_RAW ? cfg->has_raw : true;
}

/* The blocks at which a stream can stop, and the messages about them. */
enum block { COMMANDS, LOADS, STORES, ARRAY, VECTOR, POST };

static const char *const messages[] = { "DIAG-RUN-1", "DIAG-RUN-2", "DIAG-RUN-3", "DIAG-RUN-4", "DIAG-RUN-5", "DIAG-RUN-6" };

/*
 * Returns the block that holds up END alone, loads or stores, one of which did not end. If even END alone did
 * not, the load or store engine is at fault if its own command did not retire, and otherwise the command
 * processor, which does not come to END.
 */
static enum block culprit_of_transfers(const bool *stops, const bool *retires)
{
	if (stops[PART_END])
		return !retires[PART_LOAD] ? LOADS : !retires[PART_STORE] ? STORES : COMMANDS;
	return stops[PART_LOAD] ? LOADS : STORES;
}

/*
 * Returns the block that holds up the other streams, where END, loads and stores end. elt, pool, dw and conv
 * write through the post unit; alu and a conv that writes raw sums go round it, but the post unit has priority
 * at the scratchpad and may block these, too. The vector engine runs alu, elt, pool and dw, the array both
 * kinds of conv. So it is the post unit if conv stops with all of elt, pool and dw, or with alu and raw conv;
 * if elt, pool and dw stop and alu does not; or if conv stops and neither raw conv nor any of elt, pool and dw
 * does. It is the vector engine if one of elt, pool and dw stops otherwise, or if alu stops and no conv does; and the
 * array in all other cases.
 */
static enum block culprit_of_commands(const bool *stops)
{
	const bool some = stops[PART_ELT] || stops[PART_POOL] || stops[PART_DW];
	const bool all = stops[PART_ELT] && stops[PART_POOL] && stops[PART_DW];

	if (stops[PART_CONV] && (all || (stops[PART_ALU] && stops[PART_RAW])))
		return POST;
	if (some)
		return all && !stops[PART_ALU] ? POST : VECTOR;
	if (stops[PART_ALU] && !stops[PART_RAW] && !stops[PART_CONV])
		return VECTOR;
	return stops[PART_CONV] && !stops[PART_RAW] ? POST : ARRAY;
}

const char *diag_culprit(const bool stops[N_PARTS], const bool retires[N_PARTS])
{
	const bool transfers = stops[PART_END] || stops[PART_LOAD] || stops[PART_STORE];

	return messages[transfers ? culprit_of_transfers(stops, retires) : culprit_of_commands(stops)];
}

/*
 * Says whether a stream that seems not to end has ended, and only its interrupt is missing: the RTL's
 * cycle counter, which stops at END, then stands at least 1000 cycles before the end of the simulation.
 * That is reported as DIAG-IRQ-1. Always false on other devices and after a fault.
 */
static bool only_the_interrupt(struct weft_diag *d, const struct weft_job_result *r)
{
	struct diag_place at = DIAG_NOWHERE;

	/* The device stops counting cycles at END. */
	if (d->o.kind != WEFT_DEV_RTL || r->fault_code || !r->counters.cycles || r->counters.cycles + 1000ull > r->sim_cycles)
		return false;
	at.addr = WEFT_REG_IRQ_STATUS;
	diag_find(d, "DIAG-IRQ-1", at, "a stream has ended after %u cycles, and no interrupt says so", r->counters.cycles);
	return true;
}

/*
 * Test units: runs a stream for each kind of command that the configuration has; if one up to the
 * store's does not end, none behind the store's. Reports one finding with the block that explains which
 * streams end (diag_culprit()) and the first that does not, or a missing interrupt (DIAG-IRQ-1), after which
 * nothing else is run. Findings go to d->r. Returns 0 whatever it found, or a negative errno as
 * diag_exec().
 */
int diag_units(struct weft_diag *d)
{
	bool stops[N_PARTS] = { false }, retires[N_PARTS] = { false };
	enum part first = N_PARTS;
	struct diag_out out, shown = { 0 };

	for (enum part p = 0; p < N_PARTS; p++) {
		struct diag_stream s = { 0 };

		if (!present(d->cfg, p))
			continue;
		if (p)
			add_part(d, &s, p);
		int err = diag_exec(d, &s, &out);
		if (err < 0)
			return err;
		stops[p] = err == DIAG_STOPPED;
		retires[p] = !stops[p] || out.job.counters.cmds > (p > PART_LOAD);
		if (stops[p] && !p && only_the_interrupt(d, &out.job))
			return 0;
		if (stops[p] && first == N_PARTS) {
			first = p;
			shown = out;
		}
		diag_out_free(&out);
		if (first <= PART_STORE && p >= PART_STORE)
			break;             /* nothing else can be run without them */
	}
	if (first == N_PARTS)
		return 0;
	const struct weft_job_result *r = &shown.job;
	if (r->fault_code)
		diag_find(d, diag_culprit(stops, retires), DIAG_NOWHERE, "%s ends with fault %s of unit %s, info 0x%x; there is nothing wrong with the command",
		          names[first], weft_fault_name(r->fault_code), weft_unit_name(r->fault_unit), r->fault_info);
	else
		diag_find(d, diag_culprit(stops, retires), DIAG_NOWHERE, "%s does not end; %u commands have retired", names[first], r->counters.cmds);
	return 0;
}
