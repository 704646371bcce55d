# SPDX-License-Identifier: Apache-2.0
"""Where a line of C or SystemVerilog can have a fault: what tools/mutate.py and tools/mutate_rtl.py share."""
import re

# An operator of two operands, between blanks.
OPERATOR = re.compile(r"(?<= )(<=?|>=?|==|!=|\+=?|-=?|\*|/|%|&&?|\|\|?|<<|>>|\^)(?= )")


def spaces(match):
    """Spaces in the place of the text that matched; line ends stay."""
    return re.sub(r"[^\n]", " ", match.group(0))


def conditions(line):
    """(first column, end column) of the condition of each `if` and `while` that ends in this line."""
    found = []
    for m in re.finditer(r"\b(?:if|while) \(", line):
        depth, end = 1, m.end()
        while depth and end < len(line):
            depth += {"(": 1, ")": -1}.get(line[end], 0)
            end += 1
        if not depth:
            found.append((m.end(), end - 1))
    return found


def before(lines, i):
    """The last line in front of line i that is not blank, without blanks at its end; "" if there is none."""
    return next((line.rstrip() for line in reversed(lines[:i]) if line.strip()), "")
