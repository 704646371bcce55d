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
 * Errors are negative errno with one line in msg. Nothing prints or exits. Of the environment
 * nothing is read but WEFT_BROKER (weft/dev.h), also by the simulators that a session loads. A net is
 * immutable once loaded and may be shared by threads; a session belongs to one thread
 * at a time, but for the functions that run it (see weft_session_submit()). Different nets and sessions do not disturb each other.
 */
#ifndef WEFT_H
#define WEFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/api.h>
#include <weft/custom.h>
#include <weft/dev.h>
#include <weft/op.h>
#include <weft/runtime.h>
#include <weft/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WEFT_MSG_LEN 256       /* bytes of a message buffer */

typedef struct weft_net weft_net;
typedef struct weft_session weft_session;

/**
 * Load a network from a file's len_bytes bytes in memory, or from a file: .tflite, .tosa (TOSA 1.0),
 * .onnx, or .weft as weft_net_save() writes it. The contents say which it is.
 *
 * @param name      The file's name, for messages and reports; copied.
 * @param[out] net  Set only on success; weft_net_free() frees it.
 * @param msg       WEFT_MSG_LEN bytes, here and below; one line on failure.
 * @return 0; -EINVAL (a bad file); -ENOTSUP (an operator or type that is not
 *         supported); -ENOMEM; or another negative errno of reading the file
 */
WEFT_API int weft_net_load(const void *data, size_t len_bytes, const char *name, weft_net **net, char msg WEFT_ROOM(WEFT_MSG_LEN));
WEFT_API int weft_net_load_file(const char *path, weft_net **net, char msg WEFT_ROOM(WEFT_MSG_LEN));
/** Free a network, whose sessions must have been closed before. NULL is fine. */
WEFT_API void weft_net_free(weft_net *net);

/*
 * Something that is known of an input of the file. With data (.onnx), the input becomes a constant of
 * that value, such as a shape. Without data (.onnx, .tflite), only its shape is given, for
 * dimensions that the file leaves open; the others must be the file's own. A shape of one number
 * is the one open dimension of a tensor of another rank.
 */
struct weft_bound {
	const char *name;          /* the input's name */
	weft_tensor value;         /* its value, of the file's type, or only its shape; copied */
};

/* How to load a file: what it leaves open, and what is asked of it. */
struct weft_load_options {
	/*
	 * .onnx: how int32 sums become 8 bits. False: with ONNX's bits, by RESCALE where that is
	 * proven equal for every sum, otherwise by an operator on the host. True: by the
	 * nearest RESCALE throughout, which the NPU does; results may differ by 1 at ties. Biases of
	 * floats between DequantizeLinear and QuantizeLinear become the nearest integers.
	 */
	bool requant_rescale;
	const char *folder;        /* .onnx: folder of external data; NULL: nowhere (weft_net_load_file: the file's) */
	const struct weft_bound *bound;    /* .onnx, .tflite: what is known of inputs; n_bound of them */
	int n_bound;
	bool level_8k;             /* any format: refuse a network that exceeds TOSA's level 8K */
	/*
	 * .onnx: ONNX Runtime's own arithmetic. Sums become 8 bits as in its kernels, where the product of sum and scales is
	 * rounded to float32 first; int16 stays float32; matrix products and convolutions of floats add in its order.
	 * Mostly on the host.
	 */
	bool requant_runtime;
	bool backbone;             /* .tflite: leave out a custom operator at the end; its operands become outputs */
	/*
	 * .onnx: n_given values of inputs that are known, at most 64. Such an input becomes a constant only
	 * if it decides on a shape or a form of the network, and is then no input any more; all
	 * of them give their shape where the file leaves it open. A value of type 0 and rank 1 is
	 * dim[0] bytes, which have the file's type and shape.
	 */
	const struct weft_bound *given;
	int n_given;
	/* .tflite: the release whose results to give, bit for bit. .weft, which stores it: refuse another one. */
	enum weft_runtime runtime;
	const char *signature;     /* .tflite: the signature to load; its names are those of inputs and outputs. NULL: the first subgraph */
	/*
	 * .tflite, and .weft and .tosa files made of it: the functions of custom operators; NULL: there are none. A network
	 * with a custom operator that the table does not name is refused with -ENOTSUP.
	 */
	const struct weft_custom_table *custom;
	/*
	 * .onnx, with requant_runtime: sums of uint8 by int8 products of QLinearConv, QLinearMatMul and their kin as on
	 * processors with AVX2 and without VNNI, where two neighbouring products saturate to 16 bits. Sums that may saturate
	 * are the host's. Without requant_runtime it does nothing.
	 */
	bool requant_avx2;
	/*
	 * .onnx: the same choice by one name, which counts more than the three fields above unless it is ANY. .weft, which
	 * stores it: refuse another one.
	 */
	enum weft_requant requant;
	/*
	 * Programs compiled for the network have no coded weights, so that devices without the feature bit `coded` take them. It
	 * does nothing to the program of a .weft file.
	 */
	bool no_compress;
};

/** Returns the defaults: nothing is known of inputs, ONNX's bits, no level, the newest runtime. */
WEFT_API struct weft_load_options weft_load_options_default(void);

/** weft_net_load() and weft_net_load_file() with options; o NULL: the defaults. */
WEFT_API int weft_net_load_with(const void *data, size_t len_bytes, const char *name, const struct weft_load_options *o,
                       weft_net **net, char msg WEFT_ROOM(WEFT_MSG_LEN));
WEFT_API int weft_net_load_file_with(const char *path, const struct weft_load_options *o, weft_net **net, char msg WEFT_ROOM(WEFT_MSG_LEN));

/* An input or output of a network. The name lives as long as the net. */
struct weft_port {
	const char *name;
	weft_dtype dtype;
	int rank;
	int64_t dim[WEFT_MAX_RANK];
	bool quantised;            /* the file states a quantisation: scale and zero point */
	double scale;
	int64_t zp;
};

/**
 * Returns the runtime whose results a network gives bit for bit; WEFT_RUNTIME_ANY: it does not come
 * from .tflite.
 */
WEFT_API enum weft_runtime weft_net_runtime(const weft_net *net);

/** Returns the arithmetic by which a network's sums become codes; WEFT_REQUANT_ANY: it does not come from .onnx. */
WEFT_API enum weft_requant weft_net_requant(const weft_net *net);

/** Return the number of a network's inputs, and of its outputs. */
WEFT_API int weft_net_n_inputs(const weft_net *net);
WEFT_API int weft_net_n_outputs(const weft_net *net);
/** Describe input or output i in *p. @return 0; -ERANGE: there is no such one */
WEFT_API int weft_net_input(const weft_net *net, int i, struct weft_port *p);
WEFT_API int weft_net_output(const weft_net *net, int i, struct weft_port *p);
/*
 * A FULLY_CONNECTED of a .tflite file whose operands are known before the run is computed when the file is loaded if it has at
 * most so many multiplications. They count nowhere, since no run does them.
 */
#define WEFT_MACS_AT_LOADING (1 << 20)

/** Return the number of a network's variables: values that a session keeps from one run to the next. */
WEFT_API int weft_net_n_variables(const weft_net *net);
/**
 * Describe variable i in *p, without a quantisation. Its name is the file's; of a .tflite operator's state (SVDF, LSTM, RNN) it is the
 * tensor's name, "@", and the numbers of subgraph and tensor with ":" between. @return 0; -ERANGE: there is no such one
 */
WEFT_API int weft_net_variable(const weft_net *net, int i, struct weft_port *p);

/**
 * Returns the number of operators to which the file was lowered; they are in an order in which they
 * can run. There may be more of them than the file has, or fewer. Those of subgraphs do not count.
 */
WEFT_API int weft_net_n_ops(const weft_net *net);
/** Returns operator i, 0..weft_net_n_ops()-1; WEFT_OP_NONE for another number. weft_op_name() names it. */
WEFT_API weft_opcode weft_net_op(const weft_net *net, int i);

/**
 * Compile a network for a configuration, unless it is a .weft file for that one, verify the program and
 * write it as a .weft file. The same network and configuration give the same bytes.
 *
 * @param config    The configuration's name; NULL: that of a loaded .weft file, or "w16".
 * @param[out] out  The file's *len_bytes bytes, from malloc; only on success.
 * @return 0; -EINVAL (no such configuration, or a network that a .weft file cannot hold); -ENOMEM; or
 *         another negative errno of the compiler; msg has one line
 */
WEFT_API int weft_net_save(const weft_net *net, const char *config, uint8_t **out, size_t *len_bytes, char msg WEFT_ROOM(WEFT_MSG_LEN));

/**
 * Compile, verify and write as weft_net_save() does, to a file of this path, which gets the same bytes. They are
 * not in memory as a whole, unless a device or a pipe has that path. After a failure an older file of that path is
 * unchanged.
 *
 * @return 0; -EINVAL, -E2BIG or -ENOMEM as weft_net_save(), without the path in msg; or the negative errno of
 *         writing the file, whose path msg begins with
 */
WEFT_API int weft_net_save_file(const weft_net *net, const char *config, const char *path, char msg WEFT_ROOM(WEFT_MSG_LEN));

/**
 * Write a network as a .tosa file (TOSA 1.0). Unsigned bytes become INT8. Operators that TOSA cannot
 * express exactly become CUSTOM of domain "weft", which only this library reads.
 *
 * @param strict    Refuse such operators instead.
 * @param[out] out  The file's *len_bytes bytes, from malloc.
 * @param note      WEFT_MSG_LEN bytes: names of the operators written as CUSTOM, or "".
 * @return 0; -ENOTSUP: the network cannot be expressed, msg names the operator; -ENOMEM
 */
WEFT_API int weft_net_convert(const weft_net *net, bool strict, uint8_t **out, size_t *len_bytes, char note WEFT_ROOM(WEFT_MSG_LEN), char msg WEFT_ROOM(WEFT_MSG_LEN));

enum weft_quantize_type {
	WEFT_QUANTIZE_INT8,        /* activations int8 with a zero point, weights int8 by channel */
	WEFT_QUANTIZE_INT16X8,     /* activations int16 without, weights int8 by channel */
	WEFT_QUANTIZE_FP8,         /* both float8 E4M3 */
};

struct weft_quantize_options {
	enum weft_quantize_type type;
	double percentile;         /* above 50..100: the share of values that ranges reach at each end; 100: all */
	const char *folder;        /* folder of external data; NULL: nowhere */
	const struct weft_bound *bound;    /* what is known of inputs; n_bound of them, at most 16 */
	int n_bound;
	/*
	 * Gives sample i: fills in the data of the n inputs, whose types and shapes are
	 * set, with memory from malloc. Returns 1; 0 if there is no such sample; or a negative
	 * errno with one line in msg. With a percentile below 100 it is called twice for each sample.
	 */
	int (*sample)(void *user, int i, weft_tensor *inputs, int n, char msg WEFT_ROOM(WEFT_MSG_LEN));
	void *user;                /* the first argument of sample */
	uint64_t reserved[4];      /* zero */
};

/** Returns the defaults: int8, percentile 100, no sample. */
WEFT_API struct weft_quantize_options weft_quantize_options_default(void);

/**
 * Quantise a float .onnx or .tflite network of len_bytes bytes. Of .onnx the result is the same network
 * with QuantizeLinear and DequantizeLinear around convolutions, matrix products and what lies between
 * them. Of .tflite it is a .tflite network whose operators are those of integers, where LiteRT has them;
 * there is no float8.
 *
 * @param[out] out  The new file's *len_out bytes, from malloc; after a failure there is nothing to free.
 * @param msg       WEFT_MSG_LEN bytes; one line on failure.
 * @return 0; -EINVAL (a bad file or option, such as a percentile that is not above 50 and at most 100, no
 *         samples, or a network that is quantised already); -ENOTSUP (an operator that golden does not
 *         run, nothing to quantise, or in .tflite float8 or an operator that names other subgraphs or whose
 *         options cannot be written again); -ENOMEM; or what o->sample returned
 */
WEFT_API int weft_quantize(const void *data, size_t len_bytes, const struct weft_quantize_options *o, uint8_t **out,
                  size_t *len_out, char msg WEFT_ROOM(WEFT_MSG_LEN));

enum weft_device { WEFT_DEVICE_GOLDEN, WEFT_DEVICE_MODEL, WEFT_DEVICE_RTL, WEFT_DEVICE_USB };

/** Returns "golden", "model", "rtl" or "usb". */
WEFT_API const char *weft_device_name(enum weft_device d);
/**
 * Returns the kind of device that a session on d opens. Golden has no device; for it the model's is
 * returned.
 */
WEFT_API enum weft_dev_kind weft_device_kind(enum weft_device d);

struct weft_session_options {
	enum weft_device device;   /* the device on which the network runs */
	const char *config;        /* the configuration's name; NULL: that of `on` or `on_cards`, the one that the card or cards on the USB have, or "w16" */
	enum weft_memory memory;   /* profile of the simulated memory (RTL), and of estimates */
	bool check;                /* compare every tensor that the device makes with golden */
	bool for_rtl;              /* model: compile for the features of the RTL, which may have fewer */
	bool strict;               /* refuse a network with operators on the host in its middle */
	bool keep;                 /* keep every tensor for weft_session_kept(); a network compiled for it computes all channels */
	const char *rtl_dir;       /* see weft/dev.h */
	const char *wave;          /* RTL: record waves to this FST file, which is there when the run has ended; NULL: record none */
	int64_t wave_cmd;          /* command, as weft_net_disassemble() counts, around which to record; -1: the whole run */
	uint64_t wave_cycles;      /* cycles before and after that command's retirement */
	struct weft_plant plant;   /* RTL: a fault to plant, for tests */
	const char *capture;       /* the first job that fails or differs is kept in this file (.wcap); NULL: none is */
	/* Called as commands retire: `done` of `all` commands of the run have. NULL: it is not called. */
	void (*progress)(void *user, uint64_t done, uint64_t all);
	void *progress_user;       /* the first argument of progress */
	const char *usb;           /* USB: which card (weft/dev.h), or which cards (weft/cards.h) */
	unsigned usb_wait_ms;      /* USB: wait so long for it to be plugged in */
	unsigned timeout_ms;       /* time limit of each stream, and of each loop or branch on the host; 0: none */
	const char *profile;       /* write a trace of the run (Trace Event Format) to this file; NULL: none; not golden */
	uint64_t profile_grain;    /* in it, states shorter than so many cycles share a slice; 0: by the run's length */
	unsigned threads;          /* compile with at most so many threads; 0: one */
	enum weft_runtime runtime; /* refuse a network that gives another runtime's results; ANY: take all */
	/*
	 * A device to run on, of the kind and configuration named above; NULL: the session opens one. It
	 * stays the caller's and must outlive the session. Sessions may share one, if only one of them
	 * runs, is opened or closed at a time. What such a device was opened with holds (weft/dev.h): on
	 * the RTL check needs cosim, profile needs samples, and waves are those of the device.
	 */
	weft_dev *on;
	/*
	 * Cards to run on, of the configuration named above (weft_cards_open()); NULL: the session opens what
	 * `usb` names. They stay the caller's and must outlive the session. Sessions may share them, and
	 * may run, be opened and be closed at the same time.
	 */
	struct weft_cards *on_cards;
	/*
	 * A folder in which compiled programs are kept, made if it is not there, which must belong to this user alone; NULL:
	 * none are kept. What is there is taken instead of compiling, if network, options and library are the same, and is
	 * replaced if it is damaged; above 2 GiB what was used longest ago goes. Several processes may use it at
	 * once. A cache that cannot be used is no error; weft_session_cache() says what came of it.
	 */
	const char *cache;
	enum weft_requant requant; /* refuse a network with another arithmetic of sums; ANY: take all */
};

/** Returns the defaults: the functional model, configuration w16, memory DDR, no checks. */
WEFT_API struct weft_session_options weft_session_options_default(void);

/**
 * Open a session: compile the network, unless it is a .weft file for this configuration, and open
 * the device. The net must outlive the session.
 *
 * @param[out] s  Set only on success; weft_session_close() frees it.
 * @return 0; -EINVAL (a bad option, another runtime, or strict, where msg names the operator);
 *         -ENOENT (no such configuration or simulator); -ENOMEM; or as weft_dev_open()
 */
WEFT_API int weft_session_open(const weft_net *net, const struct weft_session_options *o,
                      weft_session **s, char msg WEFT_ROOM(WEFT_MSG_LEN));
enum weft_cache_state {
	WEFT_CACHE_OFF,            /* nothing was looked for: no folder is named, or nothing was compiled for a device */
	WEFT_CACHE_HIT,            /* the program was there */
	WEFT_CACHE_MADE,           /* it was compiled, and is there now */
	WEFT_CACHE_FAILED,         /* it was compiled, but could not be kept */
};

/**
 * Returns what came of the folder of compiled programs (struct weft_session_options) when the session was opened. With
 * WEFT_CACHE_FAILED *why is one line, which names the folder and lives as long as the session; else "".
 */
WEFT_API enum weft_cache_state weft_session_cache(const weft_session *s, const char **why);

/** Returns the name of a session's configuration, also if its options named none. The string is static. */
WEFT_API const char *weft_session_config(const weft_session *s);

/** Close a session: cancel its runs, close the device, free everything. NULL is fine. */
WEFT_API void weft_session_close(weft_session *s);

enum weft_run_unit { WEFT_RUN_HOST, WEFT_RUN_NPU };

/*
 * What a run, or the plan of one, says of one operator of the source network, or of a group that was
 * fused or runs in stripes.
 */
struct weft_op_report {
	int index;                 /* its index in the source file; of a group the first one's */
	const char *name;          /* the name of its output tensor */
	const char *op;            /* the operators' names in the file: "CONV_2D", "CONV_2D+ADD" */
	enum weft_run_unit unit;   /* where it ran: on the host if any part of it did */
	const char *reason;        /* why it ran there */
	uint64_t macs;             /* its multiplications: of a loop those of one round, of a branch those of the larger side */
	/*
	 * Cycles that count for it: those in which the array or the vector engine worked for it alone, half
	 * of those in which the other unit worked for another operator, and those in which both waited
	 * until a command of it began. All operators' cycles together are the network's. 0 on the host
	 * and the model, and on a card, which does not tell when commands retire.
	 */
	uint64_t cycles;
	uint64_t estimate;         /* the cycles that the compiler expects; 0 on the host */
	/*
	 * The processor time that its part on the host takes, as expected of golden, in ms of one core of an
	 * AMD EPYC; 0 if nothing runs there, negative if that depends on the data (control flow).
	 */
	double host_ms;
	uint64_t dram_read_bytes, dram_write_bytes;    /* bytes that its loads and stores moved */
	uint64_t macs_folded;      /* multiplications among macs that nothing does, since their channels are folded */
};

/* The first element that differs from golden. */
struct weft_mismatch {
	bool found;                /* there is one */
	int op;                    /* index of its operator in the source file; -1: none */
	const char *op_name, *tensor;  /* names of operator and tensor */
	int64_t index;             /* the element's index in the tensor, row-major */
	int64_t expected, got;     /* its values; floats as their bits */
	int64_t cmd;               /* the command that made it, as weft_net_disassemble() counts; -1: seen only at the end */
	uint64_t cycle;            /* the cycle of its retirement within the stream; 0: not known */
	struct weft_cosim_diff bytes; /* RTL: the first byte that differs from the model */
};

/* What a run measured; weft_session_plan() leaves what is measured 0. */
struct weft_report {
	uint64_t cycles;           /* sum over streams of the NPU's cycles; 0 on golden and the model */
	uint64_t estimate;         /* the cycles that the compiler expects in the session's memory profile */
	uint64_t macs;             /* multiplications of operators on the NPU (on golden: of all operators) */
	double host_ms;            /* sum of all operators' host_ms that are known */
	/* (macs - macs_folded) / (cycles * multiplications of the configuration in a cycle); 0 without cycles */
	double utilization;
	bool checked;              /* tensors were compared with golden: */
	uint64_t tensors, elements, mismatches;    /* tensors compared as a whole, elements compared, elements that differ */
	struct weft_mismatch first;    /* the first difference */
	struct weft_op_report *ops;    /* n_ops entries in the file's order */
	int n_ops;
	struct weft_counters counters; /* sums over streams */
	double seconds;            /* time on the host that the device's jobs took */
	double cpu_seconds;        /* processor time of the thread within it */
	uint64_t sim_cycles;       /* RTL: cycles simulated */
	uint64_t macs_all;         /* of all operators, wherever they run */
	double npu_cycles;         /* 0 to 1: estimate / (estimate + host_ms as cycles at 100 MHz); 1 if both are 0 */
	/*
	 * n_switches names of tensors that the NPU makes and the host reads, or the other way round.
	 * QUANTIZE, DEQUANTIZE and SOFTMAX next to the network's inputs or outputs do not count.
	 */
	const char **switches;
	int n_switches;
	/*
	 * Channels of all convolutions' results, and how many of them no step makes (they are folded): constants, which
	 * later biases hold, and channels that nothing reads. A comparison with golden looks at those that are made.
	 * macs counts their multiplications all the same, as the network states them; macs_folded is how many these are.
	 */
	uint64_t channels, folded, macs_folded;
};

/* How weft_session_run_segments() runs segments. */
struct weft_segments {
	int n;                     /* at most so many segments, which take about the same time */
	enum weft_memory memory;   /* the memory profile in which they run */
	bool check;                /* compare them with golden */
	/* Write checkpoints 000.seg, 001.seg ... to this folder, for weft_segment_run(), and run nothing. NULL: run all. */
	const char *dir;
	/* If dir is NULL: what each segment runs on (its device, rtl_dir, plant and timeout_ms are used). */
	const struct weft_session_options *device;
};

/**
 * Run a network in segments. The functional model, for which the session must have been opened (with
 * for_rtl, if segments shall run on the RTL), runs ahead and takes its state at points between two
 * commands, where none is under way. A segment begins at each point and must end in the state in which
 * the next one begins. The report is that of one run but for cycles: there is no overlap from one
 * segment to the next.
 *
 * Each segment is a process, which is forked when the model comes to its beginning; no other thread of
 * the caller may hold a lock that the library needs.
 *
 * @param outputs  Data that is not NULL is memory for the output's values; other data is allocated here
 *                 and freed by weft_tensor_release(). Set on success and on -EBADMSG; after another
 *                 failure, which may come when they are made already, some or all may be set too, and
 *                 are the caller's.
 * @param[out] n_segments  How many segments there were; 0 after a failure other than -EBADMSG.
 * @param[out] report  The report, on success and on -EBADMSG, which weft_report_free() frees;
 *                     otherwise, and with segments->dir, *report is NULL.
 * @return as weft_session_run(); also -EIO: a file cannot be written, or a segment did not run;
 *         -EINVAL: a network with variables, or a session on another device or over cards
 */
WEFT_API int weft_session_run_segments(weft_session *s, const weft_tensor *inputs, weft_tensor *outputs,
                              const struct weft_segments *segments, int *n_segments, struct weft_report **report, char msg WEFT_ROOM(WEFT_MSG_LEN));

/**
 * Run one segment from its checkpoint file, which holds the program and everything else.
 *
 * @param o       The device, its rtl_dir and plant; configuration, memory profile and check are the
 *                file's.
 * @param line    WEFT_MSG_LEN bytes: one line that says what was run and compared, for people; "" if it
 *                did not run to its end.
 * @param msg     WEFT_MSG_LEN bytes; one line on failure.
 * @return 0; -EBADMSG: something differs, or the segment does not end in the state in which the next
 *         one begins; -EINVAL: the file is bad or cannot be read; -ENOMEM; or as weft_session_open()
 *         and weft_session_run()
 */
WEFT_API int weft_segment_run(const char *file, const struct weft_session_options *o, char line WEFT_ROOM(WEFT_MSG_LEN), char msg WEFT_ROOM(WEFT_MSG_LEN));

/**
 * Run the network once and wait for the result.
 *
 * @param inputs   weft_net_n_inputs() tensors of the inputs' types and sizes, with data.
 * @param[out] outputs  weft_net_n_outputs() tensors, whose data is allocated here and
 *                 freed by weft_tensor_release(); untouched on failure.
 * @param[out] report  May be NULL. Set on success and on -EBADMSG; weft_report_free() frees it.
 * @return 0; -EINVAL (a bad input); -EBADMSG (the run is checked, and something differs; the report
 *         says what); -EIO (a fault of the device, which msg names); -ETIMEDOUT; -ENOMEM;
 *         -ENODEV (the card is unplugged: close the session and open another)
 */
WEFT_API int weft_session_run(weft_session *s, const weft_tensor *inputs, weft_tensor *outputs,
                     struct weft_report **report, char msg WEFT_ROOM(WEFT_MSG_LEN));

/**
 * Run the network once, into memory of the caller, and wait for the result.
 *
 * @param outputs  weft_net_n_outputs() tensors of the ports' types and shapes, with data; what that
 *                 memory holds after a failure is undefined.
 * @param[out] report  As for weft_session_run().
 * @return as weft_session_run(); also -EINVAL: an output has another type or shape, or no data
 */
WEFT_API int weft_session_run_into(weft_session *s, const weft_tensor *inputs, const weft_tensor *outputs,
                                   struct weft_report **report, char msg WEFT_ROOM(WEFT_MSG_LEN));

/**
 * Copy the value of variable i in a session, or set it. A session's variables begin with the network's values and keep theirs
 * from run to run, in the order of the runs; a run that fails may leave some of them changed. Waits for a run that is under way.
 *
 * @param value  The variable's type and number of bytes, with data, which are read or written here.
 * @return 0; -ERANGE: there is no variable i; -EINVAL: another type or size, or no data; -ENODATA (get): it has no value yet
 */
WEFT_API int weft_session_get_variable(weft_session *s, int i, const weft_tensor *value);
WEFT_API int weft_session_set_variable(weft_session *s, int i, const weft_tensor *value);
/** Give all variables the values that they had when the session was opened. Waits for a run that is under way. */
WEFT_API void weft_session_reset_variables(weft_session *s);

/*
 * Runs that go on by themselves. A thread of the session works through them in the order
 * in which they were submitted; over several cards (weft/cards.h) a thread for each card does. These functions, those of variables,
 * weft_session_run() and weft_session_run_into() may be called on one session from several threads; all others,
 * and weft_session_close(), only while no run is under way.
 */
typedef uint64_t weft_run;

#define WEFT_RUNS_MAX 64       /* the most runs of one session that were submitted and not waited for */

/**
 * Submit a run and return at once.
 *
 * @param inputs   As for weft_session_run(). The structs are copied; the data that they point to
 *                 stay the caller's and must not change until the run was waited for.
 * @param outputs  As for weft_session_run_into(). The structs are copied; the memory that they point
 *                 to must stay until the run was waited for.
 * @param[out] run The run's number, never 0; set only on success.
 * @return 0; -EINVAL (bad outputs); -EAGAIN: WEFT_RUNS_MAX runs were not waited for, or
 *         there is no thread; -ENOMEM, -EMFILE, -ENFILE
 *
 * Bad inputs are noticed when the run begins: weft_session_wait() reports them.
 */
WEFT_API int weft_session_submit(weft_session *s, const weft_tensor *inputs, const weft_tensor *outputs, weft_run *run,
                                 char msg WEFT_ROOM(WEFT_MSG_LEN));

/**
 * Wait for a run. After any result but -EAGAIN its number means nothing any more.
 *
 * @param timeout_ms  Milliseconds; negative: wait as long as it takes; 0: only look whether it has
 *                    ended.
 * @param[out] report  The report of this run, if it made one (on success and on -EBADMSG), which the
 *                     caller frees; otherwise untouched. NULL: it is freed here.
 * @param msg  What weft_session_run() would have written; a line for -EAGAIN and -ENOENT.
 * @return what weft_session_run() would have returned; -ECANCELED: it was cancelled; -EAGAIN: it has
 *         not ended in that time; -ENOENT: there is no such run
 */
WEFT_API int weft_session_wait(weft_session *s, weft_run run, int timeout_ms, struct weft_report **report,
                               char msg WEFT_ROOM(WEFT_MSG_LEN));

/**
 * Look whether a run has ended that was not waited for, and before which no other run was submitted
 * that has not ended. Does not wait, and leaves the run to weft_session_wait(). Runs of
 * weft_session_run() and weft_session_run_into() do not count.
 * @param[out] run  The one of these that was submitted first; untouched if there is none.
 * @return 1: there is one; 0: there is none
 */
WEFT_API int weft_session_poll(weft_session *s, weft_run *run);

/**
 * Returns a descriptor for poll(), select() or epoll that is readable while weft_session_poll() has a
 * run to tell of.
 * @return the descriptor, the session's own until weft_session_close(): do not read or close
 *         it; -EMFILE, -ENFILE, -ENOMEM, -EAGAIN (no thread)
 */
WEFT_API int weft_session_fd(weft_session *s);

/**
 * Cancel a run. One that has not begun ends at once, with -ECANCELED; one that is under way ends at the
 * next step of the program, at the next operator within control flow, or as soon as the device has
 * given up its job. weft_session_wait() then returns -ECANCELED, or how the run had ended before. For a
 * run that has ended nothing is done. Does not wait.
 * @return 0; -ENOENT: there is no such run
 */
WEFT_API int weft_session_cancel(weft_session *s, weft_run run);

/** Free a report. NULL is fine. */
WEFT_API void weft_report_free(struct weft_report *r);
/** Free a tensor's data and make it NULL; the struct itself is the caller's. */
WEFT_API void weft_tensor_release(weft_tensor *t);

/**
 * Returns the session's device, for what weft/dev.h shows of it between runs; over several cards the first
 * one's; NULL on golden.
 */
WEFT_API weft_dev *weft_session_device(weft_session *s);
/** Returns the cards over which the session runs, for weft_cards_info(); NULL: it runs on one device. */
WEFT_API struct weft_cards *weft_session_cards(weft_session *s);

/**
 * Returns the last run's profile as a table, from malloc; NULL: options name no profile, or there is no
 * memory.
 */
WEFT_API char *weft_session_profile_text(const weft_session *s);

/**
 * Report what would run where, without running anything: the report's ops and estimates. On golden the
 * network is compiled for that, as for a device, once. After a run the entries also have what that run
 * measured.
 * @param[out] report  NULL on failure; weft_report_free() frees it.
 * @return 0, -ENOMEM, or another negative errno of the compiler, with one line in msg
 */
WEFT_API int weft_session_plan(weft_session *s, struct weft_report **report, char msg WEFT_ROOM(WEFT_MSG_LEN));

/**
 * Ask whether a run of this session, over several cards on any of them, has written options.capture,
 * which keeps the first failure.
 * @return 1: it has; 0: it has not tried, as nothing failed; negative errno: the file could not be written
 */
WEFT_API int weft_session_captured(const weft_session *s);

/* A tensor of the last run. */
struct weft_kept {
	int op;                    /* index of its operator in the source file; -1: none makes it */
	const char *name;
	bool internal;             /* it was made by lowering and is not in the source file */
	const weft_tensor *tensor; /* the tensor as the device made it, owned by the session; NULL: it is not there */
};
/** Returns the number of tensors of the lowered network, which weft_session_kept() counts. */
WEFT_API int weft_session_n_kept(const weft_session *s);
/**
 * Describe tensor i, 0 to weft_session_n_kept() - 1, of the last run in *k. Without options.keep only
 * those are there (k->tensor not NULL) that the host had; on golden there may be none. The tensor is valid until
 * the next run or weft_session_close().
 * @return 0; -ERANGE: there is no tensor i, and *k is untouched
 */
WEFT_API int weft_session_kept(const weft_session *s, int i, struct weft_kept *k);

/**
 * Compile a network for a configuration (as weft_net_save) and write its program as text: one line
 * about its size, then step by step the host's operators and the NPU's commands, which are counted
 * through all streams.
 * @param[out] text  From malloc; only on success.
 * @return 0, -ENOMEM, or another negative errno of the compiler, with one line in msg
 */
WEFT_API int weft_net_disassemble(const weft_net *net, const char *config, char **text, char msg WEFT_ROOM(WEFT_MSG_LEN));
/**
 * Compile a network for a configuration (as weft_net_save) and let the static verifier check the
 * streams of its program, against the features of the functional model. No device is opened.
 * @return 0; -EINVAL: a stream breaks the rule in msg, which names the step, or there is no such
 *         configuration; -ENOMEM; or another negative errno of the compiler; msg has one line
 */
WEFT_API int weft_net_verify(const weft_net *net, const char *config, char msg WEFT_ROOM(WEFT_MSG_LEN));

#ifdef __cplusplus
}
#endif
#endif
