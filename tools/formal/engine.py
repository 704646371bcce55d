# SPDX-License-Identifier: Apache-2.0
"""Runs Yosys and ABC on one theorem, as it is or with a bug planted in it."""
import os
import re
import resource
import shutil
import signal
import subprocess

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
    """Run a program with its output in a file. Returns that output and the processor time taken."""
    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))

    with open(log, "w", encoding="utf-8") as out:
        # Processor time: what is decided must not depend on what else the machine does.
        process = subprocess.Popen(argv, stdout=out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                                   cwd=log.parent, preexec_fn=limit)
        _, status, usage = os.wait4(process.pid, 0)
        status = process.returncode = os.waitstatus_to_exitcode(status)
    if status in (-signal.SIGKILL, -signal.SIGXCPU):
        raise Failed(f"{argv[0]} has no answer in {seconds} s of processor time")
    text = log.read_text(encoding="utf-8", errors="replace")
    if status != 0:
        errors = [line for line in text.splitlines() if "ERROR" in line] or [f"{argv[0]} ended with status {status}"]
        raise Failed(f"{errors[0]} (see {log})")
    return text, usage.ru_utime + usage.ru_stime


class Job:
    """A theorem, or a theorem with one of its bugs in, in a directory of its own."""

    def __init__(self, theorem, out, plant=None):
        self.theorem = theorem
        self.plant = plant
        self.dir = out / theorem.name.replace("/", "_")
        if plant is not None:
            self.dir = self.dir.with_name(f"{self.dir.name}-plant{theorem.plants.index(plant) + 1}")
        self.seconds_taken = 0.0

    def files(self):
        """The sources; of those that are changed for this job, a changed copy."""
        changes = self.theorem.smaller + ([self.plant] if self.plant else [])
        files = []
        for file in self.theorem.files:
            mine = [c for c in changes if self.theorem.root / c["file"] == file]
            if mine:
                text = file.read_text(encoding="utf-8")
                for change in mine:
                    text = text.replace(change["from"], change["to"])
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
        # What is left open is free in every cycle. Before any optimisation, which would choose.
        lines += [f"select -set rest * {t.top} %d", "setundef -undriven -anyseq @rest", "select -clear", "flatten"]
        lines += [f"connect -nomap -nounset -set {wire} {source}" for wire, source in t.connect.items()]
        lines += ["setundef -undriven -anyseq", "opt_clean", "memory_map", "opt -full", "check -assert",
                  "select -assert-min 1 t:$assert",
                  "select -assert-min 1 t:$cover", "select -assert-none t:$live t:$fair",
                  "design -save read", "chformal -cover -remove"] + finish
        lines += ["write_aiger -I -B -L -zinit -no-startoffset -map claim.aim claim.aig",
                  "design -load read", "chformal -assert -remove", "techmap -map cover.v"] + finish
        lines += ["write_aiger -I -B -L -zinit -no-startoffset cover.aig"]
        return "\n".join(lines) + "\n"

    def prepare(self):
        shutil.rmtree(self.dir, ignore_errors=True)
        self.dir.mkdir(parents=True)
        (self.dir / "cover.v").write_text(COVER_MAP, encoding="utf-8")
        (self.dir / "read.ys").write_text(self.script(), encoding="utf-8")
        self.run(["yosys", "-q", "-e", "implicitly declared", "read.ys"], "yosys")

    def run(self, argv, name):
        text, seconds = run(argv, self.dir / f"{name}.log", self.theorem.seconds)
        self.seconds_taken += seconds
        return text

    def abc(self, name, commands):
        return self.run(["yosys-abc", "-q", commands], name)

    def prove(self):
        """Show the claim, and that its covers are reached."""
        front = "read_aiger claim.aig; fold; strash; orpos; "
        steps = {
            "pdr": "dc2; scorr; dc2; scorr; pdr",
            # The first cycles, then: what holds in two cycles holds in the next.
            "induction": "bmc3 -F 3; dc2; ind -F 3 -C 0",
        }
        text = self.abc("claim", front + steps[self.theorem.method])
        if "was asserted in frame" in text:
            raise Failed(self.explain())
        if not re.search(r"^(Property proved|Networks are equivalent)", text, re.MULTILINE):
            raise Failed(f"not decided, see {self.dir}/claim.log")
        self.covers()

    def explain(self):
        """Which assertion is false when; leaves trace.vcd."""
        text = self.abc("counterexample", "read_aiger claim.aig; fold; strash; orpos; bmc3; write_cex -a found.aiw")
        frame = re.search(r"asserted in frame +(\d+)", text)
        if not frame:
            return f"false, see {self.dir}/claim.log"
        # ABC drops registers that nothing depends on; with -zinit all begin with 0.
        with open(self.dir / "claim.aig", "rb") as f:
            latches = int(f.readline().split()[3])
        inputs = (self.dir / "found.aiw").read_text(encoding="utf-8").replace("# DONE", "").split()[1:]
        (self.dir / "trace.aiw").write_text("\n".join(["1", "b0", "0" * latches, *inputs, ".", ""]), encoding="utf-8")
        read = (self.dir / "read.ys").read_text(encoding="utf-8").split("design -save read")[0]
        (self.dir / "trace.ys").write_text(
            f"{read}chformal -cover -remove\n"
            f"sim -clock clk_i -map claim.aim -r trace.aiw -vcd trace.vcd -a {self.theorem.top}\n", encoding="utf-8")
        text = self.run(["yosys", "-q", "trace.ys"], "trace")
        names = re.findall(r"Assert (\S+) .*failed", text)
        return f"false in cycle {frame[1]}: {', '.join(dict.fromkeys(names))} ({self.dir}/trace.vcd)"

    def covers(self):
        depth = self.theorem.depth
        text = self.abc("cover", f"read_aiger cover.aig; fold; strash; bmc3 -a -F {depth}")
        if not re.search(r"^All \d+ outputs are found to be SAT", text, re.MULTILINE):
            raise Failed(f"a cover is not reached in {depth} cycles, see {self.dir}/cover.log")

    def refute(self):
        """Show that with the bug in the claim is false: a counterexample, not just no proof."""
        text = self.abc("claim", f"read_aiger claim.aig; fold; strash; orpos; bmc3 -F {self.theorem.depth}")
        if "was asserted in frame" not in text:
            raise Failed(f"holds with the bug in ({self.plant['bug']}), see {self.dir}/claim.log")

    def work(self):
        """Prove the theorem, or refute it with the bug in; raises Failed."""
        self.prepare()
        if self.plant:
            self.refute()
        else:
            self.prove()
