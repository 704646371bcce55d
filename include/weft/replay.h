/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a captured job again in simulation and finds where it first went wrong.
 *
 * The functional model runs the job with the memory that it should have had and
 * keeps what every command wrote. The simulated device runs it with the memory
 * as the device held it, and every command's bytes are compared as it retires.
 * If the simulation shows nothing wrong, the memory that the device left is compared, and the
 * earliest command that wrote a wrong byte there is named. The functions may be called from any thread; they block until the replay is over.
 */
#ifndef WEFT_REPLAY_H
#define WEFT_REPLAY_H

#include <weft/api.h>
#include <weft/capture.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weft_replay_options {
	enum weft_device device;   /* what simulates: MODEL or RTL */
	const char *rtl_dir;       /* as in struct weft_dev_options */
	bool plant;                /* plant the captured fault again */
	const char *wave;          /* RTL: record a wave around the first wrong byte to this FST file; NULL: none */
	uint64_t wave_cycles;      /* cycles of the wave before the first wrong byte is written and after the command's
	                            * retirement; if that is more than 20000 cycles later, after the write instead */
};

/* A command that wrote something wrong. */
struct weft_replay_place {
	bool found;                /* there is one; otherwise nothing else here means anything */
	size_t cmd;                /* its number in the step's stream */
	unsigned unit;             /* enum weft_unit */
	uint64_t cycle;            /* RTL: the cycle of its retirement */
	uint64_t written;          /* RTL, with a wave: the cycle in which the first wrong byte was written; 0: not known */
	bool in_sp;                /* the byte is in the scratchpad; false: in the arena */
	uint64_t addr;             /* address of the first wrong byte there */
	uint8_t expected, got;     /* its values */
	char text[1024];           /* the command, disassembled */
	/* What the program's debug map says of it: */
	int op;                    /* index of its operator in the source file, or -1 */
	int graph_tensor;          /* if element is true: the tensor's index in the program's graph */
	char op_name[64], tensor[128];     /* names of operator and tensor, perhaps cut off */
	bool element;              /* the byte belongs to an element of a tensor, which the rest is about */
	uint64_t index;            /* that element's index, row-major */
	int64_t want, have;        /* its value as it should be, and as it is */
	int rank;                  /* the tensor's rank */
	int64_t at[8];             /* the element's coordinates */
	uint64_t tile[8][2];       /* the first and the last coordinate, in each dimension, of the command's tile */
};

struct weft_replay_report {
	uint32_t first_cmd;        /* the number in the whole program of the stream's command 0 */
	bool memory;               /* constants in the device's memory differ from the program's */
	uint64_t memory_at;        /* offset of the first such byte */
	uint8_t memory_expected, memory_got;   /* its values */
	size_t memory_cmd;         /* the first command that loads it; SIZE_MAX: none does */
	uint64_t memory_bytes;     /* how many bytes differ */
	bool device_differs;       /* the device left another arena than a correct run */
	bool simulation_differs;   /* the simulation wrote other bytes than a correct run, or did not reach its end */
	bool reproduced;           /* the simulation left the same arena and the same fault as the device */
	struct weft_replay_place first;   /* the first wrong command, if possible one that makes a tensor */
	struct weft_job_result result;    /* how the simulated job ended */
};

/**
 * Replay a capture: run its step on the model, as it should have been, then on the simulator of the
 * options, compare both with each other and with the memory that the device left, and look for the
 * first wrong command.
 *
 * @param[out] r  What was found; after a failure, what was found before it.
 * @param msg     WEFT_MSG_LEN bytes; one line on failure.
 * @return 0, whatever was found; -EINVAL: the capture contradicts itself; -ENOTSUP: its fault cannot be
 *         planted; -ENOMEM; or as weft_dev_open()
 */
WEFT_API int weft_replay(const struct weft_capture *c, const struct weft_replay_options *o, struct weft_replay_report *r, char msg WEFT_ROOM(WEFT_MSG_LEN));

/**
 * Write a save file of GTKWave to path for a wave (fst is its path) with the signals to look at first:
 * clock, the units' handshakes, the bus, and signals of the wrong command's unit (place->unit).
 * @param msg  WEFT_MSG_LEN bytes; one line on failure, else untouched.
 * @return 0, or the negative errno of writing the file; an older file of that path then stays as it was
 */
WEFT_API int weft_replay_signals(const char *path, const char *fst, const struct weft_replay_place *place, char msg WEFT_ROOM(WEFT_MSG_LEN));

#ifdef __cplusplus
}
#endif
#endif
