# SPDX-License-Identifier: Apache-2.0
"""Theorems about the RTL, as hw/*/formal/*.toml states them.

hw/BLOCK/formal/NAME.toml is theorem BLOCK/NAME; docs/VERIFICATION.md explains
its fields. Everything that can be wrong with the description itself is refused
here, so that no theorem passes because a part of it was not found.
"""
import pathlib
import re
import tomllib

METHODS = ("pdr", "induction")
FIELDS = {"module", "claim", "method", "files", "config", "top", "parameters", "abstraction", "connect", "seconds", "depth",
          "prepare", "assertions", "smaller", "assumption", "plant"}


class BadTheorem(Exception):
    """A description that cannot be used; the text names file, value and limit."""


class Theorem:
    """One theorem: what is claimed of which files, and how it is shown."""

    def __init__(self, root, path):
        self.root = root
        self.path = path
        self.name = f"{path.parent.parent.name}/{path.stem}"
        with open(path, "rb") as f:
            try:
                fields = tomllib.load(f)
            except tomllib.TOMLDecodeError as error:
                raise BadTheorem(f"{path}: {error}") from error
        unknown = set(fields) - FIELDS
        if unknown:
            raise BadTheorem(f"{path}: unknown field '{sorted(unknown)[0]}'")
        for field in ("claim", "files", "plant"):
            if not fields.get(field):
                raise BadTheorem(f"{path}: field '{field}' is missing or empty")
        self.claim = fields["claim"]
        self.method = fields.get("method", "pdr")
        self.config = fields.get("config", "w8b")
        self.top = fields.get("top", fields.get("module", path.stem))
        self.parameters = fields.get("parameters", {})
        self.connect = fields.get("connect", {})
        self.prepare = fields.get("prepare", [])
        self.assertions = fields.get("assertions", True)
        self.seconds = fields.get("seconds", 200)
        self.depth = fields.get("depth", 40)
        self.assumptions = fields.get("assumption", {})
        self.plants = fields["plant"]
        self.smaller = fields.get("smaller", [])
        self.wrapper = path.with_name(fields.get("module", path.stem) + ".sv")
        packages = [f"hw/gen/{self.config}/weft_cfg_pkg.sv", "hw/gen/weft_cmd_pkg.sv"]
        self.files = [root / f for f in packages + fields["files"]] + [self.wrapper]
        self.check()

    def check(self):
        if self.method not in METHODS:
            raise BadTheorem(f"{self.path}: method '{self.method}' is none of {', '.join(METHODS)}")
        for file in self.files:
            if not file.is_file():
                raise BadTheorem(f"{self.path}: {file.relative_to(self.root)} is not there")
        self.check_assumptions()
        for change in self.smaller:
            self.check_change("smaller", change, {"file", "from", "to"})
        for change in self.plants:
            self.check_change("plant", change, {"bug", "file", "from", "to"})

    def check_change(self, kind, change, fields):
        """A change of a source replaces what is there once."""
        if set(change) != fields:
            raise BadTheorem(f"{self.path}: a {kind} has not the fields {', '.join(sorted(fields))}")
        if self.root / change["file"] not in self.files:
            raise BadTheorem(f"{self.path}: {kind}: {change['file']} is not among the theorem's files")
        found = (self.root / change["file"]).read_text(encoding="utf-8").count(change["from"])
        if found != 1:
            raise BadTheorem(f"{self.path}: {kind}: '{change['from']}' is {found} times in {change['file']}, not once")

    def check_assumptions(self):
        """The labels of the wrapper's assumptions are those that the theorem lists."""
        text = self.wrapper.read_text(encoding="utf-8")
        labels = set(re.findall(r"(\w+): +assume \(", text)) - {"reset"}
        if len(re.findall(r"\bassume\b *\(", text)) != len(re.findall(r"\w+: +assume \(", text)):
            raise BadTheorem(f"{self.wrapper}: an assumption has no label")
        if labels != set(self.assumptions):
            name = sorted(labels ^ set(self.assumptions))[0]
            raise BadTheorem(f"{self.path}: assumption '{name}' is not both listed and in {self.wrapper.name}")
        for name, assumption in self.assumptions.items():
            if set(assumption) != {"text", "file", "asserted"}:
                raise BadTheorem(f"{self.path}: assumption '{name}' has not the fields text, file, asserted")
            file = self.root / assumption["file"]
            if not file.is_file() or assumption["asserted"] not in file.read_text(encoding="utf-8"):
                raise BadTheorem(f"{self.path}: assumption '{name}': {assumption['file']} does not hold "
                                 f"'{assumption['asserted']}'")


def find(root, pattern):
    """Theorems whose name matches a pattern with '*', in order of their names."""
    wanted = re.compile("".join(".*" if c == "*" else re.escape(c) for c in pattern))
    paths = sorted(pathlib.Path(root).glob("hw/*/formal/*.toml"))
    return [Theorem(root, p) for p in paths if wanted.fullmatch(f"{p.parent.parent.name}/{p.stem}")]
