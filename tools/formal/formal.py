#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Proves the theorems of hw/*/formal (docs/VERIFICATION.md).

usage: formal.py [--out DIR] [--jobs N] [--plant] [PATTERN]

PATTERN selects theorems by name, '*' stands for anything (default all). Without
--plant each theorem is proved, with --plant each is refuted once for every bug
that it lists, with that bug in. A line for each, a summary as the last line.
Exit status: 0 all passed, 1 something failed, 2 bad usage or a bad description.
"""
import argparse
import concurrent.futures
import os
import pathlib
import sys

from engine import Failed, Job
from theorem import BadTheorem, find


def arguments():
    parser = argparse.ArgumentParser(description="Prove the theorems of hw/*/formal.")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("build/formal"))
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--plant", action="store_true")
    parser.add_argument("pattern", nargs="?", default="*")
    return parser.parse_args()


def attempt(job):
    """Why the job failed, or nothing."""
    try:
        job.work()
    except Failed as error:
        return str(error)
    return None


def report(job, why):
    name = f"{job.theorem.name}, {job.plant['bug']}" if job.plant else job.theorem.name
    if why:
        print(f"  FAIL    {name}: {why}")
    else:
        print(f"  {'refuted' if job.plant else 'proved'} {name} ({job.seconds_taken:.1f} s of processor time)")
    sys.stdout.flush()


def main():
    args = arguments()
    root = pathlib.Path(__file__).resolve().parents[2]
    try:
        theorems = find(root, args.pattern)
    except BadTheorem as error:
        print(f"formal: {error}", file=sys.stderr)
        return 2
    if not theorems:
        print(f"formal: no theorem is called '{args.pattern}'", file=sys.stderr)
        return 2
    out = args.out.resolve()
    jobs = [Job(t, out, p) for t in theorems for p in (t.plants if args.plant else [None])]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(max(1, args.jobs)) as pool:
        for job, why in zip(jobs, pool.map(attempt, jobs)):
            report(job, why)
            failed += why is not None
    print(f"{len(jobs) - failed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
