#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Faults planted one at a time: does the test that a patch names notice it?

run.py BUILD [NAME...]: NAME may have a *. Each tests/mutants/NAME.patch changes a line of
hw and says in front what is wrong then ("Bug:"), which test of `make test` must fail
("Killed-by: KIND/NAME"), and which simulators of the NPU that needs, if any ("Configs: w16"). The patch is applied to a copy of hw in BUILD/mutants/tree, where
everything else is the project's own, and that test runs there. A line for each patch; the last line counts.
Exit status 1 if a fault survives, or if a patch does not apply or what it makes cannot be built.
"""
import fnmatch
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))


def read(name):
    """Of a patch: the bug, the test, the configurations of the NPU that the test needs, the files that it changes."""
    text = open(os.path.join(HERE, name + ".patch")).read()
    fields = dict(re.findall(r"^([A-Z][a-z-]*): (.*)$", text.split("\n--- ", 1)[0], re.M))
    return fields["Bug"], fields["Killed-by"], fields.get("Configs", ""), re.findall(r"^\+\+\+ b/(\S+)", text, re.M)


def make_tree(build):
    """The project once more: hw and what is built are copies, the rest are links."""
    tree = os.path.join(build, "mutants", "tree")
    shutil.rmtree(tree, ignore_errors=True)
    os.makedirs(tree)
    for entry in os.listdir(ROOT):
        if entry not in ("hw", os.path.basename(build)):
            os.symlink(os.path.join(ROOT, entry), os.path.join(tree, entry))
    # Times are kept, so that only what depends on hw is built again.
    subprocess.run(["cp", "-a", os.path.join(ROOT, "hw"), tree], check=True)
    os.makedirs(os.path.join(tree, "build", "tests"))
    for entry in os.listdir(build):
        if entry in ("obj", "gen", "rtl", "flags", "commit", "firmware") or entry.startswith(("lib", "weft")):
            subprocess.run(["cp", "-a", os.path.join(build, entry), os.path.join(tree, "build")], check=True)
    return tree


def run_test(tree, test, configs):
    """(passed, failed) of the test in the tree, None if it could not be built, and what make said."""
    env = dict(os.environ, WEFT_DATA=os.environ.get("WEFT_DATA", os.path.join(ROOT, "..", "shared", "data")))
    for name in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "T"):
        env.pop(name, None)
    # Compiling costs more than the run: no optimisation.
    made = subprocess.run(["make", "test", f"T={test}", f"CONFIGS={configs}", "WAVES=", "OPT_SIM=-O0"], cwd=tree, env=env,
                          capture_output=True, text=True)
    said = made.stdout + made.stderr
    found = re.findall(r"^(\d+) passed, (\d+) failed, \d+ skipped$", said, re.M)
    return (tuple(map(int, found[-1])) if found else None), said


def one(tree, name):
    """Applies a patch, runs its test, and puts hw back. Returns 'killed', 'survived' or 'broken' and why."""
    bug, test, configs, files = read(name)
    with open(os.path.join(HERE, name + ".patch")) as patch:
        applied = subprocess.run(["patch", "-p1", "-s", "-f", "--no-backup-if-mismatch"], cwd=tree, stdin=patch, capture_output=True, text=True)
    if applied.returncode:
        result = "broken", "the patch does not apply: " + applied.stdout.strip().split("\n")[0]
    else:
        counts, said = run_test(tree, test, configs)
        with open(os.path.join(os.path.dirname(tree), name + ".log"), "w") as log:
            log.write(said)
        # Cases that failed, or the assertion of the RTL that ended the program.
        cases = re.findall(r"^ *not ok \d+ - (\w+)$", said, re.M) or re.findall(r"%Error: (\S+): Assertion failed", said)[:1]
        if counts is None:
            result = "broken", f"{test} cannot be built, see {name}.log"
        elif counts[1]:
            result = "killed", f"{test} {' '.join(cases)}".rstrip()
        else:
            result = "survived", f"{test} passes"
    for file in files:      # newer than what was made of the changed one
        shutil.copyfile(os.path.join(ROOT, file), os.path.join(tree, file))
    print(f"{result[0]:9s} {name:22s} {result[1]}: {bug}", flush=True)
    return result[0]


def main():
    build = os.path.abspath(sys.argv[1])
    wanted = sys.argv[2:] or ["*"]
    names = sorted(f.removesuffix(".patch") for f in os.listdir(HERE) if f.endswith(".patch"))
    names = [n for n in names if any(fnmatch.fnmatch(n, w) for w in wanted)]
    if not names:
        sys.exit(f"mutants: no patch is called {' '.join(wanted)}")
    tree = make_tree(build)
    results = [one(tree, n) for n in names]
    print(", ".join(f"{results.count(r)} {r}" for r in ("killed", "survived", "broken")))
    sys.exit(any(r != "killed" for r in results))


if __name__ == "__main__":
    main()
