/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the subcommands share: exit states, options, messages.
 */
#ifndef TOOLS_WEFT_CMD_H
#define TOOLS_WEFT_CMD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/gen/config.h>
#include <weft/weft.h>

enum {
	EXIT_DONE = 0,
	EXIT_DIFFERS = 1,          /* tensors differ or a test failed */
	EXIT_USAGE = 2,            /* bad usage or bad input file */
	EXIT_DEVICE = 3,
};

/* One subcommand. main gets the arguments behind its name. */
struct subcommand {
	const char *name, *brief;
	const char *usage;
	int (*main)(int argc, char **argv);
};

extern const struct subcommand cmd_run, cmd_info, cmd_compile, cmd_dump, cmd_verify, cmd_convert, cmd_cast,
                               cmd_accuracy, cmd_conform, cmd_bench, cmd_devices, cmd_replay, cmd_reduce, cmd_quantize,
                               cmd_card, cmd_diag, cmd_regs, cmd_peek, cmd_poke, cmd_log, cmd_reset, cmd_farm;

/** "weft: " and the line on standard error, control characters in it escaped; returns status. */
int fail(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** A name from a file as it may be printed: weft_one_line() of a copy that the second next call overwrites. */
const char *shown(const char *name);

/** Exit status for a library's negative errno. */
int status_of(int err);
/** The same of a run, whose profile or waveform may not have been written. */
int run_status(int err);
/** The same where it is about a file, not a device. */
int file_status(int err);

/** Exit status where a file could not be written: 2 if it cannot be there at all, 3 if the system failed. */
int output_status(int err);

/**
 * One option: -x or --long, with a value or without. The value of "--long=v"
 * and of "--long v" is the same.
 */
struct option_def {
	const char *name;          /* as written: "-i", "--device" */
	bool takes_value;
};

/**
 * Take the next argument.
 *
 * @param[out] value  The option's value; for a plain argument the argument.
 * @return index into defs; -1: a plain argument; -2: no more; -3: bad (said so)
 */
int next_option(int *at, int argc, char **argv, const struct option_def *defs, const char **value);

/** Decimal number within limits; 0, or -1 and a message. */
int parse_number(const char *option, const char *text, uint64_t max, uint64_t *out);

/** "pe:ROW,COL,BIT", "lane:LANE,BIT", "sp:ADDRESS,BIT": stuck at 1. */
int parse_plant(const char *text, struct weft_plant *p);
/** If usb without a name leads to a broker: a line on stderr that says so. */
void say_broker(void);
/** "golden", "model", "rtl", "usb[:SERIAL]"; 0, or -1 and a message. After "usb" say_broker(). */
int parse_device(const char *text, struct weft_session_options *o);
/* Without --config (config is NULL): w16; on a card it stays NULL, which is what the card has. */
void config_by_device(struct weft_session_options *o);
int parse_memory(const char *text, enum weft_memory *m);

/* ---- loading ---- */

#define MAX_BOUND 16

/* Zeroed to begin with; load_release() frees what was taken. */
#define MAX_GIVEN 64
struct load_args { struct weft_load_options o; struct weft_bound bound[MAX_BOUND], given[MAX_GIVEN]; };

/* The options of LOAD_USAGE, to stand first in a command's. */
#define LOAD_OPTIONS { "--requant", true }, { "--bind", true }, { "--level", true }, { "--backbone", false }, \
	{ "--runtime", true }, { "--signature", true }, { "--custom", true }, { "--no-compress", false }
enum { LOAD_REQUANT, LOAD_BIND, LOAD_LEVEL, LOAD_BACKBONE, LOAD_RUNTIME, LOAD_SIGNATURE, LOAD_CUSTOM, LOAD_NO_COMPRESS, N_LOAD };

/** One of LOAD_OPTIONS; 0, or -1 and a message. */
int take_load(struct load_args *a, int option, const char *v);
/**
 * An input's value, NAME=FILE of .npy or .bin, in case the network needs it to be loaded
 * (.onnx). Other arguments are left alone. 0, or a status with a message.
 */
int take_given(struct load_args *a, const char *arg);
/** Returns whether NAME of "NAME=FILE" was given so. */
bool was_given(const struct load_args *a, const char *arg);
/** a may be NULL. 0, or a status with a message. */
int load_net(const char *model, const struct load_args *a, weft_net **net);
void load_release(struct load_args *a);

#define LOAD_USAGE \
	"  --requant R         .onnx: exact (default, ONNX's bits; a few on the host),\n" \
	"                      rescale (the nearest RESCALE, which the NPU does; weft run\n" \
	"                      then counts the elements that differ), runtime (ONNX\n" \
	"                      Runtime's own arithmetic and order; mostly on the host), or\n" \
	"                      runtime-avx2 (that of processors without VNNI, whose sums of\n" \
	"                      uint8 by int8 saturate); a .weft file holds one, and another\n" \
	"                      is refused\n" \
	"  --bind NAME=V       .onnx, .tflite: the shape that the file leaves open (V: 1x3x224x224,\n" \
	"                      or the one open size); else a first dimension is 1, .tflite's as\n" \
	"                      the file says. .onnx: or a constant (V: FILE.npy); repeatable\n" \
	"  --backbone          .tflite: without a custom operator at the end, which is named;\n" \
	"                      its operands are the outputs\n" \
	"  --custom FILE       shared library with functions of custom operators (weft/custom.h);\n" \
	"                      its code runs in this process\n" \
	"  --runtime R         .tflite: whose bits: litert-2.3 (default), tflite-2.14 or tflm;\n" \
	"                      a .weft file holds one, and another is refused\n" \
	"  --signature NAME    .tflite: the signature to load, with its names of inputs and outputs;\n" \
	"                      else the first subgraph\n" \
	"  --level L           none (default), or 8K: refuse what exceeds TOSA's level 8K\n" \
	"  --no-compress       compile without coded weights, for devices that cannot decode them\n"

/* ---- compiled programs ---- */

#define CACHE_PATH 4096
#define CACHE_USAGE \
	"  --no-cache          compile anew and keep nothing; else compiled programs are kept, in the\n" \
	"                      folder WEFT_CACHE (none: nowhere), or $XDG_CACHE_HOME/weft, or\n" \
	"                      ~/.cache/weft\n"

/**
 * Returns the folder for struct weft_session_options.cache, written to `folder`: WEFT_CACHE, else weft in the folder
 * XDG_CACHE_HOME if that is a path from the root, else .cache/weft in HOME if that is a folder. NULL: WEFT_CACHE is "none",
 * none of them is set, or the path is too long.
 */
const char *cache_folder(char folder[CACHE_PATH]);
/** A line on stderr if the session's compiled program could not be kept. */
void say_cache(const weft_session *s);

/* ---- inputs and outputs ---- */

/** Fill with pseudo-random elements, full range of the type (float: [-1, 1)). */
void fill_random(weft_tensor *t, uint64_t seed);

/** The network's input i, from seed + i. 0, -ENOMEM */
int random_input(const weft_net *net, int i, uint64_t seed, weft_tensor *t);

/** Make a tensor for a port, without data. */
weft_tensor tensor_for(const struct weft_port *p);

/** Read FILE (.npy, .bin, .png, .jpg) for a port; data from malloc. 0, or a status with a message. */
int read_input(const char *file, const struct weft_port *p, weft_tensor *t);

/** DIR/<index>_<name>.npy, name made safe for a file. path (len bytes) gets the name. */
int write_output(const char *dir, int index, const char *name, const weft_tensor *t, char *path, size_t len);
/**
 * Says whether a file or folder of that name could be written; to be asked before what takes long. Returns 0,
 * or a status with a message.
 */
int can_write(const char *path);
int make_dir(const char *dir);
/** Letters of either size; something stands before it. */
bool ends_with(const char *s, const char *tail);
/** A tensor's name as part of a file's. */
void safe_name(const char *name, char *safe, size_t len);
/** The whole file, from malloc. 0, or a status with a message. */
int read_whole(const char *path, uint8_t **data, size_t *len);

/** weft_file_write(). 0, or a status with a message. */
int write_file(const char *path, const uint8_t *data, size_t len);

/* How outputs differ from those of --requant exact; done: that was asked. */
struct requant_report { bool done; long long elements, differ; double most; };

/** Runs the model again on golden with ONNX's rounding; 0, or a status with a message. */
int requant_compare(const char *model, const struct load_args *load, const weft_tensor *in, const weft_tensor *out,
                    int n_out, struct requant_report *r);

/** The report as one JSON object on standard output. */
int print_json(const weft_net *net, const struct weft_session_options *o, const char *model, uint64_t seed,
               const struct weft_report *r, const struct requant_report *requant, char *const *files);

/** The operators of a report as JSON, an array (cJSON). */
struct cJSON *json_ops(const struct weft_session_options *o, const struct weft_report *r);
/* Prints a tree of JSON to standard output and frees it. Returns EXIT_DONE, or EXIT_DEVICE without memory. */
int print_tree(struct cJSON *j);

/** "sram" or "ddr". */
const char *memory_name(const struct weft_session_options *o);

/** Single operators with operands on chip; 0 or a status. */
/* speed: simulated cycles a processor second */
typedef void micro_result(void *user, const char *name, uint64_t cycles, uint64_t macs, double speed);
int micro_benchmarks(const struct weft_session_options *s, micro_result *result, void *user);

/** A line that says how many channels of convolutions are not computed; nothing if all are. */
void print_folded(const struct weft_report *r);

/** The report as a table. */
void print_report(const struct weft_session_options *o, const struct weft_report *r);
/** What that many tokens of a run take, and what bounds it; nothing on golden, which has no cycles. */
void print_tokens(const struct weft_session_options *o, const struct weft_report *r, uint64_t tokens);

#endif
