# SPDX-License-Identifier: Apache-2.0
"""Runs Yosys and ABC on one theorem, as it is or with a bug planted in it."""
import os
import re
import shutil
import signal
import subprocess
import time

# A cover statement becomes the assertion that it is never reached, which has to fail.
COVER_MAP = """(* techmap_celltype = "$cover" *)
module cover_is_assert (input A, input EN);
  wire never = ~A;
  \\$assert _TECHMAP_REPLACE_ (.A(never), .EN(EN));
endmodule
"""


class Failed(Exception):
    """The step did not show what it should; the text says why in one line."""


def run(argv, log, seconds):
    """Run a program with its output in a file. Returns that output."""
    with open(log, "w", encoding="utf-8") as out:
        process = subprocess.Popen(argv, stdout=out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                                   cwd=log.parent, start_new_session=True)
        try:
            status = process.wait(timeout=seconds)
        except subprocess.TimeoutExpired as error:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise Failed(f"no answer in {seconds} s") from error
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    text = log.read_text(encoding="utf-8", errors="replace")
    if status != 0:
        errors = [line for line in text.splitlines() if "ERROR" in line] or [f"{argv[0]} ended with status {status}"]
        raise Failed(f"{errors[0]} (see {log})")
    return text


class Job:
    """A theorem, or a theorem with one of its bugs in, in a directory of its own."""

    def __init__(self, theorem, out, plant=None):
        self.theorem = theorem
        self.plant = plant
        self.dir = out / theorem.name.replace("/", "_")
        if plant is not None:
            self.dir = self.dir / f"plant{theorem.plants.index(plant) + 1}"
        self.seconds_taken = 0.0

    def files(self):
        """The sources; with a plant, that of the bug is a changed copy."""
        files = []
        for file in self.theorem.files:
            if self.plant and file == self.theorem.root / self.plant["file"]:
                text = file.read_text(encoding="utf-8").replace(self.plant["from"], self.plant["to"])
                file = self.dir / file.name
                file.write_text(text, encoding="utf-8")
            files.append(str(file))
        return " ".join(files)

    def script(self):
        t = self.theorem
        finish = ["techmap", "opt -fast", "dffunmap", "abc -g AND -fast", "opt_clean"]
        lines = [f"read_verilog -sv -formal {'-DWEFT_ASSERT ' if t.assertions else ''}{self.files()}"]
        lines += [f"chparam -set {name} {value} {t.top}" for name, value in t.parameters.items()]
        lines += [f"hierarchy -check -top {t.top}", "proc"]
        lines += t.prepare
        lines += ["flatten"]
        lines += [f"connect -set {wire} {source}" for wire, source in t.connect.items()]
        lines += ["opt_clean", "memory_map", "opt -full"]
        lines += ["setundef -undriven -anyseq", "check -assert", "select -assert-min 1 t:$assert",
                  "select -assert-min 1 t:$cover", "select -assert-none t:$live t:$fair",
                  "design -save read", "chformal -cover -remove"] + finish
        lines += ["write_aiger -I -B -zinit -no-startoffset -map claim.aim claim.aig",
                  "design -load read", "chformal -assert -remove", "techmap -map cover.v"] + finish
        lines += ["write_aiger -I -B -zinit -no-startoffset cover.aig"]
        return "\n".join(lines) + "\n"

    def prepare(self):
        shutil.rmtree(self.dir, ignore_errors=True)
        self.dir.mkdir(parents=True)
        (self.dir / "cover.v").write_text(COVER_MAP, encoding="utf-8")
        (self.dir / "read.ys").write_text(self.script(), encoding="utf-8")
        run(["yosys", "-q", "read.ys"], self.dir / "yosys.log", self.theorem.seconds)

    def abc(self, name, commands):
        return run(["yosys-abc", "-q", commands], self.dir / f"{name}.log", self.theorem.seconds)

    def prove(self):
        """Show the claim, and that its covers are reached."""
        front = "read_aiger claim.aig; fold; strash; orpos; "
        if self.theorem.method == "combinational":
            text = self.abc("claim", front + "dc2; ifraig; iprove; print_stats")
            proved = "The networks are equivalent" in text or "UNSATISFIABLE" in text
        else:
            text = self.abc("claim", front + "dc2; scorr; dc2; scorr; pdr; write_cex -a claim.aiw")
            proved = "Property proved" in text
        if not proved:
            failed = re.search(r"asserted in frame (\d+)", text)
            raise Failed(f"is false in cycle {failed[1]} of {self.dir}/claim.aiw" if failed
                         else f"is not decided, see {self.dir}/claim.log")
        self.covers()

    def covers(self):
        text = self.abc("cover", f"read_aiger cover.aig; fold; strash; bmc3 -a -F {self.theorem.depth}")
        if "All " not in text:
            raise Failed(f"a cover is not reached in {self.theorem.depth} cycles, see {self.dir}/cover.log")

    def refute(self):
        """Show that with the bug in the claim is false: a counterexample, not just no proof."""
        text = self.abc("claim", f"read_aiger claim.aig; fold; strash; orpos; bmc3 -F {self.theorem.depth}")
        if "was asserted in frame" not in text:
            raise Failed(f"holds with the bug in ({self.plant['bug']}), see {self.dir}/claim.log")

    def work(self):
        """Prove the theorem, or refute it with the bug in; raises Failed."""
        begin = time.monotonic()
        try:
            self.prepare()
            if self.plant:
                self.refute()
            else:
                self.prove()
        finally:
            self.seconds_taken = time.monotonic() - begin
