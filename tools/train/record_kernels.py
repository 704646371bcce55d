#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records for which of the format's builtin operators LiteRT 2.3 has a kernel.

usage: record_kernels.py [file]        default: tests/models/litert_kernels.txt

A file of one operator without operands is loaded in each version, with the resolver of the reference kernels and with
that of the others; what the resolver does not know is refused by name. A line is an operator's code, its name in the
schema and the greatest version known, 0 for none; conformance/tflite_operators compares them with what there
are recorded cases of.

Needs what record_litert.py needs.
"""

import os
import sys
from pathlib import Path

from flatbuffer import Table, Tables, flatbuffer, scalars

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
NEWEST = 16
CUSTOM = 32


def model(code, version):
    op = Table({0: ("I", 0), 1: scalars("i", []), 2: scalars("i", [])})
    graph = Table({0: Tables([]), 1: scalars("i", []), 2: scalars("i", []), 3: Tables([op])})
    codes = Tables([Table({0: ("b", min(code, 127)), 2: ("i", version), 3: ("i", code)})])
    return bytes(flatbuffer(Table({0: ("I", 3), 1: codes, 2: Tables([graph]), 4: Tables([Table({})])}), b"TFL3"))


def is_known(code, version):
    from ai_edge_litert.interpreter import Interpreter, OpResolverType as Resolver
    for resolver in (Resolver.BUILTIN_REF, Resolver.BUILTIN_WITHOUT_DEFAULT_DELEGATES):
        try:
            Interpreter(model_content=model(code, version), experimental_op_resolver_type=resolver)
            return True
        except ValueError as error:         # another complaint comes from a parser of options, which comes behind the resolver
            if "Didn't find op" not in str(error):
                return True
    return False


def main():
    from tensorflow.lite.python.schema_py_generated import BuiltinOperator
    to = Path(sys.argv[1] if len(sys.argv) > 1 else "tests/models/litert_kernels.txt")
    names = {v: k for k, v in vars(BuiltinOperator).items() if isinstance(v, int) and v != CUSTOM}
    lines = ["%d %s %d\n" % (code, names[code], max([v for v in range(1, NEWEST) if is_known(code, v)] + [0])) for code in sorted(names)]
    to.write_text("".join(lines))
    print(len(lines), "operators, without a kernel:", sum(line.endswith(" 0\n") for line in lines))


if __name__ == "__main__":
    main()
