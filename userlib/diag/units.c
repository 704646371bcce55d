/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Test of whether each unit starts a command and retires it; results do not matter yet. Which
 * streams do not end, and which still do, tells the block at fault.
 */
#include "userlib/diag/diag.h"
#include "userlib/diag/ops.h"

/* The streams, by the last command in them before END. */
enum part { PART_END, PART_LOAD, PART_STORE, PART_ALU, PART_ELT, PART_POOL, PART_DW, PART_RAW, PART_CONV, N_PARTS };

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

/*
 * Returns the id of the message for the block that explains which streams did not end (stops[part]). If
 * even END alone did not: DIAG-RUN-2 (load engine) or -3 (store engine) if that stream's own command
 * did not retire (retires[part]), otherwise -1 (command processor). Else -2 or -3 if the load or store
 * stopped. Of the others: -6 (post unit) if conv stopped together with all of elt, pool and dw or with
 * alu and raw conv, if these three stopped without alu, or if conv alone did but not raw; -5 (vector
 * engine) if one of the three or all and alu stopped; else -4 (array).
 */
static const char *culprit(const bool *stops, const bool *retires)
{
	bool all_ve = stops[PART_ELT] && stops[PART_POOL] && stops[PART_DW];

	if (stops[PART_END])
		return !retires[PART_LOAD] ? "DIAG-RUN-2" : !retires[PART_STORE] ? "DIAG-RUN-3" : "DIAG-RUN-1";
	if (stops[PART_LOAD])
		return "DIAG-RUN-2";
	if (stops[PART_STORE])
		return "DIAG-RUN-3";
	/* The post unit writes for all of these, has priority at the scratchpad, and may block the others. */
	if (stops[PART_CONV] && (all_ve || (stops[PART_ALU] && stops[PART_RAW])))
		return "DIAG-RUN-6";
	if (all_ve && stops[PART_ALU])
		return "DIAG-RUN-5";
	if (all_ve)
		return "DIAG-RUN-6";
	if (stops[PART_ELT] || stops[PART_POOL] || stops[PART_DW])
		return "DIAG-RUN-5";
	if (stops[PART_CONV] && !stops[PART_RAW])
		return "DIAG-RUN-6";
	return "DIAG-RUN-4";
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
 * streams end (culprit) and the first that does not, or a missing interrupt (DIAG-IRQ-1), after which
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
		diag_find(d, culprit(stops, retires), DIAG_NOWHERE, "%s ends with fault %s of unit %s, info 0x%x; there is nothing wrong with the command",
		          names[first], weft_fault_name(r->fault_code), weft_unit_name(r->fault_unit), r->fault_info);
	else
		diag_find(d, culprit(stops, retires), DIAG_NOWHERE, "%s does not end; %u commands have retired", names[first], r->counters.cmds);
	return 0;
}
