# SPDX-License-Identifier: Apache-2.0
"""What the generators share: errors, and the frames of C, SystemVerilog and Markdown files."""
import re


class SpecError(Exception):
    pass


def need(condition, where, text):
    if not condition:
        raise SpecError(f"include/spec/{where}: {text}")


def first_line(source):
    return f"Generated from include/spec/{source} by tools/gen.py; edit that and run `make gen`."


def one_line(text):
    return " ".join(text.split())


def c_string(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def public(line):
    """A line of a header; one that begins a function's prototype gets the mark of the API."""
    return re.sub(r"^(?=(const |struct |unsigned |void |[a-z0-9]+_t |int )[^;={]*\bweft_\w+\()", "WEFT_API ", line)


def c_file(source, name, body, header=True, includes=()):
    lines = [f"/* {first_line(source)} */", "/* SPDX-License-Identifier: Apache-2.0 */"]
    if not header:
        return "\n".join(lines + body) + "\n"
    guard = f"WEFT_GEN_{name.upper()}_H"
    return "\n".join(lines + [f"#ifndef {guard}", f"#define {guard}", "", "#include <stddef.h>",
                              "#include <stdint.h>", "", "#include <weft/api.h>", *includes, "",
                              "#ifdef __cplusplus", 'extern "C" {', "#endif", ""]
                     + [public(line) for line in body] + ["", "#ifdef __cplusplus", "}", "#endif", "#endif"]) + "\n"


def c_enum(tag, entries):
    width = max(len(n) for n, _, _ in entries)
    return [f"enum {tag} {{"] + [f"\t{n:<{width}} = {v}," + (f" /* {d} */" if d else "")
                                for n, v, d in entries] + ["};", ""]


def sv_package(source, name, body):
    # Nobody uses every constant of a package.
    return "\n".join([f"// {first_line(source)}", "// SPDX-License-Identifier: Apache-2.0",
                      "/* verilator lint_off UNUSEDPARAM */", f"package {name};",
                      *(f"  {line}" if line else "" for line in body), "endpackage",
                      "/* verilator lint_on UNUSEDPARAM */"]) + "\n"


def sv_uint(name, value):
    return f"localparam int unsigned {name} = {value};"


def md_cell(text):
    return text.replace("|", "\\|")
