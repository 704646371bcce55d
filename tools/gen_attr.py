# SPDX-License-Identifier: Apache-2.0
"""From include/spec/attr.toml: the structs of attributes, and the rows that save, check and TOSA files follow."""
import itertools

import gen_text as t

SOURCE = "attr.toml"
C_TYPES = {"int32": "int32_t", "int64": "int64_t", "bool": "bool", "float": "float", "double": "double",
           "factor": "struct weft_tfl_factor ", "graph": "struct weft_graph *",
           "custom": "const struct weft_custom_op *"}
ENUMS = ("rounding", "nan_mode", "resize_mode", "dtype")
# How a container holds a field: enums as int32, a factor as two of them.
SAVED = {"int32": "I32", "int64": "I64", "bool": "BOOL", "float": "F32", "double": "F64", "factor": "I32"} | {
    e: "I32" for e in ENUMS}
TENSORS = {"in0": 0, "in1": 1, "out0": "ATTR_RESULT"}


def need(condition, text):
    t.need(condition, SOURCE, text)


def c_type(kind):
    need(kind in C_TYPES or kind in ENUMS, f"{kind} is no type of a field")
    return C_TYPES.get(kind) or f"weft_{kind} "


def count(field):
    return {"rank": "WEFT_MAX_RANK"}.get(field.get("count"), field.get("count", 1))


def declaration(name, field):
    array = f"[{count(field)}]" if "count" in field else ""
    kind = c_type(field["type"])
    text = f"{kind}{'' if kind[-1] in ' *' else ' '}{name}{array};"
    return f"\t{text:<30} /* {field['doc']} */" if "doc" in field else f"\t{text}"


def attr_h(spec):
    body = []
    for name, values in spec["enum"].items():
        body += [f"typedef enum weft_{name} {{"]
        body += [f"\t{n} = {v['value']}," + (f"{'':4}/* {v['doc']} */" if "doc" in v else "") for n, v in values.items()]
        body += [f"}} weft_{name};", ""]
    body += ["struct weft_graph;", "struct weft_custom_op;", "",
             "/* Times multiplier * 2^(shift - 31), in two roundings. */",
             "struct weft_tfl_factor { int32_t multiplier, shift; };", ""]
    for name, attr in spec["attr"].items():
        body += [f"/* {attr['says']} */", f"struct weft_attr_{name} {{"]
        body += [declaration(n, f) for n, f in attr["fields"].items()] + ["};", ""]
    body += ["typedef union weft_attr {"]
    body += [f"\tstruct weft_attr_{name} {name};" for name in spec["attr"]] + ["} weft_attr;"]
    return t.c_file(SOURCE, "attr", body, includes=["#include <stdbool.h>", "", "#include <weft/tensor.h>", ""])


class Row:
    """One [[ops]] and the struct that it has."""

    def __init__(self, spec, row):
        self.row, self.name = row, row["names"][0].lower()
        self.attr = row.get("attr")
        need(self.attr is None or self.attr in spec["attr"], f"{self.name} has the unknown struct {self.attr}")
        self.fields = spec["attr"][self.attr]["fields"] if self.attr else {}
        for n in row.get("fields", []) + row.get("free", []):
            self.field(n)

    def field(self, name):
        need(name in self.fields, f"{self.name} has no field {name}")
        return self.fields[name]

    def at(self, name, index=None):
        self.field(name)
        return f"offsetof(weft_attr, {self.attr}.{name}" + (f"[{index}])" if index is not None else ")")

    def saved(self):
        for name in self.row.get("fields", self.fields):
            field = self.field(name)
            if field["type"] != "graph":
                n = count(field)
                yield f"{{ {self.at(name)}, ATTR_{SAVED[field['type']]}, {2 * n if field['type'] == 'factor' else n} }},"

    def limits(self):
        for name in self.row.get("fields", self.fields):
            field = self.field(name)
            if name in self.row.get("free", []) or not ("min" in field or "max" in field):
                continue
            many = isinstance(field.get("min"), list)
            parts = zip(("multiplier", "shift"), field["min"], field["max"]) if many else [
                ("", field.get("min"), field.get("max"))]
            for k, (part, low, high) in enumerate(parts):
                at = self.at(name) + (f" + {4 * k}" if k else "")
                kind = "I64" if field["type"] == "int64" else "I32"
                step = 8 if many or kind == "I64" else 4
                says = field.get("says", name) + (f"'s {part}" if part else "")
                yield (f"{{ {t.c_string(says)}, {at}, ATTR_{kind}, {count(field)}, {step}, "
                       f"{'INT64_MIN' if low is None else low}, {'INT64_MAX' if high is None else high} }},")

    def zero_points(self):
        for z in self.row.get("zero_points", []) + [a for a in self.row.get("args", []) if "zero_point" in a]:
            unsigned = self.at(z["unsigned"]) if "unsigned" in z else "ATTR_NONE"
            yield f"{{ {t.c_string(z['says'])}, {self.at(z['zero_point'])}, {unsigned}, {TENSORS[z['of']]} }},"

    def number(self, name):
        n = self.field(name).get("count", 1)
        return "ATTR_RANK" if n == "rank" else n

    def tosa_field(self, i, entry):
        kind = next(k for k in entry if k in ("list", "flag", "number", "enum", "type", "nan", "value", "block", "ones"))
        names = entry[kind] if isinstance(entry[kind], list) else [entry[kind]]
        ats = [self.at(n, entry.get("index")) for n in names]
        second = ats[1] if len(ats) > 1 else "ATTR_NONE"
        n = self.number(names[0]) if kind in ("list", "ones") else 1
        return (f"{{ {t.c_string(entry.get('name', names[0]))}, ATTR_{kind.upper()}, {i}, {n}, "
                f"{TENSORS[entry['sign_of']] if 'sign_of' in entry else 'ATTR_NO_TENSOR'}, {ats[0]}, {second}, "
                f"{entry.get('min', 0)}, {entry.get('max', 0)} }},")

    def argument(self, k, entry):
        kind = next(x for x in entry if x in ("zero_point", "scalar", "shape", "part", "pads", "fill", "result_shape"))
        value = entry[kind]
        names = value if isinstance(value, list) else [value]
        if kind == "shape":                # the interpreter steps through them
            order = list(self.fields)
            first = order.index(names[0])
            need(order[first:first + len(names)] == names and (len(names) == 1 or all(
                self.fields[x]["type"] == "int32" and "count" not in self.fields[x] for x in names)),
                f"{self.name}: {names} are not int32 side by side")
        name = entry.get("name", names[0])
        if kind == "result_shape":
            return f"{{ {t.c_string(name)}, ATTR_RESULT_SHAPE, {k}, ATTR_RANK, ATTR_RESULT, ATTR_NONE, ATTR_NONE }},"
        n = len(names) if kind == "shape" and len(names) > 1 else self.number(names[0])
        of = TENSORS[entry["of"]] if "of" in entry else "ATTR_NO_TENSOR"
        second = self.at(entry["unsigned"]) if "unsigned" in entry else self.at(names[1]) if kind in (
            "pads", "fill") else "ATTR_NONE"
        return f"{{ {t.c_string(name)}, ATTR_{kind.upper()}, {k}, {n}, {of}, {self.at(names[0])}, {second} }},"

    def lists(self):
        return {
            "saved": list(self.saved()),
            "limit": list(self.limits()),
            "zero_point": list(self.zero_points()),
            "tosa_field": [self.tosa_field(i, e) for i, e in enumerate(self.row.get("tosa", []))],
            "tosa_arg": [self.argument(self.row["own"] + i, e) for i, e in enumerate(self.row.get("args", []))],
        }


def rows_c(spec):
    body = ['#include "../attr.h"', ""]
    table = []
    for row in (Row(spec, r) for r in spec["ops"]):
        parts = []
        for kind, lines in row.lists().items():
            if lines:
                body += [f"static const struct attr_{kind} {row.name}_{kind}[] = {{"] + [f"\t{x}" for x in lines] + ["};", ""]
                parts.append(f"ROWS({kind}, {row.name}_{kind})")
        for name in row.row["names"]:
            table.append(f"\t[WEFT_OP_{name}] = {{ {', '.join(parts)} }},")
    names = list(itertools.chain.from_iterable(r["names"] for r in spec["ops"]))
    need(len(names) == len(set(names)), "an operator stands in two rows")
    body += ["#define ROWS(kind, rows) .kind = rows, .n_##kind = sizeof rows / sizeof *rows", "",
             "const struct attr_op attr_ops[WEFT_N_OPS] = {"] + table + ["};"]
    return t.c_file(SOURCE, "attr_rows", body, header=False)


def files(load):
    spec = load(SOURCE)
    return {"include/weft/gen/attr.h": attr_h(spec), "userlib/graph/gen/attr_rows.c": rows_c(spec)}
