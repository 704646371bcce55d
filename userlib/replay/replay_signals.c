/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the signals to look at first as a save file of GTKWave: clock, the units' command
 * handshakes and the bus, then those of the wrong command's unit.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <weft/replay.h>
#include <weft/file.h>
#include "weft/gen/cmd.h"

#include "userlib/files/file_out.h"

#define TOP "npu.weft_npu."

static const char *const everywhere[] = {
	"clk_i", "busy", "retire_o[3:0]", "u_valid[3:0]", "u_ready[3:0]",
	"ld_state.busy", "ld_state.fault", "st_state.busy", "st_state.fault", "cv_state.busy", "cv_state.fault", "ve_state.busy", "ve_state.fault",
	"m_arvalid_o", "m_arready_i", "m_araddr_o[39:0]", "m_rvalid_i", "m_rready_o",
	"m_awvalid_o", "m_awready_i", "m_awaddr_o[39:0]", "m_wvalid_o", "m_wready_i", "m_bvalid_i",
};

#define POST "pst.req", "pst_gnt", "pst.addr[19:0]"
static const char *const load[] = { "ldw.req", "ldw_gnt", "ldw.addr[19:0]", NULL };
static const char *const store[] = { "str.req", "str_gnt", "str.addr[19:0]", NULL };
static const char *const conv[] = { "act.req", "act_gnt", "act.addr[19:0]", "wgt.req", "wgt_gnt", "wgt.addr[19:0]",
	"stall_act", "stall_wgt", "stall_post", POST, NULL };
static const char *const vector[] = { "vec.req", "vec_gnt", "vec.addr[19:0]", "parv.req", "parv_gnt", "parv.addr[19:0]", POST, NULL };

/*
 * Returns the list, which ends with NULL, of the signals to look at first of a unit (enum weft_unit):
 * those of the vector engine for every unit but LD, ST and CV.
 */
static const char *const *of_unit(unsigned unit)
{
	switch (unit) {
	case WEFT_UNIT_LD: return load;
	case WEFT_UNIT_ST: return store;
	case WEFT_UNIT_CV: return conv;
	default: return vector;
	}
}

/*
 * Writes one signal of the NPU to the save file, in hexadecimal if it has several bits, otherwise as a
 * bit.
 */
static void signal(FILE *f, const char *name)
{
	fprintf(f, "%s\n%s%s\n", strchr(name, '[') ? "@22" : "@28", TOP, name);
}

int weft_replay_signals(const char *path, const char *fst, const struct weft_replay_place *place, char msg WEFT_ROOM(WEFT_MSG_LEN))
{
	struct weft_file_out file;
	int err = weft_file_create(path, &file);
	FILE *f = file.f;

	if (err) {
		snprintf(msg, WEFT_MSG_LEN, "%.200s: %s", path, weft_file_error(err));
		return err;
	}
	fprintf(f, "[*] command %zu of the stream retires at cycle %llu: %s\n", place->cmd, (unsigned long long)place->cycle, place->text);
	fprintf(f, "[dumpfile] \"%s\"\n", fst);
	for (size_t i = 0; i < sizeof everywhere / sizeof everywhere[0]; i++)
		signal(f, everywhere[i]);
	for (const char *const *p = of_unit(place->unit); *p; p++)
		signal(f, *p);
	err = weft_file_finish(&file, 0);
	if (err)
		snprintf(msg, WEFT_MSG_LEN, "%.200s: %s", path, weft_file_error(err));
	return err;
}
