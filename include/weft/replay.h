/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Run a captured job again in simulation, and say where it first went wrong.
 *
 * The functional model runs the job with the memory that it should have had and
 * keeps what every command wrote. The simulated device runs it with the memory
 * as the device held it, and every command's bytes are compared as it retires.
 * What the simulation does not show is looked for in the memory that the device
 * left: the command that last wrote the first wrong byte.
 */
#ifndef WEFT_REPLAY_H
#define WEFT_REPLAY_H

#include <weft/api.h>
#include <weft/capture.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weft_replay_options {
	enum weft_device device;   /* MODEL or RTL */
	const char *rtl_dir;
	bool plant;                /* plant the captured fault again */
	const char *wave;          /* RTL: FST file of the moment, or NULL */
	uint64_t wave_cycles;      /* before the first wrong byte, and after the command's retirement */
};

/* A command that wrote something wrong. */
struct weft_replay_place {
	bool found;
	size_t cmd;                /* in the step's stream */
	unsigned unit;             /* enum weft_unit */
	uint64_t cycle;            /* RTL: of its retirement */
	uint64_t written;          /* RTL: when the first wrong byte was, if the simulation wrote it; else 0 */
	bool in_sp;                /* else in the arena */
	uint64_t addr;             /* of the first wrong byte */
	uint8_t expected, got;
	char text[1024];           /* the command, disassembled */
	/* what the program's debug map says of it */
	int op;                    /* source operator, or -1 */
	int graph_tensor;          /* of the program's graph, with element */
	char op_name[64], tensor[128];
	bool element;              /* the byte is one of a tensor's */
	uint64_t index;            /* that element, row-major; dims of the tensor follow */
	int64_t want, have;
	int rank;
	int64_t at[8];             /* the element's coordinates */
	uint64_t tile[8][2];       /* first and last coordinate of the command's tile */
};

struct weft_replay_report {
	uint32_t first_cmd;        /* command 0 of the step's stream, as the whole program's are counted */
	bool memory;               /* constants in the device differ from the program's */
	uint64_t memory_at;        /* first such byte */
	uint8_t memory_expected, memory_got;
	size_t memory_cmd;         /* the command that loads it, or SIZE_MAX */
	uint64_t memory_bytes;     /* how many differ */
	bool device_differs;       /* the device left other memory than a correct run */
	bool simulation_differs;   /* the simulation wrote other bytes than a correct run */
	bool reproduced;           /* simulation and device agree: memory, fault */
	struct weft_replay_place first;   /* the first wrong command that makes a tensor */
	struct weft_job_result result;    /* of the simulation */
};

/**
 * @return 0 (see *r), -EINVAL (the capture does not fit itself), what opening
 *         the device says; msg: WEFT_MSG_LEN bytes
 */
WEFT_API int weft_replay(const struct weft_capture *c, const struct weft_replay_options *o, struct weft_replay_report *r, char msg WEFT_ROOM(WEFT_MSG_LEN));

/** A GTKWave save file for the FST: clock, command heads, and the unit of the wrong command. */
WEFT_API int weft_replay_signals(const char *path, const char *fst, const struct weft_replay_place *place, char msg WEFT_ROOM(WEFT_MSG_LEN));

#ifdef __cplusplus
}
#endif
#endif
