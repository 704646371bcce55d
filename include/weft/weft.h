/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Weft: load a quantised network, compile it, run it on a device.
 *
 *	weft_net *net;  weft_session *s;  struct weft_report *report;
 *	char msg[WEFT_MSG_LEN];
 *	struct weft_session_options o = weft_session_options_default();
 *	if (weft_net_load_file("net.tflite", &net, msg)) ...
 *	if (weft_session_open(net, &o, &s, msg)) ...
 *	weft_tensor in = ..., out = { 0 };
 *	if (weft_session_run(s, &in, &out, &report, msg)) ...
 *	weft_report_free(report);  weft_tensor_release(&out);
 *	weft_session_close(s);  weft_net_free(net);
 *
 * Errors are negative errno with one line in msg. Nothing prints or exits, and
 * no environment is read, also not by the simulators that a session loads. A net is
 * immutable once loaded and may be shared by threads; a session belongs to one thread
 * at a time, but for the functions that run it (see weft_session_submit()).
 */
#ifndef WEFT_H
#define WEFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/api.h>
#include <weft/dev.h>
#include <weft/op.h>
#include <weft/runtime.h>
#include <weft/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WEFT_MSG_LEN 256

typedef struct weft_net weft_net;
typedef struct weft_session weft_session;

/**
 * Load a network: .tflite, .tosa (TOSA 1.0), .onnx, or .weft as weft_net_save() writes it.
 *
 * @param name      For messages and reports; copied.
 * @param[out] net  Set only on success; weft_net_free() frees it.
 * @return 0, -EINVAL (bad file), -ENOTSUP (an operator or type that is not
 *         supported), -ENOMEM, -errno of the file
 */
WEFT_API int weft_net_load(const void *data, size_t len_bytes, const char *name, weft_net **net, char msg WEFT_ROOM(WEFT_MSG_LEN));
WEFT_API int weft_net_load_file(const char *path, weft_net **net, char msg WEFT_ROOM(WEFT_MSG_LEN));
WEFT_API void weft_net_free(weft_net *net);

/*
 * An input of the file that becomes a constant, such as a shape (.onnx). Without data,
 * only its shape is given (.onnx, .tflite): where the file leaves dimensions open, else the
 * file's own. One number says the one open dimension of a tensor of another rank.
 */
struct weft_bound {
	const char *name;
	weft_tensor value;         /* of the file's type; copied */
};

/* What a file leaves open; and the level. */
struct weft_load_options {
	/*
	 * How int32 sums become 8 bits. False: ONNX's bits, by RESCALE where that is
	 * proven equal for every sum, else by an operator on the host. True: the
	 * nearest RESCALE throughout, which the NPU does; may differ by 1 at ties. Biases of
	 * floats between DequantizeLinear and QuantizeLinear become the nearest integers.
	 */
	bool requant_rescale;
	const char *folder;        /* external data lies here; NULL: nowhere (load_file: beside the file) */
	const struct weft_bound *bound;
	int n_bound;
	bool level_8k;             /* any format: refuse what exceeds TOSA's level 8K */
	bool requant_runtime;      /* .onnx: as ONNX Runtime's kernels, the product of sum and scales rounded to float32 first; mostly on the host */
	bool backbone;             /* .tflite: leave out a custom operator at the end; its operands are the outputs */
	/*
	 * .onnx: values of inputs that are known, up to 64. Such an input becomes a constant only
	 * where it decides on a shape or a form of the network, and is then no input of it; all
	 * give their shape where the file leaves it open. A value of type 0 and rank 1 is
	 * dim[0] bytes, of the file's type and shape.
	 */
	const struct weft_bound *given;
	int n_given;
	/* .tflite: whose bits; of a .weft file, which stores them: refuse another. */
	enum weft_runtime runtime;
	uint64_t reserved[2];      /* zero */
};

WEFT_API struct weft_load_options weft_load_options_default(void);

/** weft_net_load() and weft_net_load_file() with options; NULL: defaults. */
WEFT_API int weft_net_load_with(const void *data, size_t len_bytes, const char *name, const struct weft_load_options *o,
                       weft_net **net, char msg WEFT_ROOM(WEFT_MSG_LEN));
WEFT_API int weft_net_load_file_with(const char *path, const struct weft_load_options *o, weft_net **net, char msg WEFT_ROOM(WEFT_MSG_LEN));

/* A tensor at the network's edge. Strings live as long as the net. */
struct weft_port {
	const char *name;
	weft_dtype dtype;
	int rank;
	int64_t dim[WEFT_MAX_RANK];
	bool quantised;            /* scale and zp are meaningful */
	double scale;
	int64_t zp;
};

/** Whose bits it gives; WEFT_RUNTIME_ANY: it does not come from .tflite. */
WEFT_API enum weft_runtime weft_net_runtime(const weft_net *net);

WEFT_API int weft_net_n_inputs(const weft_net *net);
WEFT_API int weft_net_n_outputs(const weft_net *net);
/** @return 0, -ERANGE */
WEFT_API int weft_net_input(const weft_net *net, int i, struct weft_port *p);
WEFT_API int weft_net_output(const weft_net *net, int i, struct weft_port *p);

/**
 * The operators that the file was lowered to, in an order in which they can run;
 * there may be more of them than the file has, and fewer. Those of subgraphs do not count.
 */
WEFT_API int weft_net_n_ops(const weft_net *net);
/** Operator i, 0..weft_net_n_ops()-1; WEFT_OP_NONE for another number. weft_op_name() names it. */
WEFT_API weft_opcode weft_net_op(const weft_net *net, int i);

/**
 * Compile for a configuration and write the container. *out comes from malloc.
 * The same network and configuration give the same bytes.
 */
WEFT_API int weft_net_save(const weft_net *net, const char *config, uint8_t **out, size_t *len_bytes, char msg WEFT_ROOM(WEFT_MSG_LEN));

/**
 * Write the network as TOSA 1.0. *out comes from malloc. Unsigned bytes become
 * INT8. Operators that TOSA cannot express exactly become CUSTOM of domain
 * "weft", which only this library reads; with strict they are refused.
 *
 * @param note  WEFT_MSG_LEN bytes: names of the operators written as CUSTOM, or "".
 * @return 0, -ENOTSUP (cannot be expressed; the operator is named), -ENOMEM
 */
WEFT_API int weft_net_convert(const weft_net *net, bool strict, uint8_t **out, size_t *len_bytes, char note WEFT_ROOM(WEFT_MSG_LEN), char msg WEFT_ROOM(WEFT_MSG_LEN));

enum weft_quantize_type {
	WEFT_QUANTIZE_INT8,        /* activations int8 with a zero point, weights int8 by channel */
	WEFT_QUANTIZE_INT16X8,     /* activations int16 without, weights int8 by channel */
	WEFT_QUANTIZE_FP8,         /* both float8 E4M3 */
};

struct weft_quantize_options {
	enum weft_quantize_type type;
	double percentile;         /* share of the values that ranges cover at each end, 50..100; 100: all */
	const char *folder;        /* of external data; NULL: nowhere */
	const struct weft_bound *bound;
	int n_bound;
	/*
	 * Sample i: fills in the data of the n inputs, whose types and shapes are
	 * given, from malloc. Returns 1; 0 if there is none (any more); or a negative
	 * errno with msg. Called twice for each sample with a percentile below 100.
	 */
	int (*sample)(void *user, int i, weft_tensor *inputs, int n, char msg WEFT_ROOM(WEFT_MSG_LEN));
	void *user;
	uint64_t reserved[4];      /* zero */
};

WEFT_API struct weft_quantize_options weft_quantize_options_default(void);

/**
 * Quantise a float32 .onnx network: the same with QuantizeLinear and
 * DequantizeLinear around convolutions, matrix products and what lies between
 * them. *out comes from malloc.
 *
 * @return 0; -EINVAL (bad file or option, or quantised already); -ENOTSUP (an
 *         operator that golden does not run, or nothing to quantise); -ENOMEM
 */
WEFT_API int weft_quantize(const void *data, size_t len_bytes, const struct weft_quantize_options *o, uint8_t **out,
                  size_t *len_out, char msg WEFT_ROOM(WEFT_MSG_LEN));

enum weft_device { WEFT_DEVICE_GOLDEN, WEFT_DEVICE_MODEL, WEFT_DEVICE_RTL, WEFT_DEVICE_USB };

/** "golden", "model", "rtl", "usb". */
WEFT_API const char *weft_device_name(enum weft_device d);
/** What a session on d opens; golden has no device, and answers as the model. */
WEFT_API enum weft_dev_kind weft_device_kind(enum weft_device d);

struct weft_session_options {
	enum weft_device device;
	const char *config;        /* "w16" */
	enum weft_memory memory;   /* profile of the simulated memory (RTL) and of estimates */
	bool check;                /* compare every tensor that the device makes with golden */
	bool for_rtl;              /* model: compile for what the RTL has, which may be less */
	bool strict;               /* refuse host operators in the middle of the network */
	bool keep;                 /* keep every tensor for weft_report_tensor() */
	const char *rtl_dir;       /* see weft/dev.h */
	const char *wave;          /* RTL: FST file */
	int64_t wave_cmd;          /* as weft_net_disassemble() counts; -1: the whole run */
	uint64_t wave_cycles;
	struct weft_plant plant;   /* RTL: a fault to plant, for tests */
	const char *capture;       /* where a job that fails or differs is kept (.wcap), or NULL */
	/* Called now and then while a run is under way: commands retired of all.
	 * NULL: not. */
	void (*progress)(void *user, uint64_t done, uint64_t all);
	void *progress_user;
	const char *usb;           /* USB: which card; see weft/dev.h */
	unsigned usb_wait_ms;      /* USB: wait so long for it to be plugged in */
	unsigned timeout_ms;       /* of each stream; 0: none */
	const char *profile;       /* trace of the run (Trace Event Format: Perfetto), or NULL; not golden */
	uint64_t profile_grain;    /* states shorter than so many cycles share a slice; 0: as the run's length wants */
	unsigned threads;          /* to compile with, at most; 0: one */
	enum weft_runtime runtime; /* refuse a network that gives another one's bits; ANY: whichever */
	uint64_t reserved[3];      /* zero */
};

/** Defaults: the functional model, w16, ddr, no checks. */
WEFT_API struct weft_session_options weft_session_options_default(void);

/**
 * Compile (or take the compiled program) and open the device.
 * The net must outlive the session.
 * @return 0; -EINVAL (option; or strict: the operator that breaks it is named);
 *         -ENOENT (no such configuration or simulator); -ENOMEM
 */
WEFT_API int weft_session_open(const weft_net *net, const struct weft_session_options *o,
                      weft_session **s, char msg WEFT_ROOM(WEFT_MSG_LEN));
WEFT_API void weft_session_close(weft_session *s);

enum weft_run_unit { WEFT_RUN_HOST, WEFT_RUN_NPU };

/* One operator of the source network, or a group that was fused or runs in stripes. */
struct weft_op_report {
	int index;                 /* in the source file; the first of a group */
	const char *name;          /* its output tensor */
	const char *op;            /* "CONV_2D", "CONV_2D+ADD" */
	enum weft_run_unit unit;
	const char *reason;        /* why there */
	uint64_t macs;
	/* In which the array or the vector engine worked for it, half of those in which the other worked for another
	 * operator, and those in which both waited until a command of it began. Of all together the network's; 0 on host
	 * and model, and on a card, which does not tell. */
	uint64_t cycles;
	uint64_t estimate;         /* the compiler's, of cycles; 0 on the host */
	/* Of it, what runs on the host: processor time expected of golden, in ms of one core of an AMD EPYC; 0 where
	 * nothing does, negative where that depends on the data (control flow). */
	double host_ms;
	uint64_t dram_read_bytes, dram_write_bytes;
};

struct weft_mismatch {
	bool found;
	int op;                    /* index in the source file */
	const char *op_name, *tensor;
	int64_t index;             /* element, row-major */
	int64_t expected, got;
	int64_t cmd;               /* as weft_net_disassemble() counts; -1: seen at the end of the run */
	uint64_t cycle;
	struct weft_cosim_diff bytes; /* RTL: the first byte that differs from the model */
};

struct weft_report {
	uint64_t cycles;           /* RTL: sum over streams */
	uint64_t estimate;         /* what the compiler expects of cycles, in the session's memory profile */
	uint64_t macs;             /* of operators on the NPU */
	double host_ms;            /* of all operators where it is known */
	double utilization;        /* macs / (cycles * MACs a cycle of the configuration) */
	bool checked;
	uint64_t tensors, elements, mismatches;
	struct weft_mismatch first;
	struct weft_op_report *ops;
	int n_ops;
	struct weft_counters counters;
	double seconds;            /* host time in the device */
	double cpu_seconds;        /* of it, this thread's processor time */
	uint64_t sim_cycles;
};

/* How weft_session_run_segments() runs them. */
struct weft_segments {
	int n;                     /* segments of about equal work, at most */
	enum weft_memory memory;   /* profile in which they shall run */
	bool check;                /* with --check */
	/* Checkpoints go there, 000.seg, 001.seg, ..., for weft_segment_run(), and nothing runs. NULL: all run at once. */
	const char *dir;
	/* dir NULL: what each runs on: device, rtl_dir, plant, timeout_ms. */
	const struct weft_session_options *device;
};

/**
 * Run in segments: the functional model, for which the session was opened
 * (with for_rtl, if they shall run on the RTL), runs ahead and takes its state at
 * the end of operators, where nothing is under way; segments begin there, and prove
 * that they end in the state where the next begins. The report is that of one run
 * but for cycles: there is no overlap from one segment to the next.
 *
 * Each segment is a process, forked where the model comes to its beginning; no
 * other thread of the caller may hold a lock that the library needs.
 *
 * @param[out] n_segments  How many there were, or 0.
 * @param report  With segments->dir there is none.
 * @return as weft_session_run(); also -EIO with msg: a file, or a segment that did not run
 */
WEFT_API int weft_session_run_segments(weft_session *s, const weft_tensor *inputs, weft_tensor *outputs,
                              const struct weft_segments *segments, int *n_segments, struct weft_report **report, char msg WEFT_ROOM(WEFT_MSG_LEN));

/**
 * Run one segment from its checkpoint, which holds everything.
 *
 * @param o       device, rtl_dir, plant; the rest comes from the file
 * @param line    WEFT_MSG_LEN bytes: what was run and compared, for people.
 * @return 0; -EBADMSG: something differs, or the segment does not end where the next one begins; -EINVAL: the
 *         file; else as weft_session_run()
 */
WEFT_API int weft_segment_run(const char *file, const struct weft_session_options *o, char line WEFT_ROOM(WEFT_MSG_LEN), char msg WEFT_ROOM(WEFT_MSG_LEN));

/**
 * Run once.
 *
 * @param inputs   weft_net_n_inputs() tensors of the ports' types and shapes.
 * @param outputs  weft_net_n_outputs() tensors; data is allocated here and
 *                 freed by weft_tensor_release(); untouched on failure.
 * @param report   May be NULL; weft_report_free() frees it. Set on success and
 *                 on -EBADMSG.
 * @return 0; -EINVAL (input); -EBADMSG (checked, and something differs; report
 *         says what); -EIO (device fault; msg names it); -ETIMEDOUT; -ENOMEM;
 *         -ENODEV (card unplugged: close the session and open another)
 */
WEFT_API int weft_session_run(weft_session *s, const weft_tensor *inputs, weft_tensor *outputs,
                     struct weft_report **report, char msg WEFT_ROOM(WEFT_MSG_LEN));

/**
 * Run once, into memory of the caller.
 *
 * @param outputs  weft_net_n_outputs() tensors of the ports' types and shapes, with data;
 *                 what they hold after a failure is undefined.
 * @return as weft_session_run(); also -EINVAL: an output has another type or shape, or no memory
 */
WEFT_API int weft_session_run_into(weft_session *s, const weft_tensor *inputs, const weft_tensor *outputs,
                                   struct weft_report **report, char msg WEFT_ROOM(WEFT_MSG_LEN));

/*
 * Runs that go on by themselves. A thread of the session works through them in the order
 * in which they were submitted. These functions, weft_session_run() and
 * weft_session_run_into() may be called on one session from several threads; all others,
 * and weft_session_close(), only while no run is under way.
 */
typedef uint64_t weft_run;

#define WEFT_RUNS_MAX 64       /* of one session: submitted and not waited for */

/**
 * Submit a run and return at once.
 *
 * @param inputs   As weft_session_run(). The structs are copied; the data they point to
 * @param outputs  and that of the outputs (weft_session_run_into()) stay the caller's, and
 *                 must stay as they are until the run was waited for.
 * @param[out] run Its number, never 0; set only on success.
 * @return 0; -EINVAL (outputs); -EAGAIN: WEFT_RUNS_MAX runs were not waited for, or
 *         there is no thread; -ENOMEM, -EMFILE, -ENFILE
 *
 * Bad inputs are seen when the run begins: weft_session_wait() reports them.
 */
WEFT_API int weft_session_submit(weft_session *s, const weft_tensor *inputs, const weft_tensor *outputs, weft_run *run,
                                 char msg WEFT_ROOM(WEFT_MSG_LEN));

/**
 * Wait for a run. After any result but -EAGAIN its number means nothing any more.
 *
 * @param timeout_ms  Negative: as long as it takes; 0: only look.
 * @param report      As weft_session_run(): the report of this run.
 * @return as weft_session_run(); -ECANCELED; -EAGAIN: it has not ended in that time;
 *         -ENOENT: there is no such run
 */
WEFT_API int weft_session_wait(weft_session *s, weft_run run, int timeout_ms, struct weft_report **report,
                               char msg WEFT_ROOM(WEFT_MSG_LEN));

/**
 * Has a run ended that was not waited for?
 * @param[out] run  Of these the one that was submitted first; set only with 1.
 * @return 1, 0. Does not wait.
 */
WEFT_API int weft_session_poll(weft_session *s, weft_run *run);

/**
 * A descriptor for poll(), select() or epoll that is readable while a run has ended that was
 * not waited for.
 * @return the descriptor, the session's own until weft_session_close(): do not read or close
 *         it; -EMFILE, -ENFILE, -ENOMEM, -EAGAIN (no thread)
 */
WEFT_API int weft_session_fd(weft_session *s);

/**
 * Cancel a run: one that has not begun does not begin; one that is under way ends at the
 * next operator on the host or as soon as the device has given up its job. weft_session_wait()
 * then returns -ECANCELED, or how the run had ended before. Does not wait.
 * @return 0, -ENOENT
 */
WEFT_API int weft_session_cancel(weft_session *s, weft_run run);

WEFT_API void weft_report_free(struct weft_report *r);
WEFT_API void weft_tensor_release(weft_tensor *t);

/** The session's device, for what weft/dev.h shows of it between runs; NULL on golden. */
WEFT_API weft_dev *weft_session_device(weft_session *s);

/** The last run's profile as a table, from malloc; NULL: options named none. */
WEFT_API char *weft_session_profile_text(const weft_session *s);

/* What would run where, without running: ops of weft_report, no measurements. */
WEFT_API int weft_session_plan(weft_session *s, struct weft_report **report, char msg WEFT_ROOM(WEFT_MSG_LEN));

/**
 * Has a run of this session written options.capture? The first failure is kept.
 * @return 1; 0: nothing failed; negative errno: it could not be written
 */
WEFT_API int weft_session_captured(const weft_session *s);

/* Tensors of the last run, if options said keep. */
struct weft_kept {
	int op;                    /* source operator; -1: input */
	const char *name;
	bool internal;             /* made by lowering, not in the source file */
	const weft_tensor *tensor; /* as the device made it; owned by the session */
};
WEFT_API int weft_session_n_kept(const weft_session *s);
/** @return 0, -ERANGE */
WEFT_API int weft_session_kept(const weft_session *s, int i, struct weft_kept *k);

/** The program's streams as text (disassembly), from malloc. Commands are counted through all of them. */
WEFT_API int weft_net_disassemble(const weft_net *net, const char *config, char **text, char msg WEFT_ROOM(WEFT_MSG_LEN));
/** Verify the program's streams. @return 0, -EINVAL with the rule in msg */
WEFT_API int weft_net_verify(const weft_net *net, const char *config, char msg WEFT_ROOM(WEFT_MSG_LEN));

#ifdef __cplusplus
}
#endif
#endif
