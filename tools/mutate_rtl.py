# SPDX-License-Identifier: Apache-2.0
"""Faults of one line in SystemVerilog, for tools/mutate.py: where they can be, and the simulators with them."""
import filecmp
import glob
import hashlib
import os
import re
import shutil
import subprocess

import mutate_sites
from mutate_sites import spaces

LISTS = ("hw/files.f", "hw/chip.f", "hw/usb.f", "hw/soc.f")     # of what simulators are made
DECLARES = (r"\s*(input|output|inout|logic|wire|localparam|parameter|typedef|import|genvar|module|package|function|"
            r"endfunction|return|for|bit|int)\b")

# A fault is judged by these simulators in this order, which begins with those that are quickest to build and to run.
# Each row has the simulator's name, the files in build/rtl that make builds, the folder there into which Verilator
# writes, and the tests that run on the simulator.
SIMULATORS = [
    ("rv32", "weft-rv32.so", "rv32", ["cosim/rv32", "cosim/rv32_vectors", "cosim/rv32_decode", "cosim/rv32_random"]),
    ("usb", "weft-usb.so", "usb", ["cosim/usb"]),
    ("blocks", "weft-blocks.so", "blocks", ["cosim/blocks"]),
    ("w8", "checked/weft-rtl-w8.so", "checked/w8",
     ["cosim/moves", "cosim/stream_random", "cosim/device_bad", "cosim/float8"]),
    ("w16", "checked/weft-rtl-w16.so", "checked/w16",
     ["cosim/edges", "cosim/smoke", "cosim/device_bad", "cosim/stream_random", "cosim/int16_ops", "cosim/alu",
      "cosim/random", "cosim/pow2scaled", "cosim/float8"]),
    ("soc", "weft-soc.so weft-soc_ecc.so", "soc", ["cosim/soc"]),
    ("chip", "weft-chip-w16.so", "chip-w16",
     ["card/basics", "card/rtl_jobs", "card/admin", "card/update", "card/usb_phy"]),
]


def blank(text):
    """
    The text with comments, strings, ports, types, assertions and the places where tests disturb replaced by
    spaces: lines and columns stay.
    """
    text = re.sub(r'//[^\n]*|/\*.*?\*/|\(\*.*?\*\)(?!\s*begin)|"(?:\\.|[^"\\\n])*"', spaces, text, flags=re.S)
    text = re.sub(r"^`ifdef (?:WEFT_ASSERT|WEFT_FAULT_HOOK)\b.*?^`endif", spaces, text, flags=re.S | re.M)
    text = re.sub(r"\btypedef\s+(?:struct|enum)\b[^{]*\{.*?\}[^;]*;", spaces, text, flags=re.S)
    return re.sub(r"^module\b.*?^\);", spaces, text, flags=re.S | re.M)


def assigns(line):
    """
    The column of the `<=` that assigns in this line: the first one outside of parentheses. -1 if it has none, or
    another assignment in front.
    """
    depth = 0
    for k, c in enumerate(line):
        depth += (c in "([{") - (c in ")]}")
        if depth == 0 and line.startswith(" = ", k):
            return -1
        if depth == 0 and line.startswith(" <= ", k):
            return k + 1
    return -1


def stepped(literal):
    """The literals that are one more and one less than this one, of as many bits."""
    m = re.fullmatch(r"(\d+)'(s?)([bdh])([0-9a-f_]+)", literal)
    if not m:
        return [str(int(literal) + step) for step in (1, -1) if int(literal) + step >= 0]
    base, bits = {"b": 2, "d": 10, "h": 16}[m.group(3)], int(m.group(1))
    values = {(int(m.group(4).replace("_", ""), base) + step) % 2**bits for step in (1, -1)}
    return [f"{bits}'{m.group(2)}{m.group(3)}{value:{m.group(3) if base != 16 else 'x'}}" for value in sorted(values)]


def sites(path, kinds, swaps):
    """As mutate.sites(), of a file in SystemVerilog. What only declares, and widths, are no places for faults."""
    found = {kind: [] for kind in kinds}
    code = blank(open(path).read()).split("\n")
    for i, line in enumerate(code):
        declares = re.match(DECLARES, line)
        begin = line.find(" = ") if declares and not re.match(r"\s*(for|return)\b", line) else 0
        if begin < 0 or not line.startswith("  "):
            continue
        if re.match(r"\s*(localparam|parameter|typedef|import|assign unused|\.[A-Z]|`)", line):
            continue
        assign = assigns(line)
        for m in mutate_sites.OPERATOR.finditer(line):
            if m.start() >= begin and m.start() != assign:
                found["swap"].append((i, m.start(), m.end(), swaps[m.group(1)]))
        for m in re.finditer(r"(?<![\w.'$])(\d+'s?[bdh][0-9a-f_]+|\d+)(?![\w'.])", line):
            is_width = (re.match(r"\s*:[^;]*\]|[^()]*\)'\(", line[m.end():]) or
                        re.search(r"\[[^\]?]*[^\s?]:\s*$", line[:m.start()]))
            if m.start() >= begin and not is_width:
                found["constant"] += [(i, m.start(), m.end(), put) for put in stepped(m.group(1))]
        found["negate"] += [(i, start, end, None) for start, end in mutate_sites.conditions(line)]
        before = mutate_sites.before(code, i)
        whole = re.match(r"\s+([A-Za-z_{].* <?= .*;)\s*$", line)
        if whole and not declares and re.search(r"([;):]|\b(begin|end|else|always_comb|generate))$", before):
            found["drop"].append((i, whole.start(1), whole.end(1), ";"))
    return found


def in_simulators(path, root):
    """Is the file part of a simulator and written by hand?"""
    return "/gen/" not in path and any(path in open(os.path.join(root, f)).read().split() for f in LISTS)


class Rtl:
    """
    Simulators with a fault, in a copy of the project whose hw has it; everything else there is links. The tests
    are the build's own. Nothing is optimised, and ccache has what the fault does not change.
    """

    def __init__(self, build, out):
        self.build, self.out = build, out
        self.tree, self.base = os.path.join(out, "tree"), os.path.join(out, "base")
        self.plain, self.files = {}, {}
        os.makedirs(self.tree, exist_ok=True)
        for entry in os.listdir("."):
            if entry not in ("hw", "build", ".git") and not os.path.lexists(os.path.join(self.tree, entry)):
                os.symlink(os.path.abspath(entry), os.path.join(self.tree, entry))
        self.copy_hw()

    def copy_hw(self):
        """
        Copies those files of the project's hw into the tree that differ there: the project's file has changed, or a
        campaign was stopped and left a fault in the copy. A copied file gets the present time. With the older time
        of the project's file, make would consider the simulator with the fault up to date.
        """
        theirs = {os.path.relpath(os.path.join(d, f), self.tree) for d, _, files in os.walk(os.path.join(self.tree, "hw")) for f in files}
        ours = {os.path.join(d, f) for d, _, files in os.walk("hw") for f in files}
        for path in theirs - ours:
            os.remove(os.path.join(self.tree, path))
        for path in sorted(ours):
            copy = os.path.join(self.tree, path)
            os.makedirs(os.path.dirname(copy), exist_ok=True)
            if path not in theirs or not filecmp.cmp(path, copy, shallow=False):
                shutil.copyfile(path, copy)

    def make(self, simulator):
        """Builds the simulator of the tree. Its files, by what tests call them, or None if it does not compile."""
        _, goals, folder, _ = simulator
        made = [f"build/rtl/{goal}" for goal in goals.split()]
        env = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "T", "O")}
        done = subprocess.run(["make", "-s", "O=build", *made, "OPT_SIM=-O0", "OPT_BENCH=-O0", "OPT_CHIP=-O0"],
                              cwd=self.tree, capture_output=True, text=True, env=env)
        with open(os.path.join(self.out, "build.log"), "w") as log:
            log.write(done.stdout + done.stderr)
        return [os.path.join(self.tree, f) for f in made] if done.returncode == 0 else None

    def text_of(self, simulator):
        """A checksum of the C++ that Verilator made."""
        sha = hashlib.sha256()
        folder = os.path.join(self.tree, "build/rtl", simulator[2])
        for name in sorted(glob.glob(folder + "/*.cpp") + glob.glob(folder + "/*.h")):
            sha.update(open(name, "rb").read())
        return sha.digest()

    def keep(self, made, folder):
        """Copies of what make() built in a folder that has nothing else. The folder."""
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        for file in made:
            shutil.copy(file, folder)
        return folder

    def faultless(self, simulator):
        """The folder with the simulator that has no fault; notes the files that it is made of."""
        name, folder = simulator[0], os.path.join(self.base, simulator[0])
        if name not in self.plain:
            made = self.make(simulator)
            if not made:
                raise SystemExit(f"mutate: {name} cannot be built without a fault, see {self.out}/build.log")
            self.keep(made, folder)
            self.plain[name] = self.text_of(simulator)
            lists = glob.glob(os.path.join(self.tree, "build/rtl", simulator[2], "*__ver.d"))
            said = "".join(open(f).read() for f in lists)
            self.files[name] = set(re.findall(r"\S*?(hw/\S+\.sv)", said))
        return folder

    def with_fault(self, simulator, fault):
        """("made", folder), ("same", "") if Verilator makes the same C++, ("broken", "") if it makes none."""
        path = os.path.join(self.tree, fault.path)
        with open(path, "w") as f:
            f.write(fault.text)
        try:
            made = self.make(simulator)
            if not made:
                return "broken", ""
            if self.text_of(simulator) == self.plain[simulator[0]]:
                return "same", ""
            return "made", self.keep(made, os.path.join(self.out, "fault"))
        finally:
            shutil.copyfile(fault.path, path)

    def shadow(self):
        """The build that tests see: links to the build's, but for simulators and tests."""
        shadow = os.path.join(self.out, "build")
        os.makedirs(shadow, exist_ok=True)
        for entry in os.listdir(self.build):
            if entry.startswith(("lib", "weft", "firmware")) and not os.path.lexists(f"{shadow}/{entry}"):
                os.symlink(os.path.abspath(f"{self.build}/{entry}"), f"{shadow}/{entry}")
        return shadow

    def parts_of(self, test):
        """The files on which it depends how long the test takes without a fault."""
        return [f"{self.build}/tests/{test}", *glob.glob(self.at + "/*.so")]

    def link(self, test, made):
        """The test's program, beside the simulators in `made` (None: those at hand that have no fault). Its path."""
        program = os.path.join(self.out, "build", "tests", test)
        subprocess.run(["make", "-s", f"O={self.build}", f"{self.build}/tests/{test}"], check=True, capture_output=True)
        os.makedirs(os.path.dirname(program), exist_ok=True)
        shutil.copy(f"{self.build}/tests/{test}", program)
        for rtl in (os.path.join(self.out, "build", "rtl"), os.path.join(os.path.dirname(program), "rtl")):
            if os.path.islink(rtl):
                os.remove(rtl)
            os.symlink(os.path.abspath(made or self.at), rtl)
        return program

    def judge(self, fault, named, sound_of, kills):
        """
        (word, why) for a fault; the word is "broken" if Verilator refuses it. `named`: the tests to run, empty for
        all. `sound_of`: makes the Sound of a simulator. `kills`: mutate.kills().
        """
        ran, same = 0, 0
        for simulator in SIMULATORS:
            self.at = self.faultless(simulator)
            if fault.path not in self.files[simulator[0]]:
                continue
            tests = [t for t in simulator[3] if not named or t in named]
            word, folder = self.with_fault(simulator, fault) if tests else ("", "")
            if word == "broken":
                return "broken", ""
            same += word == "same"
            timed = {t: sound_of(simulator[0]).seconds(t, 60) for t in tests} if word == "made" else {}
            for seconds, test in sorted((s, t) for t, s in timed.items() if s):
                if kills(self, test, folder, self.shadow(), seconds):
                    return "killed", f"{test} on {simulator[0]}"
                ran += 1
        if ran:
            return "survived", f"{ran} tests run it"
        return ("same", "Verilator makes the same code") if same else ("unreached", "")
