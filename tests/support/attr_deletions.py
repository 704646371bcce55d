# SPDX-License-Identifier: Apache-2.0
"""Delete the graph's attributes one by one and see a test fail each time.

    attr_deletions.py BUILD [N [SEED]]     all deletions, or a sample of N

What is deleted: (table) each field, limit, operator, TOSA field and TOSA operand of
include/spec/attr.toml; (rows) each row of the generated userlib/graph/gen/attr_rows.c;
(written) each access to an attribute in the files below, which then reads and writes a block
of zeros instead. Only the changed file is compiled anew, and linked ahead of the library's
other objects with the tests that are named for it. A field that no row has, since no file holds it, is deleted
from its struct: then a source of userlib/graph must not compile. None of them relies on a round trip: attr_bytes and attr_tosa
compare with bytes and fields listed by hand, the others with messages.

Prints a line for each deletion that no test noticed, then the counts. Exit status 1: there are
such; 2: the tests fail without any deletion, or nothing could be built.
"""
import copy
import glob
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from concurrent.futures import ThreadPoolExecutor

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tools"))
sys.dont_write_bytecode = True
import gen_attr  # noqa: E402

ROWS = "userlib/graph/gen/attr_rows.c"
ROW_TESTS = ("attr_bytes", "attr_limits", "attr_tosa")
GRAPH_TESTS = ("attr_limits", "graph_check", "attr_tosa", "tosa_flow")
WRITTEN = {
    "userlib/graph/save.c": ("attr_bytes",),
    "userlib/graph/check_attr.c": ("attr_limits",),
    "userlib/graph/check_op.c": GRAPH_TESTS,
    "userlib/graph/check_tosa.c": GRAPH_TESTS,
    "userlib/graph/check_tfl.c": GRAPH_TESTS,
    "userlib/graph/check_onnx.c": GRAPH_TESTS,
    "userlib/import/tosa/tosa_attr.c": ("attr_tosa",),
    "userlib/export/tosa_op.c": ("attr_tosa", "tosa_flow"),
}
# An attribute through a pointer or through the operator, or where a row says.
ACCESS = re.compile(r"\battr_(?:at|const)\((?:[^()]|\([^()]*\))*\)"
                    r"|\bthis_op\(c\)->attr\.\w+\.\w+(?:\[[^\]]*\])?"
                    r"|\b(?:o|op)->attr\.\w+\.\w+(?:\[[^\]]*\])?"
                    r"|\ba->(?!dtype\b|data\b|rank\b|dim\b)(?:onnx\.)?\w+(?:\[[^\]]*\])?")


def without(items, name):
    """Rows of a list that do not speak of the field."""
    return [e for e in items if name not in sum(([v] if isinstance(v, str) else v for v in e.values()
                                                 if isinstance(v, (str, list))), [])]


def table_deletions(spec):
    for attr, body in spec["attr"].items():
        for name, field in body["fields"].items():
            s = copy.deepcopy(spec)
            del s["attr"][attr]["fields"][name]
            for row in s["ops"]:
                if row.get("attr") == attr:
                    for key in ("tosa", "args", "zero_points"):
                        row[key] = without(row.get(key, []), name)
                    for key in ("fields", "free"):
                        if key in row:
                            row[key] = [n for n in row[key] if n != name]
            yield f"table: field {attr}.{name}", s
            for end in ("min", "max"):
                for i in range(len(field[end]) if isinstance(field.get(end), list) else end in field):
                    s = copy.deepcopy(spec)
                    limits = s["attr"][attr]["fields"][name]
                    if isinstance(limits[end], list):
                        if limits[end][i] in (-2147483648, 2147483647):
                            continue
                        limits[end][i] = None
                    else:
                        del limits[end]
                    yield f"table: {end} of {attr}.{name}", s
    for i, row in enumerate(spec["ops"]):
        for key in ("names", "fields", "free", "tosa", "args", "zero_points"):
            for k in range(len(row.get(key, []))):
                s = copy.deepcopy(spec)
                what = s["ops"][i][key].pop(k)
                if not s["ops"][i]["names"]:
                    del s["ops"][i]
                yield f"table: {key} of {row['names'][0]}: {what}", s


def without_field(spec, what):
    """The table without the field that a line of table_deletions() names, attr.field last in it."""
    attr, name = what.split()[-1].split(".")
    s = copy.deepcopy(spec)
    del s["attr"][attr]["fields"][name]
    return s


def row_deletions(text):
    lines = text.split("\n")
    for i, line in enumerate(lines):
        if line.startswith("\t"):
            yield f"row: line {i + 1} {line.strip()}", "\n".join(lines[:i] + lines[i + 1:])


def written_deletions(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        text = f.read()
    code = re.sub(r"/\*.*?\*/", lambda m: re.sub(r"[^\n]", " ", m[0]), text, flags=re.S)
    for m in ACCESS.finditer(code):
        if m[0].startswith("attr_"):
            new = "((void *)attr_deleted)"
        else:
            new = f"(*(__typeof__(&({m[0]})))attr_deleted)"
        line = text.count("\n", 0, m.start()) + 1
        yield f"written: {path}:{line} {m[0]}", text[:m.start()] + new + text[m.end():]


class Build:
    def __init__(self, build, temp):
        self.temp = temp
        with open(os.path.join(build, "flags"), encoding="utf-8") as f:
            self.cc = f.read().split()[:-1]
        self.cc = [x for x in self.cc if x not in ("-MMD", "-MP")]
        with open(os.path.join(ROOT, "Makefile"), encoding="utf-8") as f:
            self.libs = re.search(r"^LDLIBS\s*=(.*)$", f.read(), re.M)[1].split()
        # Copies, so that a build meanwhile does not disturb.
        self.library = os.path.join(temp, "library.a")
        names = subprocess.run(["ar", "t", os.path.join(build, "obj/inside.a")], check=True, capture_output=True, text=True, cwd=ROOT)
        subprocess.run(["ar", "qcs", self.library, *names.stdout.split()], check=True, cwd=ROOT)
        self.support = os.path.join(temp, "support.a")
        subprocess.run(["ar", "qcs", self.support, *sorted(glob.glob(os.path.join(build, "obj/tests/support/*.o")))], check=True, cwd=ROOT)
        for t in dict.fromkeys(sum((list(x) for x in WRITTEN.values()), list(ROW_TESTS))):
            shutil.copy(os.path.join(build, "obj/tests/unit", t + ".o"), temp)
        self.zeros = os.path.join(temp, "zeros.h")
        with open(self.zeros, "w", encoding="utf-8") as f:
            f.write("static char attr_deleted[4096] __attribute__((aligned(16), unused));\n")

    def compile(self, name, path, text):
        folder = os.path.join(self.temp, name, os.path.dirname(path))
        os.makedirs(folder)
        source, out = os.path.join(self.temp, name, path), os.path.join(self.temp, name, "changed.o")
        with open(source, "w", encoding="utf-8") as f:
            f.write(text)
        run = subprocess.run([*self.cc, "-w", "-include", self.zeros, "-I", os.path.dirname(path), "-iquote",
                              os.path.join(ROOT, os.path.dirname(path)), "-c", source, "-o", out],
                             cwd=ROOT, capture_output=True, text=True)
        return out if run.returncode == 0 else None, run.stderr

    def struct_is_missed(self, name, header):
        """Whether a source of userlib/graph does not compile with this header of attributes."""
        folder = os.path.join(self.temp, name, "include")
        os.makedirs(os.path.join(folder, "weft/gen"))
        with open(os.path.join(folder, "weft/gen/attr.h"), "w", encoding="utf-8") as f:
            f.write(header)
        return any(subprocess.run([self.cc[0], "-I", folder, *self.cc[1:], "-w", "-fsyntax-only", path], cwd=ROOT, capture_output=True).returncode
                   for path in sorted(glob.glob(os.path.join(ROOT, "userlib/graph/*.c"))))

    def passes(self, name, test, changed):
        exe = os.path.join(self.temp, name, test)
        sanitize = [x for x in self.cc if x.startswith("-fsanitize")]
        subprocess.run([self.cc[0], *sanitize, os.path.join(self.temp, test + ".o"), changed, self.support, self.library, "-lcmocka",
                        *self.libs, "-o", exe], check=True, cwd=ROOT)
        try:
            run = subprocess.run([exe], cwd=ROOT, capture_output=True, timeout=300)
        finally:
            os.remove(exe)
        return run.returncode == 0


def order(what, tests):
    """The test that is the likeliest to fail first."""
    kind = next((t for key, t in (("tosa_", "attr_tosa"), ("limit", "attr_limits"), ("min of", "attr_limits"),
                                  ("max of", "attr_limits"), ("zero_point", "attr_limits")) if key in what), tests[0])
    return sorted(tests, key=lambda t: t != kind)


def main(args):
    build, spec = os.path.abspath(args[0]), gen_attr_spec()
    rows = gen_attr.rows_c(spec)
    changes = [(what, ROWS, lambda s=s: gen_attr.rows_c(s), ROW_TESTS) for what, s in table_deletions(spec)]
    changes += [(what, ROWS, lambda text=text: text, ROW_TESTS) for what, text in row_deletions(rows)]
    for path, tests in WRITTEN.items():
        changes += [(what, path, lambda text=text: text, tests) for what, text in written_deletions(path)]
    seed, total = int(args[2]) if len(args) > 2 else 1, len(changes)
    if len(args) > 1:
        changes = random.Random(seed).sample(changes, min(int(args[1]), total))
    with tempfile.TemporaryDirectory(prefix="weft-deletions-") as temp:
        b = Build(build, temp)
        clean, why = b.compile("clean", ROWS, rows)
        if not clean:
            print(f"attr_deletions: {ROWS} does not compile:\n{why}")
            return 2
        for t in dict.fromkeys(sum((list(c[3]) for c in changes), [])):
            if not b.passes("clean", t, clean):
                print(f"attr_deletions: {t} fails though nothing is deleted")
                return 2

        def try_one(item):
            i, (what, path, text, tests) = item
            try:
                body = text()
            except (gen_attr.t.SpecError, KeyError, IndexError, StopIteration) as e:
                return what, "the generator", str(e)
            if body == rows:
                header = gen_attr.attr_h(without_field(spec, what))
                return what, "a source that lacks it" if b.struct_is_missed(str(i), header) else None, ""
            changed, why = b.compile(str(i), path, body)
            if not changed:
                return what, "the compiler", why
            return what, next((t for t in order(what, tests) if not b.passes(str(i), t, changed)), None), ""

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            results = list(pool.map(try_one, enumerate(changes)))
    noticed = {}
    for what, by, why in results:
        noticed[by] = noticed.get(by, 0) + 1
        if by is None:
            print(f"unnoticed: {what}")
        elif by.startswith("the "):
            print(f"not tried, {by} refuses it: {what}: {why.strip().splitlines()[0] if why.strip() else ''}")
    bad = sum(n for by, n in noticed.items() if by is None or by.startswith("the "))
    print(f"attr_deletions: seed {seed}, {len(results)} of {total} deletions: "
          + ", ".join(f"{n} by {by}" for by, n in sorted(noticed.items(), key=str) if by) + f"; {bad} unnoticed or not tried")
    return 1 if bad else 0


def gen_attr_spec():
    with open(os.path.join(ROOT, "include/spec/attr.toml"), "rb") as f:
        return tomllib.load(f)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
