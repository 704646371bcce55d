#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Write everything that follows from include/spec: C, SystemVerilog, Markdown.

    tools/gen.py            write the generated files
    tools/gen.py --check    compare instead; exit 1 and say the cure if they differ

Only encodings, ranges, names and tables are generated, never behaviour. The
output depends on the TOML files alone: no dates, no paths, no hash order.
"""
import difflib
import os
import re
import sys
import tomllib

sys.dont_write_bytecode = True
import gen_attr  # noqa: E402
import gen_card  # noqa: E402
from gen_text import SpecError, c_enum, c_file, c_string, first_line, md_cell, need, one_line, sv_package, sv_uint  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MARK_BEGIN = "<!-- generated from include/spec/cmd.toml by tools/gen.py: begin -->"
MARK_END = "<!-- generated: end -->"
ELEM_GROUP = "post"  # its fields decide how many bytes an element has; "mode" is one of them


def log2_exact(value, where):
    need(value > 0 and value & (value - 1) == 0, where, f"{value} is not a power of two")
    return value.bit_length() - 1


# ---- reading the spec --------------------------------------------------------

class Field:
    """One bit field of a command: place, range and meaning."""

    KEYS = {"name", "at", "doc", "unit", "min", "max", "signed", "align", "elem", "modes", "feature",
            "needs", "values", "fault"}

    def __init__(self, raw, where):
        need("name" in raw and "at" in raw, where, f"a field needs name and at: {raw}")
        self.name = raw["name"]
        where = f"{where}.{self.name}"
        unknown = set(raw) - self.KEYS
        need(not unknown, where, f"unknown key {sorted(unknown)}")
        need(re.fullmatch(r"[a-z][a-z0-9_]*", self.name), where, "not a plain name")
        self.word, self.lsb, self.bits = raw["at"]
        need(1 <= self.bits and self.lsb + self.bits <= 64, where, "crosses a 64-bit word")
        self.signed = raw.get("signed", False)
        low = -(1 << (self.bits - 1)) if self.signed else 0
        high = (1 << (self.bits - 1)) - 1 if self.signed else (1 << self.bits) - 1
        self.ranged = "min" in raw or "max" in raw
        self.min, self.max = raw.get("min", low), raw.get("max", high)
        need(low <= self.min <= self.max <= high, where,
             f"range {self.min}..{self.max} does not fit {self.bits} bits")
        need(self.max < 1 << 63, where, "unsigned fields have at most 63 bits")
        need(raw.get("align", "n") == "n", where, 'align is "n" or absent')
        self.align_n = "align" in raw
        self.elem = raw.get("elem", "")
        self.modes = raw.get("modes", [])
        need(self.min <= 0 <= self.max or not self.modes, where, "modes needs a field that may be 0")
        self.feature = raw.get("feature", False)
        self.needs = raw.get("needs", "")
        self.values = raw.get("values", [])    # names of 0, 1, ...; others are refused
        if self.values:
            self.ranged, self.min, self.max = True, 0, len(self.values) - 1
            need(self.max <= high and "max" not in raw, where, "more values than bits, or max as well")
        self.fault = raw.get("fault", "BAD_FIELD")
        self.unit = raw.get("unit", "")
        self.doc = one_line(raw.get("doc", ""))
        self.hex = self.unit == "bytes" and re.search(r"(base|addr|off)$", self.name) is not None

    @property
    def c_type(self):
        # Signed wherever the range allows, so that sums with signed fields are.
        if self.signed or self.bits < 32:
            return "int32_t" if self.bits <= 32 else "int64_t"
        return "uint32_t" if self.bits == 32 else "int64_t"

    @property
    def flat_lsb(self):
        return self.word * 64 + self.lsb


class Record:
    """A structure of whole bytes in the scratchpad that commands read."""

    def __init__(self, name, raw):
        where = f"cmd.toml: record.{name}"
        self.name, self.bytes, self.brief = name, raw["bytes"], one_line(raw["brief"])
        # A field's place counts from the record's first bit, which is all that flat_lsb needs.
        self.fields = [RecordField(f, where, 8 * self.bytes) for f in raw["field"]]
        ends = [0] + [f.lsb + f.bits for f in self.fields]
        need(all(f.lsb >= end for f, end in zip(self.fields, ends)), where, "fields overlap or are out of order")


class RecordField:
    """A field of a Record, of whole bytes."""

    def __init__(self, raw, where, record_bits):
        self.name, (self.lsb, self.bits), self.signed = raw["name"], raw["at"], raw.get("signed", False)
        self.doc = one_line(raw["doc"])
        need(self.lsb % 8 == 0 and self.bits % 8 == 0 and 0 < self.bits <= 64, f"{where}.{self.name}", "not of whole bytes")
        need(self.lsb + self.bits <= record_bits, f"{where}.{self.name}", "lies behind the record's end")

    @property
    def c_type(self):
        size = next(s for s in (8, 16, 32, 64) if s >= self.bits)
        return ("" if self.signed else "u") + f"int{size}_t"


class Command:
    def __init__(self, name, raw):
        self.name, self.op, self.unit, self.words = name, raw["op"], raw["unit"], raw["words"]
        self.brief, self.doc = one_line(raw.get("brief", "")), raw.get("doc", "").strip()
        self.groups = raw.get("groups", [])
        self.fields_of = raw.get("fields_of")
        self.needs = raw.get("needs", "")
        unknown = set(raw) - {"op", "unit", "words", "brief", "doc", "groups", "fields_of", "needs", "field"}
        need(not unknown, f"cmd.toml: cmd.{name}", f"unknown key {sorted(unknown)}")
        self.own = [Field(f, f"cmd.toml: cmd.{name}") for f in raw.get("field", [])]


class Spec:
    def __init__(self):
        cmd, regs, config = (self.load(n) for n in ("cmd.toml", "regs.toml", "config.toml"))
        self.version, self.common = config["version"], config["common"]
        self.configs, self.types, self.structs = config["config"], config["type"], config["struct"]
        self.regs = regs["reg"]
        self.ext_ops = self.load("ext_ops.toml")["op"]
        self.units, self.faults = cmd["units"], cmd["fault"]
        self.elems = cmd["elem"]
        self.header_words = cmd["header"]["words"]
        self.header = [Field(f, "cmd.toml: header") for f in cmd["header"]["field"]]
        self.groups = {n: [Field(f, f"cmd.toml: group.{n}") for f in g["field"]]
                       for n, g in cmd.get("group", {}).items()}
        self.records = [Record(n, r) for n, r in cmd["record"].items()]
        self.group_docs = {n: g.get("doc", "").strip() for n, g in cmd.get("group", {}).items()}
        self.cmds = [Command(n, c) for n, c in cmd["cmd"].items()]
        by_name = {c.name: c for c in self.cmds}
        for c in self.cmds:
            need(c.fields_of is None or c.fields_of in by_name, f"cmd.toml: cmd.{c.name}",
                 f"fields_of names no command: {c.fields_of}")
            c.like = by_name[c.fields_of] if c.fields_of else c
        for c in self.cmds:
            self.check_command(c)
        need(len({c.op for c in self.cmds}) == len(self.cmds), "cmd.toml", "an opcode appears twice")
        for table, key in ((self.units, "index"), (self.faults, "code")):
            need(len({e[key] for e in table.values()}) == len(table), "cmd.toml", f"a {key} appears twice")
        self.check_elems()
        self.check_regs()
        for name in self.configs:
            self.derive(name)

    @staticmethod
    def load(name):
        path = os.path.join(ROOT, "include", "spec", name)
        with open(path, "rb") as f:
            try:
                return tomllib.load(f)
            except tomllib.TOMLDecodeError as e:
                raise SpecError(f"include/spec/{name}: {e}") from None

    def parts(self, c):
        """Fields of a command as (struct member path, macro prefix, field)."""
        out = [("h." + self.header_member(f), "HEADER", f) for f in self.header]
        for g in c.like.groups:
            out += [(f"{c.like.name}.{g}.{f.name}", g.upper(), f) for f in self.groups[g]]
        return out + [(f"{c.like.name}.{f.name}", c.like.name.upper(), f) for f in c.like.own]

    def used_bits(self, c):
        """Bits of the whole command that belong to a field."""
        mask = 0
        for _, _, f in self.parts(c):
            mask |= ((1 << f.bits) - 1) << f.flat_lsb
        return mask

    def header_member(self, f):
        """wait_ld and its likes are one array in C, indexed by unit."""
        if f.name.startswith("wait_"):
            unit = f.name.removeprefix("wait_").upper()
            need(unit in self.units, "cmd.toml: header", f"{f.name} names no unit")
            return f"wait[WEFT_UNIT_{unit}]"
        return f.name

    def check_command(self, c):
        where = f"cmd.toml: cmd.{c.name}"
        need(c.unit in self.units, where, f"no unit is called {c.unit}")
        need(not c.needs or c.needs in self.regs["features"]["fields"], where, f"no feature is called {c.needs}")
        need(self.header_words <= c.words <= self.common["cmd_max_words"], where,
             f"{c.words} words; the most is cmd_max_words = {self.common['cmd_max_words']}")
        for g in c.groups:
            need(g in self.groups, where, f"no group is called {g}")
        taken, names = {}, set()
        for _, _, f in self.parts(c):
            need(f.word < c.words, where, f"{f.name} lies in word {f.word} of {c.words}")
            need(f.fault in self.faults, where, f"{f.name}: no fault is called {f.fault}")
            need(not f.elem or f.elem in self.elems, where, f"{f.name}: no elem is called {f.elem}")
            need(not f.needs or f.needs in self.regs["features"]["fields"], where, f"{f.name}: no feature is called {f.needs}")
            need(f.name not in names, where, f"{f.name} appears twice")
            names.add(f.name)
            for bit in range(f.flat_lsb, f.flat_lsb + f.bits):
                need(bit not in taken, where, f"{f.name} overlaps {taken.get(bit)}")
                taken[bit] = f.name

    def check_elems(self):
        """The fields that decide must belong to all commands that they decide for."""
        for c in self.cmds:
            modal = [f for _, _, f in self.parts(c) if f.modes]
            need(not modal or ELEM_GROUP in c.like.groups, f"cmd.toml: cmd.{c.name}", f"modes needs the group {ELEM_GROUP}")
        for name, cases in self.elems.items():
            users = [c for c in self.cmds if any(f.elem == name for _, _, f in self.parts(c))]
            for field in {k for case in cases for k in case}:
                need(any(f.name == field for f in self.groups[ELEM_GROUP]), f"cmd.toml: elem.{name}",
                     f"{field} is no field of group.{ELEM_GROUP}")
            for c in users:
                need(ELEM_GROUP in c.like.groups, f"cmd.toml: cmd.{c.name}", f"elem needs the group {ELEM_GROUP}")

    def check_regs(self):
        seen = {}
        for name, r in self.regs.items():
            where = f"regs.toml: reg.{name}"
            need(r["access"] in ("ro", "rw", "w1s", "w1c"), where, f"access {r['access']}")
            need(r["offset"] % 4 == 0, where, "offset is not a multiple of 4")
            need(r.get("job", "hw") in ("hw", "sw"), where, f"job {r.get('job')}")
            unknown = set(r) - {"offset", "access", "doc", "fields", "array", "stride", "reset", "job", "writable"}
            need(not unknown, where, f"unknown key {sorted(unknown)}")
            for i in range(self.reg_count(r)):
                offset = r["offset"] + i * r.get("stride", 0)
                need(offset not in seen, where, f"offset {offset:#x} is {seen.get(offset)}'s")
                seen[offset] = name
            used = 0
            for f, (lsb, bits) in r.get("fields", {}).items():
                mask = ((1 << bits) - 1) << lsb
                need(lsb + bits <= 32 and not used & mask, where, f"{f} overlaps or leaves 32 bits")
                used |= mask

    def reg_count(self, r):
        return self.common[r["array"]] if "array" in r else 1

    def derive(self, name):
        """All constants of one configuration: given, common and computed."""
        where, given = f"config.toml: config.{name}", dict(self.configs[name])
        modes, in_model = given.pop("modes"), given.pop("in_model", [])
        given.pop("brief")
        out = given | self.common
        out["log2_n"] = log2_exact(out["n"], where)
        out["log2_sp_bytes"] = log2_exact(out["sp_bytes"], where)
        out["axi_bytes"] = out["axi_bits"] // 8
        out["log2_axi_bytes"] = log2_exact(out["axi_bytes"], where)
        out["features"] = 0
        for mode, (lsb, _) in self.regs["features"]["fields"].items():
            out[f"has_{mode}"] = int(mode in modes)
            out["features"] |= (mode in modes) << lsb
        out["model_features"] = out["features"]
        for mode in in_model:
            need(mode in self.regs["features"]["fields"], where, f"in_model {mode} is no field of reg.features")
            out["model_features"] |= 1 << self.regs["features"]["fields"][mode][0]
        need(not set(modes) - set(self.regs["features"]["fields"]), where,
             f"modes {modes} are not all fields of reg.features")
        need(out["sp_bytes"] <= 1 << out["sp_addr_bits"], where, "sp_bytes exceeds sp_addr_bits")
        need(out["n"] >= 8 or not set(modes) & {"int16", "fp8", "alu", "p_short", "coded"}, where, "int16, fp8, alu, p_short and coded need n of 8 or more")
        out["reg_config"] = self.pack("config", out)
        return out

    def pack(self, reg, values):
        word = 0
        for f, (lsb, bits) in self.regs[reg]["fields"].items():
            need(0 <= values[f] < 1 << bits, f"regs.toml: reg.{reg}", f"{f} = {values[f]} needs more bits")
            word |= values[f] << lsb
        return word


def needs_code(spec, what):
    """1 + the feature's bit, 0 where none is needed."""
    return spec.regs["features"]["fields"][what.needs][0] + 1 if what.needs else 0


# ---- C -----------------------------------------------------------------------

def field_doc(f):
    return (f.doc + (f"; mode {' or '.join(map(str, f.modes))} only" if f.modes else "")
            + (f"; needs the feature {f.needs}" if f.needs else ""))


def mode_mask(f):
    return sum(1 << m for m in f.modes) if f.modes else 0xFF


def c_struct(tag, fields, first=()):
    out = [f"struct {tag} {{", *first]
    for f in fields:
        low_high = f"{f.min}..{f.max}"
        note = f"{field_doc(f)}; " if f.doc else ""
        unit = f" {f.unit}" if f.unit else ""
        align = ", multiple of N" if f.align_n else f", whole elements of {f.elem}" if f.elem else ""
        out.append(f"\t{f.c_type} {f.name}; /* {note}{low_high}{unit}{align} */")
    return out + ["};", ""]


def c_int(value):
    """A literal that keeps its value in C's types."""
    if value > 0x7FFFFFFF or value < -0x7FFFFFFF:
        return f"INT64_C({value})" if value > -(1 << 63) else "INT64_MIN"
    return str(value)


def c_macros(prefix, fields):
    out = []
    for f in fields:
        p = f"WEFT_CMD_{prefix}_{f.name.upper()}"
        out.append(f"#define {p}_WORD {f.word}")
        out.append(f"#define {p}_LSB {f.lsb}")
        out.append(f"#define {p}_BITS {f.bits}")
        out.append(f"#define {p}_MASK UINT64_C({((1 << f.bits) - 1) << f.lsb:#x})")
        out.append(f"#define {p}_MIN {c_int(f.min)}")
        out.append(f"#define {p}_MAX {c_int(f.max)}")
        out += [f"#define WEFT_{prefix}_{f.name.upper()}_{v.upper()} {i}" for i, v in enumerate(f.values)]
    return out + [""]


CMD_DECLARATIONS = """\
/** One bit field: its place in the encoding, in struct weft_cmd, and its range. */
struct weft_field_info {
	const char *name;
	uint8_t word, lsb, bits; /* 64-bit word of the command, lowest bit, width */
	uint8_t is_signed;       /* two's complement */
	uint8_t align_n;         /* value is a multiple of the configuration's n */
	uint8_t elem;            /* enum weft_elem of whose bytes the value is a multiple */
	uint8_t modes;           /* bit m: may differ from 0 in mode m */
	uint8_t is_feature;      /* value is the number of a bit of weft_config.features */
	uint8_t needs;           /* 1 + the bit of weft_config.features that a value other than 0 needs; 0: none */
	uint8_t is_address;      /* reads best in hexadecimal */
	uint8_t fault;           /* enum weft_fault of a value outside min..max */
	uint8_t c_bytes;         /* size of the member, 4 or 8 */
	uint16_t c_offset;       /* of the member in struct weft_cmd */
	int64_t min, max;        /* inclusive */
	const char *unit;        /* "" for none */
	const char *doc;
};

struct weft_cmd_info {
	const char *name;
	uint8_t op, unit, n_words;
	uint8_t n_fields;        /* header included */
	uint8_t needs;           /* 1 + the bit of weft_config.features that the command needs; 0: none */
	const struct weft_field_info *fields;
	const uint64_t *used;    /* n_words masks of the bits that belong to a field */
	const char *brief;
};

/** All WEFT_N_CMDS commands, in the order of the spec. Constant. */
const struct weft_cmd_info *weft_cmd_list(void);

/** The command with this opcode, NULL if there is none. */
const struct weft_cmd_info *weft_cmd_info(unsigned op);

/** Value of a field. @p f belongs to the command that @p c holds. */
int64_t weft_cmd_get(const struct weft_cmd *c, const struct weft_field_info *f);

/** Set a field; the value is not checked, see weft_cmd_check_ranges(). */
void weft_cmd_set(struct weft_cmd *c, const struct weft_field_info *f, int64_t value);

/**
 * Start a command: opcode, word count, and in every field the legal value
 * nearest to zero. Unknown opcodes give an all-zero command.
 */
void weft_cmd_init(struct weft_cmd *c, unsigned op);

/**
 * Decode the command at @p w, of which @p n words may be read.
 *
 * @return WEFT_FAULT_NONE (0); the command took out->h.n_words words. Or
 *   WEFT_FAULT_BAD_OP      no such opcode (whether a configuration has it: weft_cmd_fault())
 *   WEFT_FAULT_BAD_LEN     the header's word count is not the opcode's
 *   WEFT_FAULT_STREAM_END  fewer words are left than the command has
 * and then *out is untouched. Ranges and reserved bits are not checked here.
 */
int weft_cmd_decode(const uint64_t *w, size_t n, struct weft_cmd *out);

/**
 * Encode into @p w, which has room for WEFT_CMD_MAX_WORDS. The word count comes
 * from the opcode, not from c->h.n_words. Values are cut to their fields.
 *
 * @return words written, 0 for an unknown opcode.
 */
size_t weft_cmd_encode(const struct weft_cmd *c, uint64_t *w);

/**
 * Is every field within its range?
 *
 * @param[out] field,value,min,max  Say what is wrong, set only on failure; may
 *                                  each be NULL.
 * @return 0, -ERANGE, or -EINVAL for an unknown opcode (nothing set).
 */
int weft_cmd_check_ranges(const struct weft_cmd *c, const char **field, int64_t *value,
                          int64_t *min, int64_t *max);

/** As above for fields that are multiples of @p n: 0, -ERANGE or -EINVAL. */
int weft_cmd_check_align(const struct weft_cmd *c, unsigned n, const char **field, int64_t *value);

/** Bytes of an element, 1 or 2. @p c is a command with the group post. */
unsigned weft_cmd_elem_bytes(const struct weft_cmd *c, enum weft_elem elem);

/** As above for fields that are multiples of weft_cmd_elem_bytes(): 0, -ERANGE or -EINVAL. */
int weft_cmd_check_elems(const struct weft_cmd *c, const char **field, int64_t *value);

/** As above for fields that have to be 0 in the command's mode: 0, -ERANGE or -EINVAL. */
int weft_cmd_check_modes(const struct weft_cmd *c, const char **field, int64_t *value);

/**
 * Are reserved bits of an encoded command zero? @p w holds a whole command
 * that weft_cmd_decode() accepts.
 *
 * @param[out] word,bits  Where and which are not; may be NULL.
 * @return 0 or -EINVAL.
 */
int weft_cmd_check_reserved(const uint64_t *w, size_t *word, uint64_t *bits);

/**
 * The fault that hardware raises on taking this command from a stream of which
 * @p n_left words are left: BAD_OP, BAD_LEN, STREAM_END, then reserved bits,
 * alignment and fields that the mode does not have (BAD_FIELD), then the first
 * field outside its range or the features of @p cfg.
 *
 * @return an enum weft_fault, WEFT_FAULT_NONE if it is taken.
 */
unsigned weft_cmd_fault(const uint64_t *w, size_t n_left, const struct weft_config *cfg);

/** Does a configuration lack the feature that a field's value needs? */
int weft_field_lacks(const struct weft_field_info *f, int64_t value, const struct weft_config *cfg);

/** Does it lack the command? */
int weft_cmd_lacks(const struct weft_cmd_info *info, const struct weft_config *cfg);

/**
 * Bytes in memory of a row of a load or store: row_bytes, half as many with
 * int4, rounded up, or those of a coded row. @p n is the configuration's.
 */
uint32_t weft_cmd_load_bytes(const struct weft_cmd_load *l, uint32_t n);

/**
 * One line of text: name, tag, waits, then every field that is not zero.
 * Returns as snprintf does.
 */
int weft_cmd_print(const struct weft_cmd *c, char *buf, size_t n);

/** "LD"; "?" for an index that no unit has. */
const char *weft_unit_name(unsigned unit);

/** "BAD_OP"; "?" for an unknown code. */
const char *weft_fault_name(unsigned code);

/** "unknown opcode"; "unknown fault" for an unknown code. */
const char *weft_fault_brief(unsigned code);""".split("\n")


def c_record(r):
    """A record as a struct, and how it lies in memory."""
    upper, size = r.name.upper(), f"WEFT_{r.name.upper()}_BYTES"
    out = [f"/** {r.brief}. */", f"struct weft_{r.name} {{"]
    out += [f"\t{f.c_type} {f.name}; /* {f.doc}; {f.bits} bits */" for f in r.fields] + ["};", "", f"#define {size} {r.bytes}"]
    out += [f"#define WEFT_{upper}_{f.name.upper()}_AT {f.lsb // 8} /* byte of the record */" for f in r.fields]
    out += ["", f"/** Write a record of {size} as it lies in the scratchpad; the bytes of no field become zero. */",
            f"static inline void weft_{r.name}_write(const struct weft_{r.name} *r, uint8_t *to)", "{",
            f"\tfor (int i = 0; i < {size}; i++)", "\t\tto[i] = 0;"]
    for f in r.fields:
        out += [f"\tfor (int i = 0; i < {f.bits // 8}; i++)",
                f"\t\tto[WEFT_{upper}_{f.name.upper()}_AT + i] = (uint8_t)((uint64_t)r->{f.name} >> 8 * i);"]
    out += ["}", "", f"/** The record that lies in {size} of memory. */",
            f"static inline struct weft_{r.name} weft_{r.name}_read(const uint8_t *from)", "{",
            f"\tuint64_t v[{len(r.fields)}] = {{ 0 }};", f"\tstruct weft_{r.name} r;", ""]
    for k, f in enumerate(r.fields):
        out += [f"\tfor (int i = 0; i < {f.bits // 8}; i++)",
                f"\t\tv[{k}] |= (uint64_t)from[WEFT_{upper}_{f.name.upper()}_AT + i] << 8 * i;"]
    for k, f in enumerate(r.fields):
        sign = f"(v[{k}] ^ UINT64_C({1 << f.bits - 1:#x})) - UINT64_C({1 << f.bits - 1:#x})"
        out.append(f"\tr.{f.name} = ({f.c_type})({sign if f.signed else f'v[{k}]'});")
    return out + ["\treturn r;", "}", ""]


def gen_cmd_h(spec):
    body = ["/* Opcodes. */"]
    body += c_enum("weft_cmd_op", [(f"WEFT_CMD_{c.name.upper()}", f"{c.op:#04x}", c.brief) for c in spec.cmds])
    body += ["/* Units that execute commands; wait[] of the header is indexed by the first ones. */"]
    body += c_enum("weft_unit", [(f"WEFT_UNIT_{n}", u["index"], u["brief"]) for n, u in spec.units.items()])
    body += ["/* What reg.fault reports. */"]
    body += c_enum("weft_fault", [(f"WEFT_FAULT_{n}", f["code"], f["brief"]) for n, f in spec.faults.items()])
    body += ["/* Kinds of elements that a command works on; they may differ in size. */"]
    body += c_enum("weft_elem", [("WEFT_ELEM_NONE", 0, "bytes")] +
                   [(f"WEFT_ELEM_{n.upper()}", i, "") for i, n in enumerate(spec.elems, 1)])
    body += [f"#define WEFT_N_CMDS {len(spec.cmds)}",
             f"#define WEFT_CMD_HEADER_WORDS {spec.header_words}"]
    body += [f"#define WEFT_CMD_{c.name.upper()}_WORDS {c.words}" for c in spec.cmds] + [""]
    body += c_macros("HEADER", spec.header)
    for name, fields in spec.groups.items():
        body += c_macros(name.upper(), fields)
    for c in spec.cmds:
        if c.own:
            body += c_macros(c.name.upper(), c.own)
    waits = [f for f in spec.header if f.name.startswith("wait_")]
    body += c_struct("weft_cmd_header", [f for f in spec.header if f not in waits],
                     [f"\tint32_t wait[{len(waits)}]; /* by unit: commands of it that must have retired; 0..{waits[0].max} */"])
    for name, fields in spec.groups.items():
        body += [f"/* Part of {', '.join(c.name for c in spec.cmds if name in c.groups)}. */"]
        body += c_struct(f"weft_cmd_{name}", fields)
    with_struct = [c for c in spec.cmds if c.like is c and (c.own or c.groups)]
    for c in with_struct:
        users = [o.name for o in spec.cmds if o.like is c]
        body += [f"/* {', '.join(users)}: {c.brief}. */"]
        body += c_struct(f"weft_cmd_{c.name}", c.own, [f"\tstruct weft_cmd_{g} {g};" for g in c.groups])
    body += ["/** A decoded command; h.op says which member of the union is meant. */", "struct weft_cmd {",
             "\tstruct weft_cmd_header h;", "\tunion {"]
    for c in with_struct:
        users = [o.name for o in spec.cmds if o.like is c]
        note = f" /* also {', '.join(users[1:])} */" if users[1:] else ""
        body.append(f"\t\tstruct weft_cmd_{c.name} {c.name};{note}")
    body += ["\t};", "};", ""]
    for r in spec.records:
        body += c_record(r)
    return c_file("cmd.toml", "cmd", body + CMD_DECLARATIONS, includes=["#include <weft/gen/config.h>"])


def elem_commands(spec):
    """Commands that begin with the fields that decide an element's size."""
    return [c for c in spec.cmds if c.groups[:1] == [ELEM_GROUP]]


def gen_cmd_c(spec):
    body = ["#include <weft/gen/cmd.h>", "",
            "#define MEMBER(m) sizeof(((struct weft_cmd *)0)->m), offsetof(struct weft_cmd, m)", ""]
    for c in spec.cmds:
        if c.like is not c:
            continue
        body.append(f"static const struct weft_field_info {c.name}_fields[] = {{")
        for member, _, f in spec.parts(c):
            body.append(f"\t{{{c_string(f.name)}, {f.word}, {f.lsb}, {f.bits}, {int(f.signed)}, {int(f.align_n)}, "
                        f"WEFT_ELEM_{f.elem.upper() or 'NONE'}, {mode_mask(f):#x}, {int(f.feature)}, {needs_code(spec, f)}, {int(f.hex)}, WEFT_FAULT_{f.fault}, MEMBER({member}), {c_int(f.min)}, {c_int(f.max)},\n"
                        f"\t\t{c_string(f.unit)}, {c_string(f.doc)}}},")
        body += ["};", ""]
        body += [f"static const uint64_t {c.name}_used[] = {{"]
        used = spec.used_bits(c)
        body += [f"\tUINT64_C({used >> 64 * i & 0xFFFFFFFFFFFFFFFF:#018x})," for i in range(c.words)] + ["};", ""]
    body.append("static const struct weft_cmd_info cmds[WEFT_N_CMDS] = {")
    for c in spec.cmds:
        body.append(f"\t{{{c_string(c.name)}, {c.op:#04x}, WEFT_UNIT_{c.unit}, {c.words}, {len(spec.parts(c))}, {needs_code(spec, c)}, "
                    f"{c.like.name}_fields, {c.like.name}_used,\n\t\t{c_string(c.brief)}}},")
    body += ["};", "", "const struct weft_cmd_info *weft_cmd_list(void)", "{", "\treturn cmds;", "}", ""]
    body += ["unsigned weft_cmd_elem_bytes(const struct weft_cmd *c, enum weft_elem elem)", "{",
             f"\tconst struct weft_cmd_{ELEM_GROUP} *p = &c->{elem_commands(spec)[0].name}.{ELEM_GROUP};", "",
             "\tswitch (elem) {", "\tcase WEFT_ELEM_NONE: return 1;"]
    for name, cases in spec.elems.items():
        tests = [" && ".join(f"p->{k} == {v}" for k, v in case.items()) for case in cases]
        tests = " || ".join(f"({t})" if "&&" in t else t for t in tests)
        body.append(f"\tcase WEFT_ELEM_{name.upper()}: return {tests} ? 2 : 1;")
    body += ["\t}", "\treturn 1;", "}", ""]
    for what, table, column, unknown in (("unit_name", spec.units, None, "?"), ("fault_name", spec.faults, None, "?"),
                                         ("fault_brief", spec.faults, "brief", "unknown fault")):
        kind, arg = ("UNIT", "unit") if what.startswith("unit") else ("FAULT", "code")
        body += [f"const char *weft_{what}(unsigned {arg})", "{", f"\tswitch ({arg}) {{"]
        body += [f"\tcase WEFT_{kind}_{n}: return {c_string(e[column] if column else n)};" for n, e in table.items()]
        body += ["\t}", f"\treturn {c_string(unknown)};", "}", ""]
    return c_file("cmd.toml", "cmd", body[:-1], header=False)


def gen_regs_h(spec):
    body = []
    for name, r in spec.regs.items():
        upper = name.upper()
        body.append(f"/* {r['doc']} ({r['access']}) */")
        if "array" in r:
            body.append(f"#define WEFT_REG_{upper}(i) ({r['offset']:#05x} + (i) * {r['stride']:#x})")
        else:
            body.append(f"#define WEFT_REG_{upper} {r['offset']:#05x}")
        for f, (lsb, bits) in r.get("fields", {}).items():
            body.append(f"#define WEFT_REG_{upper}_{f.upper()}_LSB {lsb}")
            body.append(f"#define WEFT_REG_{upper}_{f.upper()}_BITS {bits}")
            body.append(f"#define WEFT_REG_{upper}_{f.upper()}_MASK {((1 << bits) - 1) << lsb:#010x}u")
        body.append("")
    body += ["/* Values that hardware reports and the driver compares. */",
             f"#define WEFT_REG_ID_VALUE {spec.version['id']:#010x}u",
             f"#define WEFT_REG_VERSION_VALUE {spec.pack('version', spec.version):#010x}u", "",
             f"#define WEFT_REG_SPACE {reg_space(spec):#x} /* bytes of addresses */",
             f"#define WEFT_N_REGS {len(spec.regs)}", "",
             "struct weft_reg_field_info {", "\tconst char *name;", "\tuint8_t lsb, bits;", "};", "",
             "struct weft_reg_info {", "\tconst char *name;", "\tuint16_t offset;  /* of the first one */",
             "\tuint16_t stride;  /* bytes between them */", "\tuint8_t count;    /* 1, or the array's length */",
             "\tuint8_t n_fields; /* 0: the whole register is one value */",
             '\tconst char *access; /* "ro", "rw", "w1s", "w1c" */',
             "\tuint32_t writable; /* bits that keep what is written */",
             '\tconst char *job; /* who changes it for a job: "hw", "sw"; NULL: nobody */',
             "\tuint32_t reset; /* config and features: see weft_reg_reset() */",
             "\tconst struct weft_reg_field_info *fields;", "\tconst char *doc;", "};", "",
             "/** All WEFT_N_REGS registers, in order of the spec. Constant. */", "const struct weft_reg_info *weft_reg_list(void);"]
    return c_file("regs.toml", "regs", body)


def reg_space(spec):
    top = max(r["offset"] + (spec.reg_count(r) - 1) * r.get("stride", 0) + 4 for r in spec.regs.values())
    return 1 << (top - 1).bit_length()


def reg_writable(r):
    if r["access"] != "rw":
        return 0
    if "fields" in r:
        return sum(((1 << bits) - 1) << lsb for lsb, bits in r["fields"].values())
    return r.get("writable", 0xffffffff)


def reg_reset(spec, name, r):
    return {"id": spec.version["id"], "version": spec.pack("version", spec.version)}.get(name, r.get("reset", 0))


def gen_regs_c(spec):
    body = ["#include <weft/gen/regs.h>", ""]
    for name, r in spec.regs.items():
        if "fields" in r:
            body.append(f"static const struct weft_reg_field_info {name}_fields[] = {{")
            body += [f"\t{{{c_string(f)}, {lsb}, {bits}}}," for f, (lsb, bits) in r["fields"].items()]
            body += ["};", ""]
    body.append("static const struct weft_reg_info regs[WEFT_N_REGS] = {")
    for name, r in spec.regs.items():
        fields = f"{name}_fields" if "fields" in r else "NULL"
        body.append(f"\t{{{c_string(name)}, {r['offset']:#05x}, {r.get('stride', 0):#x}, {spec.reg_count(r)}, "
                    f"{len(r.get('fields', {}))}, {c_string(r['access'])}, {reg_writable(r):#x}, {c_string(r['job']) if 'job' in r else 'NULL'}, "
                    f"{reg_reset(spec, name, r):#x}, {fields},\n\t\t{c_string(r['doc'])}}},")
    body += ["};", "", "const struct weft_reg_info *weft_reg_list(void)", "{", "\treturn regs;", "}"]
    return c_file("regs.toml", "regs", body, header=False)


def config_members(spec):
    """Members of struct weft_config that differ between configurations."""
    every = [spec.derive(n) for n in spec.configs]
    return [k for k in every[0] if k not in spec.common]


def gen_config_h(spec):
    body = ["/* The same in every configuration. */"]
    for name, value in spec.common.items():
        body.append(f"#define WEFT_{name.upper()} {value}")
    body += ["", "/* Version of registers and commands. */"]
    body += [f"#define WEFT_HW_{k.upper()} {spec.version[k]}" for k in ("major", "minor")]
    body += ["", "/* Bits of weft_config.features: arithmetic modes, commands. */"]
    body += [f"#define WEFT_FEATURE_{m.upper()} {1 << lsb:#x}u" for m, (lsb, _) in spec.regs["features"]["fields"].items()]
    body += ["", "/** One named configuration; see include/spec/config.toml. */", "struct weft_config {",
             "\tconst char *name, *brief;"]
    body += [f"\tuint32_t {m};" for m in config_members(spec)]
    names = list(spec.configs)
    body += ["};", "", f"#define WEFT_N_CONFIGS {len(spec.configs)}",
             f'#define WEFT_CONFIG_NAMES "{", ".join(names[:-1])} or {names[-1]}"   /* for messages */',
             "/** All WEFT_N_CONFIGS configurations, in order of the spec. Constant. */",
             "const struct weft_config *weft_config_list(void);", "",
             "/** The configuration of that name, NULL if there is none. */",
             "const struct weft_config *weft_config_find(const char *name);", "",
             "/** The same with all that the functional model can do as its features; NULL if there is none. */",
             "const struct weft_config *weft_config_of_model(const char *name);", "",
             "/** The configuration of a device whose registers read that, NULL if there is none. */",
             "const struct weft_config *weft_config_of_device(uint32_t reg_config, uint32_t features);"]
    return c_file("config.toml", "config", body)


def gen_config_c(spec):
    body = ["#include <string.h>", "", "#include <weft/gen/config.h>", ""]
    for table, features in (("static const struct weft_config configs", "features"),
                            ("static const struct weft_config model_configs", "model_features")):
        body.append(f"{table}[WEFT_N_CONFIGS] = {{")
        for name, raw in spec.configs.items():
            values = spec.derive(name)
            body += ["\t{", f"\t\t.name = {c_string(name)},", f"\t\t.brief = {c_string(raw['brief'])},"]
            for m in config_members(spec):
                value = values[features if m == "features" else m]
                text = f"{value:#x}" if m in ("reg_config", "features", "model_features") else str(value)
                body.append(f"\t\t.{m} = {text},")
            body.append("\t},")
        body += ["};", ""]
    for function, table in (("find", "configs"), ("of_model", "model_configs")):
        body += [f"const struct weft_config *weft_config_{function}(const char *name)", "{",
                 "\tfor (size_t i = 0; i < WEFT_N_CONFIGS; i++)", f"\t\tif (strcmp({table}[i].name, name) == 0)",
                 f"\t\t\treturn &{table}[i];", "\treturn NULL;", "}", ""]
    body += ["const struct weft_config *weft_config_of_device(uint32_t reg_config, uint32_t features)", "{",
             "\tfor (size_t i = 0; i < WEFT_N_CONFIGS; i++)",
             "\t\tif (configs[i].reg_config == reg_config && configs[i].features == features)",
             "\t\t\treturn &configs[i];", "\treturn NULL;", "}", "",
             "const struct weft_config *weft_config_list(void)", "{", "\treturn configs;", "}"]
    return c_file("config.toml", "config", body, header=False)


# ---- SystemVerilog -----------------------------------------------------------

def sv_fields(prefix, fields):
    out = []
    for f in fields:
        p = f"{prefix}_{f.name.upper()}"
        out.append(f"// {f.doc}" + (f", {f.unit}" if f.unit else ""))
        out += [sv_uint(f"{p}_LSB", f.flat_lsb), sv_uint(f"{p}_W", f.bits)]
        if f.ranged:
            for suffix, value in (("MIN", f.min), ("MAX", f.max)):
                sign, base = (" signed", "sd") if f.signed else ("", "d")
                minus = "-" if value < 0 else ""
                out.append(f"localparam logic{sign} [{f.bits - 1}:0] {p}_{suffix} = {minus}{f.bits}'{base}{abs(value)};")
        out += [f"localparam logic [{f.bits - 1}:0] {p}_V_{v.upper()} = {f.bits}'d{i};" for i, v in enumerate(f.values)]
    return out + [""]


def gen_cmd_sv(spec):
    body = ["// Bit positions count from bit 0 of word 0 of the command.", "",
            sv_uint("HEADER_WORDS", spec.header_words), "",
            "// A whole command: word 0 in the low bits, then as many words as the longest one has.",
            f"typedef logic [{spec.common['cmd_max_words'] * 64 - 1}:0] cmd_t;",
            "// A load or a store, which are equally long.",
            f"typedef logic [{next(c.words for c in spec.cmds if c.name == 'load') * 64 - 1}:0] move_t;", ""]
    for c in spec.cmds:
        body += [f"localparam logic [7:0] OP_{c.name.upper()} = 8'h{c.op:02x};  // {c.brief}",
                 f"localparam logic [7:0] {c.name.upper()}_WORDS = 8'd{c.words};"]
    body += [""] + [f"localparam logic [7:0] UNIT_{n} = 8'd{u['index']};  // {u['brief']}" for n, u in spec.units.items()]
    body += [""] + [f"localparam logic [7:0] FAULT_{n} = 8'd{f['code']};  // {f['brief']}" for n, f in spec.faults.items()]
    body += [""] + sv_fields("HEADER", spec.header)
    for name, fields in spec.groups.items():
        body += [f"// Of {', '.join(c.name for c in spec.cmds if name in c.groups)}."] + sv_fields(name.upper(), fields)
    for c in spec.cmds:
        if c.own:
            users = ", ".join(o.name for o in spec.cmds if o.like is c)
            body += [f"// Of {users}."] + sv_fields(c.name.upper(), c.own)
    for r in spec.records:
        body += sv_record(r)
    return sv_package("cmd.toml", "weft_cmd_pkg", body[:-1])


def sv_struct(name, fields, bits):
    """A packed struct of (name, lsb, bits, signed, doc), the highest first, with what lies between as reserved bits."""
    out, end = [f"typedef struct packed {{"], bits
    for field, lsb, width, signed, doc in sorted(fields, key=lambda f: -f[1]):
        if lsb + width < end:
            out.append(f"  logic [{end - lsb - width - 1}:0] reserved_{lsb + width};")
        kind = "logic signed" if signed else "logic"
        span = f" [{width - 1}:0]" if width > 1 or signed else ""
        out.append(f"  {kind}{span} {field};" + (f"  // {doc}" if doc else ""))
        end = lsb
    if end > 0:
        out.append(f"  logic [{end - 1}:0] reserved_0;")
    return out + [f"}} {name}_t;"]


def sv_record(r):
    upper = r.name.upper()
    return [f"// {r.brief}; byte 0 in the low bits", sv_uint(f"{upper}_BYTES", r.bytes),
            *sv_struct(r.name, [(f.name, f.lsb, f.bits, f.signed, f.doc) for f in r.fields], 8 * r.bytes), ""]


def sv_range_test(f, prefix):
    """True where the field breaks a bound that its width does not already give; None if none can be broken."""
    p = f"weft_cmd_pkg::{prefix}_{f.name.upper()}"
    value = f"cmd_i[{p}_LSB +: {p}_W]"
    value = f"$signed({value})" if f.signed else value
    low, high = (-(1 << (f.bits - 1)), (1 << (f.bits - 1)) - 1) if f.signed else (0, (1 << f.bits) - 1)
    out = [f"({value} < {p}_MIN)"] if f.min > low else []
    out += [f"({value} > {p}_MAX)"] if f.max < high else []
    out += [f"(((weft_cfg_pkg::FEATURES_VALUE >> {value}) & 32'd1) == 32'd0)"] if f.feature else []
    out += [f"({value} != '0 && !weft_cfg_pkg::HAS_{f.needs.upper()})"] if f.needs else []
    return " || ".join(out) or None


def sv_fault_wire(name, prefix, fields):
    """First fault of some fields' ranges, or nothing where they have none."""
    tests = [(sv_range_test(f, prefix), f.fault) for f in fields]
    tests = [(t, fault) for t, fault in tests if t]
    if not tests:
        return []
    out = [f"  logic [7:0] {name}_fault;", "  always_comb begin", f"    {name}_fault = weft_cmd_pkg::FAULT_NONE;",
           "    if (cmd_i[weft_cmd_pkg::HEADER_OP_LSB +: weft_cmd_pkg::HEADER_OP_W] != '0) begin"]
    for test, fault in reversed(tests):
        out.append(f"      if ({test}) {name}_fault = weft_cmd_pkg::FAULT_{fault};")
    return out + ["    end", "  end", ""]


def gen_check_sv(spec):
    out = [f"// {first_line('cmd.toml')}", "// SPDX-License-Identifier: Apache-2.0", "//",
           "// What the command set says of one whole command; combinational.", "//",
           "//   words_o  words of this opcode, 0 where there is no such opcode",
           "//   unit_o   unit that executes it",
           "//   fault_o  first that applies: BAD_OP, BAD_LEN, BAD_FIELD for reserved bits,",
           "//            alignment and fields that the mode does not have, then the first field",
           "//            outside its range or the configuration; else NONE", "//",
           "// Words beyond words_o are not looked at. Same in C: weft_cmd_fault().",
           "// With opcode 0 (no command yet) a simulator skips the fields.",
           "module weft_cmd_check", "(", "  input  weft_cmd_pkg::cmd_t cmd_i,",
           "  output logic [7:0] words_o,", "  output logic [7:0] unit_o,", "  output logic [7:0] fault_o", ");", ""]
    sources = [(g, g.upper(), fields) for g, fields in spec.groups.items()]
    sources += [(c.name, c.name.upper(), c.own) for c in spec.cmds if c.own]
    for name, cases in spec.elems.items():
        fields = {f.name: f for f in spec.groups[ELEM_GROUP]}
        tests = [" && ".join(f"cmd_i[{fields[k].flat_lsb} +: {fields[k].bits}] == {fields[k].bits}'d{v}"
                             for k, v in case.items()) for case in cases]
        out += [f"  logic {name}_two;  // an element has two bytes",
                f"  assign {name}_two = {' || '.join(f'({t})' for t in tests)};"]
    mode = next(f for f in spec.groups[ELEM_GROUP] if f.name == "mode")
    modal = [f for _, _, fields in sources for f in fields if f.modes]
    for mask in sorted({mode_mask(f) for f in modal}):
        tests = [f"cmd_i[{mode.flat_lsb} +: {mode.bits}] != {mode.bits}'d{m}" for m in range(8) if mask >> m & 1]
        out += [f"  logic not_{mask:x};  // the mode is none of bits {mask:#x}", f"  assign not_{mask:x} = {' && '.join(tests)};"]
    out += [""]
    faulty = set()
    for name, prefix, fields in sources:
        wire = sv_fault_wire(name, prefix, fields)
        out += wire
        faulty |= {name} if wire else set()
    out += ["  logic [7:0] range_fault;", "  logic bad_bits;", "", "  always_comb begin", "    words_o = 8'd0;",
            "    unit_o = weft_cmd_pkg::UNIT_CP;", "    range_fault = weft_cmd_pkg::FAULT_NONE;", "    bad_bits = 1'b0;",
            "    case (cmd_i[weft_cmd_pkg::HEADER_OP_LSB +: weft_cmd_pkg::HEADER_OP_W])"]
    for c in spec.cmds:
        size, reserved = c.words * 64, ~spec.used_bits(c) & ((1 << c.words * 64) - 1)
        tests = [f"(cmd_i[{size - 1}:0] & {size}'h{reserved:x}) != '0"] if reserved else []
        tests += [f"cmd_i[{f.flat_lsb} +: weft_cfg_pkg::LOG2_N] != '0" for _, _, f in spec.parts(c) if f.align_n]
        tests += [f"{f.elem}_two && cmd_i[{f.flat_lsb}]" for _, _, f in spec.parts(c) if f.elem]
        tests += [f"not_{mode_mask(f):x} && cmd_i[{f.flat_lsb} +: {f.bits}] != '0" for _, _, f in spec.parts(c) if f.modes]
        names = [f"{n}_fault" for n in [*c.like.groups, c.like.name] if n in faulty]
        has = f" if (weft_cfg_pkg::HAS_{c.needs.upper()})" if c.needs else ""
        out += [f"      weft_cmd_pkg::OP_{c.name.upper()}:{has} begin",
                f"        words_o = weft_cmd_pkg::{c.name.upper()}_WORDS;",
                f"        unit_o = weft_cmd_pkg::UNIT_{c.unit};"]
        out += ["        bad_bits = " + "\n          || ".join(f"({t})" for t in tests) + ";"] if tests else []
        if names:
            picks = [f"({n} != weft_cmd_pkg::FAULT_NONE) ? {n} : " for n in names[:-1]]
            out.append(f"        range_fault = {''.join(picks)}{names[-1]};")
        out.append("      end")
    out += ["      default: ;", "    endcase", "  end", "", "  always_comb begin", "    fault_o = range_fault;",
            "    if (words_o == 8'd0) fault_o = weft_cmd_pkg::FAULT_BAD_OP;",
            "    else if (cmd_i[weft_cmd_pkg::HEADER_N_WORDS_LSB +: weft_cmd_pkg::HEADER_N_WORDS_W] != words_o)",
            "      fault_o = weft_cmd_pkg::FAULT_BAD_LEN;",
            "    else if (bad_bits) fault_o = weft_cmd_pkg::FAULT_BAD_FIELD;", "  end", "", "endmodule"]
    return "\n".join(out) + "\n"


def gen_regs_sv(spec):
    space = reg_space(spec)
    width = space.bit_length() - 1
    body = [sv_uint("ADDR_W", width), ""]
    for name, r in spec.regs.items():
        upper = name.upper()
        body.append(f"// {r['doc']} ({r['access']})")
        body.append(f"localparam logic [{width - 1}:0] {upper}_ADDR = {width}'h{r['offset']:x};")
        if "array" in r:
            body += [sv_uint(f"{upper}_COUNT", spec.reg_count(r)), sv_uint(f"{upper}_STRIDE", r["stride"])]
        if r["access"] == "rw":
            body.append(f"localparam logic [31:0] {upper}_RESET = 32'h{r.get('reset', 0):x};")
        for f, (lsb, bits) in r.get("fields", {}).items():
            body += [sv_uint(f"{upper}_{f.upper()}_LSB", lsb), sv_uint(f"{upper}_{f.upper()}_W", bits)]
        body.append("")
    body += ["// What the constant registers read; the others of that kind are in weft_cfg_pkg.",
             f"localparam logic [31:0] ID_VALUE = 32'h{spec.version['id']:08x};",
             f"localparam logic [31:0] VERSION_VALUE = 32'h{spec.pack('version', spec.version):08x};"]
    return sv_package("regs.toml", "weft_regs_pkg", body)


def gen_cfg_sv(spec, name):
    values = spec.derive(name)
    body = [f"// {name}: {spec.configs[name]['brief']}", sv_uint("VERSION_MAJOR", spec.version["major"]),
            sv_uint("VERSION_MINOR", spec.version["minor"])]
    for key, value in values.items():
        if key == "reg_config":
            body.append(f"localparam logic [31:0] CONFIG_VALUE = 32'h{value:08x};")
        elif key == "model_features":
            pass
        elif key == "features":
            body.append(f"localparam logic [31:0] FEATURES_VALUE = 32'h{value:08x};")
        elif key.startswith("has_"):
            body.append(f"localparam logic {key.upper()} = 1'b{value};")
        else:
            body.append(sv_uint(key.upper(), value))
    body += ["", *sv_types(spec)]
    return sv_package("config.toml", "weft_cfg_pkg", body)


def sv_types(spec):
    """SystemVerilog types of [type.*] and [struct.*] in config.toml; widths are written in the package's constants."""
    out = []
    for name, t in spec.types.items():
        out += [f"// {t['doc']}", f"typedef logic [{t['bits'].upper()}-1:0] {name}_t;"]
    for name, t in spec.structs.items():
        out += ["", f"// {t['doc']}", "typedef struct packed {",
                *(f"  {sv_kind(spec, bits)} {field};" + (f"  // {doc}" if doc else "") for field, bits, doc in t["fields"]),
                f"}} {name}_t;"]
    return out


def sv_kind(spec, bits):
    """The type of a struct's field: one of [type.*], or as many bits as an expression in the constants says."""
    return f"{bits}_t" if bits in spec.types else "logic" if bits == "1" else f"logic [{bits.upper()}-1:0]"


# ---- Markdown ----------------------------------------------------------------

def md_fields(fields):
    out = ["| field | word | bits | range | unit | meaning |", "|---|---|---|---|---|---|"]
    for f in fields:
        bits = f"{f.lsb + f.bits - 1}:{f.lsb}" if f.bits > 1 else str(f.lsb)
        kind = " signed" if f.signed else ""
        unit = f"{f.unit}, whole elements ({f.elem})" if f.elem else f.unit
        out.append(f"| `{f.name}` | {f.word} | {bits}{kind} | {f.min}..{f.max} | {unit} | {md_cell(field_doc(f))} |")
    return out + [""]


def md_doc(text):
    return ["```text", *text.split("\n"), "```", ""] if text else []


def byte_range(f):
    first, last = f.lsb // 8, (f.lsb + f.bits) // 8 - 1
    return f"{first}..{last}" if first < last else str(first)


def isa_tables(spec):
    body = [MARK_BEGIN, "", "| command | opcode | unit | words | |", "|---|---|---|---|---|"]
    body += [f"| [`{c.name}`](#{c.name}) | {c.op:#04x} | {c.unit} | {c.words} | {md_cell(c.brief)} |" for c in spec.cmds]
    body += ["", "| unit | index | |", "|---|---|---|"]
    body += [f"| {n} | {u['index']} | {md_cell(u['brief'])} |" for n, u in spec.units.items()]
    body += ["", "| fault | code | |", "|---|---|---|"]
    body += [f"| {n} | {f['code']} | {md_cell(f['brief'])} |" for n, f in spec.faults.items()]
    body += ["", "### header", "", "The first words of every command.", ""] + md_fields(spec.header)
    for name, fields in spec.groups.items():
        users = ", ".join(c.name for c in spec.cmds if name in c.groups)
        body += [f"### {name}", "", f"Part of {users}.", ""] + md_doc(spec.group_docs[name]) + md_fields(fields)
    for r in spec.records:
        body += [f"### {r.name}", "", f"{r.brief}; {r.bytes} bytes, little-endian, zero where there is no field.", "",
                 "| field | bytes | | meaning |", "|---|---|---|---|"]
        body += [f"| `{f.name}` | {byte_range(f)} | {'' if f.signed else 'u'}int{f.bits} | {f.doc} |"
                 for f in r.fields] + [""]
    for c in spec.cmds:
        needs = f" Needs the feature {c.needs}, else BAD_OP." if c.needs else ""
        body += [f"### {c.name}", "", f"{c.brief}. Opcode {c.op:#04x}, {c.words} words, unit {c.unit}.{needs}", ""] + md_doc(c.doc)
        if c.groups:
            body += [f"Besides the fields of {', '.join(f'[{g}](#{g})' for g in c.groups)}:", ""]
        if c.fields_of:
            body += [f"Fields as in [{c.fields_of}](#{c.fields_of}).", ""]
        elif c.own:
            body += md_fields(c.own)
    return "\n".join(body + [MARK_END]) + "\n"


def gen_isa_md(spec, old):
    """The tables of docs/isa.md; the prose around them is kept."""
    tables = isa_tables(spec)
    if old is None:
        return "# The command set\n\n" + tables
    begin, end = old.find(MARK_BEGIN), old.find(MARK_END)
    if begin < 0 or end < begin:
        raise SpecError(f"docs/isa.md: the lines '{MARK_BEGIN}' and '{MARK_END}' are missing")
    return old[:begin] + tables + old[end + len(MARK_END):].removeprefix("\n")


def listed(path):
    """Rows of a list of expectations: fields separated by tabs."""
    return [line.split("\t") for line in read(path).splitlines() if line and not line.startswith("#")]


def gen_onnx_cases_md():
    """What of the foreign ONNX data is refused or differs, from tests/expected."""
    out = ["<!-- Generated from tests/expected by tools/gen.py. Do not edit. -->", "", "# ONNX: what is refused, and what differs"]
    for title, path, names in (
            ("ONNX's node tests", "tests/expected/onnx_node.tsv", ["case", "the refusal says", "because"]),
            ("ONNX's node tests in the wheel of onnx 1.18.0", "tests/expected/onnx_wheel.tsv", ["case", "the message says", "because"]),
            ("ONNX Runtime's results", "tests/expected/ort.tsv", ["model", "elements that differ", "because"]),
            ("Deeploy's networks", "tests/expected/deeploy.tsv", ["network", "refused for, or rounded", "because"])):
        rows = listed(path)
        out += ["", f"## {title}", "", f"`{path}`; everything else passes." + ("" if rows else " None.")]
        if rows:
            out += ["", "| " + " | ".join(names) + " |", "|" + "---|" * len(names)]
            out += ["| " + " | ".join(md_cell(v) for v in row) + " |" for row in rows]
    rows = [re.split(r"\s{2,}", r[0], maxsplit=1) for r in listed("tests/expected/onnx_cast.txt")]
    out += ["", "## Cast: the text of its page against its node tests", "", "`tests/expected/onnx_cast.txt`; the text is followed.", "",
            "| case | difference |", "|---|---|"]
    out += ["| " + " | ".join(md_cell(v) for v in row) + " |" for row in rows]
    return "\n".join(out) + "\n"


def gen_extensions_md(spec):
    """Every operator of include/weft/op.h that is not TOSA's must be declared, and no other."""
    named = set(re.findall(r"\bWEFT_OP_((?:TFL|ONNX|POPXL|PACT)_\w+)", read("include/weft/op.h")))
    need(named == set(spec.ext_ops), "ext_ops.toml",
         f"not the operators of include/weft/op.h: {', '.join(sorted(named ^ set(spec.ext_ops)))}")
    for name, op in spec.ext_ops.items():
        need(os.path.exists(os.path.join(ROOT, op["source"])), f"ext_ops.toml: {name}", f"no file {op['source']}")
    return "\n".join([f"<!-- {first_line('ext_ops.toml')} -->", "", "# Operators beyond TOSA", "",
                      "What a framework computes and TOSA 1.0 cannot say with the same result. They run on the host, but where the table says otherwise.", "",
                      "| operator | types | meaning | defined in |", "|---|---|---|---|"]
                     + [f"| `{n}` | {o['types']} | {md_cell(o['says'])} | `{o['source']}` |"
                        for n, o in spec.ext_ops.items()]) + "\n"


def gen_registers_md(spec):
    body = [f"<!-- {first_line('regs.toml')} -->", "", "# Registers", "",
            f"Each has 32 bits; offsets are bytes. They reset to 0 unless the table says otherwise. "
            f"Version {spec.version['major']}.{spec.version['minor']}.", "",
            "| offset | register | access | a job | fields | meaning |", "|---|---|---|---|---|---|"]
    for name, r in spec.regs.items():
        offset, shown = f"{r['offset']:#05x}", f"`{name}`"
        if "array" in r:
            offset += f" + i*{r['stride']:#x}"
            shown = f"`{name}[i]`, i < {spec.reg_count(r)}"
        fields = ", ".join(f"`{f}` {lsb + bits - 1}:{lsb}" if bits > 1 else f"`{f}` {lsb}"
                           for f, (lsb, bits) in r.get("fields", {}).items())
        doc = md_cell(r["doc"]) + (f" Resets to {r['reset']:#x}." if "reset" in r else "")
        body.append(f"| {offset} | {shown} | {r['access']} | {r.get('job', '')} | {fields} | {doc} |")
    body += ["", "`ro` hardware writes, `rw` software writes, `w1s` writing 1 acts and reading gives 0, "
             "`w1c` writing 1 clears. A job changes those marked `hw` by itself; who submits it writes those marked `sw`. "
             "The others stay as they are.", "", "| configuration | `config` reads | `features` reads |", "|---|---|---|"]
    for name in spec.configs:
        v = spec.derive(name)
        body.append(f"| {name} | {v['reg_config']:#010x} | {v['features']:#x} |")
    return "\n".join(body) + "\n"


# ---- files -------------------------------------------------------------------

def read(path):
    try:
        with open(os.path.join(ROOT, path), encoding="utf-8") as f:
            return f.read()
    except FileNotFoundError:
        return None


def all_files(spec):
    files = {
        "include/weft/gen/cmd.h": gen_cmd_h(spec),
        "include/weft/gen/regs.h": gen_regs_h(spec),
        "include/weft/gen/config.h": gen_config_h(spec),
        "driver/gen/cmd_tables.c": gen_cmd_c(spec),
        "driver/gen/regs_tables.c": gen_regs_c(spec),
        "driver/gen/config_tables.c": gen_config_c(spec),
        "hw/gen/weft_cmd_pkg.sv": gen_cmd_sv(spec),
        "hw/gen/weft_cmd_check.sv": gen_check_sv(spec),
        "hw/gen/weft_regs_pkg.sv": gen_regs_sv(spec),
        "docs/registers.md": gen_registers_md(spec),
        "docs/isa.md": gen_isa_md(spec, read("docs/isa.md")),
        "docs/extensions.md": gen_extensions_md(spec),
        "docs/onnx-cases.md": gen_onnx_cases_md(),
    }
    for name in spec.configs:
        files[f"hw/gen/{name}/weft_cfg_pkg.sv"] = gen_cfg_sv(spec, name)
    files |= gen_card.files(Spec.load)
    files |= gen_attr.files(Spec.load)
    return files


def leftovers(files):
    """Generated files that the spec no longer asks for."""
    out = []
    for folder in ("include/weft/gen", "driver/gen", "hw/gen", "userlib/graph/gen"):
        for at, _, names in os.walk(os.path.join(ROOT, folder)):
            out += [os.path.relpath(os.path.join(at, n), ROOT) for n in names]
    return sorted(set(out) - set(files))


def check(files):
    bad = 0
    for path, text in files.items():
        old = read(path) or ""
        if old != text:
            bad += 1
            diff = list(difflib.unified_diff(old.splitlines(), text.splitlines(), path, "from the spec", lineterm="", n=0))
            print("\n".join(diff[:20]))
    for path in leftovers(files):
        bad += 1
        print(f"{path}: nothing in include/spec asks for this file")
    if bad:
        print(f"{bad} generated file(s) differ from include/spec; run `make gen` and commit the result")
    return 1 if bad else 0


def write(files):
    for path, text in files.items():
        if read(path) != text:
            full = os.path.join(ROOT, path)
            os.makedirs(os.path.dirname(full), exist_ok=True)
            with open(full, "w", encoding="utf-8", newline="\n") as f:
                f.write(text)
            print(f"  GEN     {path}")
    for path in leftovers(files):
        os.remove(os.path.join(ROOT, path))
        print(f"  RM      {path}")
    return 0


def main(args):
    if args not in ([], ["--check"]):
        print("usage: tools/gen.py [--check]", file=sys.stderr)
        return 2
    try:
        files = all_files(Spec())
    except SpecError as e:
        print(f"gen.py: {e}", file=sys.stderr)
        return 2
    except KeyError as e:
        print(f"gen.py: include/spec: the key {e} is missing", file=sys.stderr)
        return 2
    return check(files) if args else write(files)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
