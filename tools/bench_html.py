#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws what weft bench measured, as one page that needs nothing else.

usage: bench_html.py BENCH.json PAGE.html

BENCH.json is what `weft bench --save` writes. Standard library only.
docs/BENCH.md says how to read the page.
"""

import json
import math
import os
import statistics
import sys
from html import escape

# kind of operator: name, colour
KINDS = {
    "conv": ("convolution", "#3f6fd8"), "dense": ("fully connected", "#8f5fd0"),
    "depthwise": ("depthwise", "#e8872a"), "fused": ("depthwise with convolution", "#c2438c"),
    "pool": ("pooling, mean", "#2f9e62"), "other": ("other", "#8a9099"),
}
# bytes a cycle on the bus, and whether reads and writes share them (docs/BENCH.md)
PROFILES = {"sram": (16, False), "ddr": (8, True)}

STYLE = """
:root { --ink: #1d2430; --soft: #667080; --line: #d9dee6; --back: #ffffff; --band: #f4f6f9; --good: #1f8a4c;
  --bad: #c0392b; --ours: #d0342c; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e8ee; --soft: #98a2b3; --line: #38404d; --back: #14181f;
  --band: #1c222b; --good: #57c785; --bad: #ff7b6b; --ours: #ff6b5e; } }
body { margin: 2rem auto; max-width: 1140px; padding: 0 1.2rem; background: var(--back); color: var(--ink);
  font: 15px/1.45 system-ui, "Segoe UI", "DejaVu Sans", sans-serif; }
h1 { font-size: 1.6rem; margin: 0 0 .2rem; } h2 { font-size: 1.15rem; margin: 2.4rem 0 .3rem; }
h3 { font-size: .95rem; margin: 1.3rem 0 .1rem; font-weight: 600; }
p { margin: .3rem 0 .8rem; max-width: 52rem; } .soft { color: var(--soft); }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; width: 100%; font-size: .84rem; }
th { color: var(--soft); font-weight: 500; text-align: right; border-bottom: 1px solid var(--line); padding: .22rem .35rem; }
td { text-align: right; border-bottom: 1px solid var(--line); padding: .22rem .35rem; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; padding-left: 0; }
tr.other td:first-child { padding-left: 1.1rem; } tr.other { color: var(--soft); }
.good { color: var(--good); } .bad { color: var(--bad); }
.meter { display: inline-block; width: 3.4rem; height: .55rem; background: var(--band); margin-left: .5rem; border-radius: 2px; }
.meter i { display: block; height: 100%; background: #3f6fd8; border-radius: 2px; }
svg { display: block; width: 100%; height: auto; overflow: visible; }
svg text { fill: var(--ink); font: 12px system-ui, "Segoe UI", "DejaVu Sans", sans-serif; }
svg text.halo { paint-order: stroke; stroke: var(--back); stroke-width: 3px; stroke-linejoin: round; }
svg text.soft, svg .soft text { fill: var(--soft); } svg .small { font-size: 10.5px; }
svg .grid { stroke: var(--line); stroke-width: 1; } svg .axis { stroke: var(--soft); stroke-width: 1; }
svg .back { fill: var(--band); } svg .ours { fill: var(--ours); } svg .roof { stroke: var(--ink); stroke-width: 2; fill: none; }
.key { display: flex; flex-wrap: wrap; gap: .2rem 1.1rem; font-size: .85rem; color: var(--soft); margin: .4rem 0; }
.key i { display: inline-block; width: .7rem; height: .7rem; border-radius: 2px; margin-right: .35rem; }
.two { display: grid; grid-template-columns: 1fr 1fr; gap: 1.6rem; } summary { cursor: pointer; margin: 1rem 0; }
@media (max-width: 760px) { .two { grid-template-columns: 1fr; } }
"""


def number(v, digits=0):
    return "{:,.{}f}".format(v, digits).replace(",", "\u202f")


def short(v):
    """Three figures: 976, 11.5 k, 2.82 M."""
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if v >= size:
            scaled = v / size
            return "%s %s" % (number(scaled, 0 if scaled >= 100 else 1 if scaled >= 10 else 2), unit)
    return number(v)


def tick(v):
    """A round number without needless figures: 500, 2 k, 1.5 M."""
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if v >= size * 0.999:
            return "%g %s" % (round(v / size, 3), unit)
    return "%g" % v


def kind_of(op):
    name = op["op"]
    if "DEPTHWISE" in name:
        return "fused" if "+CONV" in name or name.startswith("CONV") else "depthwise"
    if "CONV" in name:
        return "conv"
    if "FULLY" in name or "MATMUL" in name:
        return "dense"
    return "pool" if "POOL" in name or "MEAN" in name else "other"


def title_of(net):
    name = net["name"]
    return name[:-len(".tflite")] if name.endswith(".tflite") else name


def label(net):
    return "%s, %s" % (title_of(net), net["memory"])


def main_profile(net, networks):
    """Is this run the network's own profile? That with figures to compare; else the first."""
    same = [n for n in networks if n["model"] == net["model"]]
    with_figures = [n for n in same if n["target"] or n["peers"]]
    return net is (with_figures or same)[0]


# ---- SVG --------------------------------------------------------------------

def svg(width, height, parts, describe):
    return '<svg viewBox="0 0 %d %d" role="img" aria-label="%s">%s</svg>' % (
        width, height, escape(describe, True), "".join(parts))


def text(x, y, content, anchor="start", classes="", more=""):
    return '<text x="%.1f" y="%.1f" text-anchor="%s" class="%s" %s>%s</text>' % (
        x, y, anchor, classes, more, escape(str(content)))


def line(x1, y1, x2, y2, classes="grid", more=""):
    return '<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" class="%s" %s/>' % (x1, y1, x2, y2, classes, more)


def rect(x, y, w, h, attributes, hint=""):
    return '<rect x="%.2f" y="%.2f" width="%.2f" height="%.2f" %s>%s</rect>' % (
        x, y, max(w, 0), max(h, 0), attributes, "<title>%s</title>" % escape(hint) if hint else "")


def dot(x, y, r, attributes, hint=""):
    return '<circle cx="%.1f" cy="%.1f" r="%.1f" %s>%s</circle>' % (
        x, y, r, attributes, "<title>%s</title>" % escape(hint) if hint else "")


def log_scale(low, high, start, end):
    a, b = math.log(low), math.log(high)
    return lambda v: start + (end - start) * (math.log(v) - a) / (b - a)


def decades(low, high):
    return [10.0 ** e for e in range(math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9) + 1)]


def nice_step(span, count):
    raw = span / count
    size = 10 ** math.floor(math.log10(raw))
    return next(s * size for s in (1, 2, 5, 10) if s * size >= raw * 0.999)


def key(items):
    return '<div class="key">%s</div>' % "".join(
        '<span><i style="background:%s"></i>%s</span>' % (colour, escape(name)) for name, colour in items)


class Labels:
    """Puts texts beside points so that none covers another or leaves the frame."""

    def __init__(self, left, top, right, bottom):
        self.frame, self.taken, self.parts = (left, top, right, bottom), [], []

    def block(self, x, y, r):
        self.taken.append((x - r, y - r, x + r, y + r))

    def free(self, box):
        left, top, right, bottom = self.frame
        return (box[0] >= left and box[1] >= top and box[2] <= right and box[3] <= bottom
                and not any(box[0] < b[2] and b[0] < box[2] and box[1] < b[3] and b[1] < box[3] for b in self.taken))

    def put(self, x, y, content):
        width = 6.0 * len(content)
        for dy in (4, -9, 17, -22, 30, -35, 43, 56, 69, 82, 95, 108):
            for dx, anchor in ((9, "start"), (-9, "end")):
                left = x + dx - (width if anchor == "end" else 0)
                box = (left, y + dy - 10, left + width, y + dy + 3)
                if self.free(box):
                    self.taken.append(box)
                    if abs(dy) > 12:
                        self.parts.append(line(x, y, x + dx * 0.8, y + dy - 4, "axis", 'stroke-opacity=".6"'))
                    self.parts.append(text(x + dx, y + dy, content, anchor, "small halo"))
                    return


# ---- parts of the page ------------------------------------------------------

def table_row(net, other):
    best = net["peers"].get(net["best_peer"]) if net["best_peer"] else None
    target, cells = net["target"], []
    use = 100 * net["utilization"]
    cells.append(escape(title_of(net)))
    cells.append(net["memory"])
    cells += [short(net["macs"]), number(net["bound"]), "<b>%s</b>" % number(net["cycles"])]
    cells.append('%.1f %%<span class="meter"><i style="width:%.1f%%"></i></span>' % (use, min(use, 100)))
    if target:
        met = net["cycles"] <= target
        cells.append('%s <span class="%s">%s %.0f %%</span>' % (
            number(target), "good" if met else "bad", "\u2713" if met else "\u2717", 100 * net["cycles"] / target))
    else:
        cells.append("")
    cells.append("%s <span class=soft>%s</span>" % (number(best), escape(net["best_peer"])) if best else "")
    cells.append("%.1f \u00d7 faster" % (best / net["cycles"]) if best else "")
    cells.append("%.2f" % (net["sim_cycles_per_second"] / 1e6))
    return '<tr%s><td>%s</td></tr>' % (' class="other"' if other else "", "</td><td>".join(cells))


def summary_table(networks):
    head = ("network", "memory", "MACs", "bound", "cycles", "utilisation", "target", "best peer", "ours is",
            "M cycles/s")
    rows = [table_row(n, False) for n in networks if main_profile(n, networks)]
    rows += [table_row(n, True) for n in networks if not main_profile(n, networks)]
    return "<table><thead><tr><th>%s</th></tr></thead><tbody>%s</tbody></table>" % ("</th><th>".join(head), "".join(rows))


def peers_chart(networks):
    """A line per network: cycles as a multiple of the bound, ours, target and peers."""
    rows = [n for n in networks if n["peers"] or n["target"]]
    if not rows:
        return ""
    left, right, step, top = 190, 1040, 30, 26
    worst = max(max([n["cycles"], n["target"] or 0] + list(n["peers"].values())) / max(n["bound"], 1) for n in rows)
    x = log_scale(0.95, worst * 1.1, left, right)
    height = top + step * len(rows) + 24
    shades = dict(zip(sorted({p for n in rows for p in n["peers"]}), ("#7d8896", "#3f6fd8", "#2f9e62", "#e8872a", "#8f5fd0")))
    parts = []
    for tick in (1, 1.5, 2, 3, 5, 10, 20, 50, 100):
        if tick <= worst * 1.1:
            parts += [line(x(tick), top - 8, x(tick), height - 24), text(x(tick), top - 12, "%g" % tick, "middle", "soft small")]
    for i, net in enumerate(rows):
        y, bound = top + step * i + step / 2, max(net["bound"], 1)
        parts += [text(left - 12, y + 4, label(net), "end"), line(left, y, right, y)]
        for peer, cycles in net["peers"].items():
            parts.append(dot(x(cycles / bound), y, 5, 'fill="var(--back)" stroke="%s" stroke-width="2"' % shades[peer],
                             "%s: %s cycles" % (peer, number(cycles))))
        if net["target"]:
            t = x(net["target"] / bound)
            parts.append(line(t, y - 9, t, y + 9, "axis", 'style="stroke-width:3"'))
        parts.append(dot(x(net["cycles"] / bound), y, 6, 'class="ours"', "measured: %s cycles" % number(net["cycles"])))
    parts.append(text(right, height - 6, "cycles, as a multiple of MACs / (MACs a cycle); 1 is the bound", "end", "soft small"))
    names = [("measured", "var(--ours)"), ("target (upright)", "var(--soft)")] + list(shades.items())
    return key(names) + svg(1060, height, parts, "cycles of ours and of peers as multiples of the bound")


def op_hint(op):
    return "%d %s\n%s\n%s cycles, estimate %s, %s MACs, %.1f %%\n%s bytes read, %s written" % (
        op["index"], op["op"], op["name"][:90], number(op["cycles"]), number(op["estimate"]), number(op["macs"]),
        100 * op["utilization"], number(op["dram_read_bytes"]), number(op["dram_write_bytes"]))


def lost(op, peak):
    return op["cycles"] - op["macs"] / peak


def layers_chart(net):
    """A bar per operator: width cycles, height utilisation, so that its area is its MACs."""
    left, right, top, bottom, most = 46, 1050, 14, 124, 1.25
    ops = [op for op in net["ops"] if op["cycles"] > 0]
    total = max(net["cycles"], sum(op["cycles"] for op in ops), 1)
    x = lambda c: left + (right - left) * c / total
    y = lambda u: bottom - (bottom - top) * min(u, most) / most
    parts = [rect(left, y(1), right - left, bottom - y(1), 'class="back"')]
    for u in (0.5, 1.0):
        parts += [line(left, y(u), right, y(u)), text(left - 6, y(u) + 4, "%.0f %%" % (100 * u), "end", "soft small")]
    at = 0
    for op in ops:
        width = x(at + op["cycles"]) - x(at)
        colour = KINDS[kind_of(op)][1]
        parts.append(rect(x(at), top, width, bottom - top, 'fill="transparent"', op_hint(op)))
        parts.append(rect(x(at), y(op["utilization"]), max(width - 0.7, 0.5), bottom - y(op["utilization"]),
                          'fill="%s"' % colour, op_hint(op)))
        parts.append(line(x(at), bottom, x(at), bottom + 4, "axis"))
        if width > 7 * len(str(op["index"])):
            parts.append(text(x(at) + width / 2, bottom + 12, op["index"], "middle", "soft small"))
        at += op["cycles"]
    parts += [line(left, bottom, right, bottom, "axis"), line(x(at), bottom, x(at), bottom + 4, "axis")]
    step = nice_step(total, 10)
    for i in range(int(total / step) + 1):
        parts.append(text(x(i * step), bottom + 27, tick(i * step), "middle", "soft small"))
    return svg(1060, bottom + 32, parts, "utilisation of each operator of " + label(net))


def layers(net):
    peak = net["macs_per_cycle"]
    worst = sorted((op for op in net["ops"] if op["cycles"]), key=lambda op: -lost(op, peak))[:3]
    over = max(net["cycles"] - net["bound"], 1)
    what = "; ".join("%d %s %s (%.0f %%)" % (op["index"], op["op"], number(lost(op, peak)), 100 * lost(op, peak) / over)
                     for op in worst)
    return ('<h3>%s: %s cycles, %.1f %%</h3><div class="soft" style="font-size:.85rem">Above the bound: %s cycles, '
            'most in %s</div>%s' % (escape(label(net)), number(net["cycles"]), 100 * net["utilization"], number(over),
                                   escape(what), layers_chart(net)))


def traffic(item, memory):
    """Bytes that compete for one bus."""
    read, written = item["dram_read_bytes"], item["dram_write_bytes"]
    return read + written if PROFILES[memory][1] else max(read, written)


def roofline(networks, memory):
    nets = [n for n in networks if n["memory"] == memory and n["cycles"] and n["macs"] and traffic(n, memory)]
    if not nets or memory not in PROFILES:
        return ""
    left, right, top, bottom = 44, 510, 12, 372
    peak, rate = nets[0]["macs_per_cycle"], PROFILES[memory][0]
    ops = [(n, op) for n in nets for op in n["ops"] if op["cycles"] and op["macs"]]
    placed = [(n, op) for n, op in ops if traffic(op, memory)]
    low_x, high_x, low_y, high_y = 0.4, 2000.0, 4.0, 512.0
    x, y = log_scale(low_x, high_x, left, right), log_scale(low_y, high_y, bottom, top)
    inside = lambda v, a, b: min(max(v, a), b)
    parts = []
    for v in decades(low_x, high_x):
        parts += [line(x(v), top, x(v), bottom), text(x(v), bottom + 15, "%g" % v, "middle", "soft small")]
    for v in (4, 16, 64, 256):
        parts += [line(left, y(v), right, y(v)), text(left - 6, y(v) + 4, v, "end", "soft small")]
    for net, op in placed:
        parts.append(dot(x(inside(op["macs"] / traffic(op, memory), low_x, high_x)),
                         y(inside(op["macs"] / op["cycles"], low_y, high_y)), 2.4,
                         'fill="%s" fill-opacity=".35"' % KINDS[kind_of(op)][1], title_of(net) + "\n" + op_hint(op)))
    knee, depthwise = peak / rate, 9 * math.sqrt(peak)
    parts.append(line(x(depthwise / rate), y(depthwise), right, y(depthwise), "axis", 'stroke-dasharray="5 4"'))
    parts.append(text(right, y(depthwise) + 13, "depthwise %g" % depthwise, "end", "soft small halo"))
    parts.append('<path class="roof" d="M%.1f %.1f L%.1f %.1f L%.1f %.1f"/>' % (
        x(low_x), y(inside(low_x * rate, low_y, high_y)), x(knee), y(peak), right, y(peak)))
    names = Labels(left, top, right, bottom)
    points = [(x(inside(n["macs"] / traffic(n, memory), low_x, high_x)), y(inside(n["macs"] / n["cycles"], low_y, high_y)), n)
              for n in nets]
    for px, py, _ in points:
        names.block(px, py, 6)
    for i in range(60):                         # the roof, as a row of squares
        intensity = low_x * (high_x / low_x) ** (i / 59)
        names.block(x(intensity), y(inside(intensity * rate, low_y, peak)), 4)
    for px, py, net in sorted(points, key=lambda p: p[0]):
        parts.append(dot(px, py, 5.5, 'class="ours" stroke="var(--back)"', label(net)))
        names.put(px, py, title_of(net))
    parts += names.parts
    parts.append(text(right, bottom + 30, "MACs per byte of memory traffic", "end", "soft small"))
    parts.append(text(left, top - 3, "MACs a cycle", "start", "soft small"))
    caption = "%s: %d bytes a cycle%s." % (memory, rate, ", reads and writes together" if PROFILES[memory][1] else " each way")
    if len(ops) > len(placed):
        caption += " %d operators move no data of their own and are not shown." % (len(ops) - len(placed))
    return "<div>%s<p class=soft style='font-size:.85rem'>%s</p></div>" % (
        svg(520, bottom + 36, parts, "roofline, " + memory), caption)


def estimates_chart(networks):
    points = [(n, op) for n in networks for op in n["ops"] if op["cycles"] and op["estimate"]]
    if not points:
        return ""
    left, right, top, bottom = 56, 500, 12, 412
    values = [v for _, op in points for v in (op["cycles"], op["estimate"])]
    low, high = 0.7 * min(values), 1.5 * max(values)
    x, y = log_scale(low, high, left, right), log_scale(low, high, bottom, top)
    band = '<path d="M%.1f %.1f L%.1f %.1f L%.1f %.1f L%.1f %.1f L%.1f %.1f L%.1f %.1f Z" class="back"/>' % (
        x(low), y(low), x(low * 1.25), y(low), x(high), y(high / 1.25), x(high), y(high),
        x(high / 1.25), y(high), x(low), y(low * 1.25))
    parts = [band]
    for v in decades(low, high):
        parts += [line(x(v), top, x(v), bottom), text(x(v), bottom + 15, tick(v), "middle", "soft small"),
                  line(left, y(v), right, y(v)), text(left - 6, y(v) + 4, tick(v), "end", "soft small")]
    parts.append(line(x(low), y(low), x(high), y(high), "axis"))
    for net, op in points:
        parts.append(dot(x(op["estimate"]), y(op["cycles"]), 3, 'fill="%s" fill-opacity=".55"' % KINDS[kind_of(op)][1],
                         label(net) + "\n" + op_hint(op)))
    parts += [text(right, bottom + 30, "estimate, cycles", "end", "soft small"),
              text(left, top - 3, "measured, cycles", "start", "soft small")]
    return svg(520, bottom + 36, parts, "estimated and measured cycles of every operator")


def estimates_table(networks):
    rows = []
    for net in networks:
        ratios = [op["cycles"] / op["estimate"] for op in net["ops"] if op["cycles"] and op["estimate"]]
        if not ratios or not net["estimate"]:
            continue
        near = sum(0.8 <= r <= 1.25 for r in ratios)
        rows.append("<tr><td>%s</td><td>%s</td><td>%s</td><td>%.2f</td><td>%d of %d</td></tr>" % (
            escape(label(net)), number(net["estimate"]), number(net["cycles"]), net["cycles"] / net["estimate"], near, len(ratios)))
    return ("<table><thead><tr><th>network</th><th>estimate</th><th>measured</th><th>ratio</th><th>within 25 %%</th></tr></thead>"
            "<tbody>%s</tbody></table>" % "".join(rows))


def estimates(networks):
    ratios = [op["cycles"] / op["estimate"] for n in networks for op in n["ops"] if op["cycles"] and op["estimate"]]
    if not ratios:
        return ""
    said = "Of %d operators %.0f %% are within 25 %% (the band); the median measured is %.2f of the estimate." % (
        len(ratios), 100 * sum(0.8 <= r <= 1.25 for r in ratios) / len(ratios), statistics.median(ratios))
    return "<h2>Estimate and measurement</h2><p class=soft>%s</p><div class=two><div>%s</div><div>%s</div></div>" % (
        said, estimates_chart(networks), estimates_table(networks))


def micro_table(micro):
    if not micro:
        return ""
    rows = "".join("<tr><td>%s</td><td>%s</td><td>%s</td><td>%.1f</td></tr>" % (
        escape(m["name"]), number(m["macs"]), number(m["cycles"]), m["macs"] / m["cycles"]) for m in micro)
    return ("<h2>Single operators, operands on chip</h2><table style='max-width:34rem'><thead><tr><th>operator</th><th>MACs</th>"
            "<th>cycles</th><th>MACs a cycle</th></tr></thead><tbody>%s</tbody></table>" % rows)


def page(bench):
    networks = [n for n in bench["networks"] if "error" not in n]
    failed = [n for n in bench["networks"] if "error" in n]
    own = [n for n in networks if main_profile(n, networks)]
    rest = [n for n in networks if not main_profile(n, networks)]
    used = {kind_of(op) for n in networks for op in n["ops"] if op["cycles"]}
    kinds = key(KINDS[k] for k in KINDS if k in used)
    measured = "Cycles of the RTL at batch 1, from the first doorbell to the last write: weights and inputs in memory, " \
        "scratchpad cold, host operators excluded. The bound is MACs over MACs a cycle. Peers are Arm's Vela estimates " \
        "with ideal memory; the best of those with as many MACs a cycle counts. " \
        "M cycles/s: simulated per processor second."
    body = ["<h1>Weft: measured cycles</h1><p class=soft>%s</p>" % escape(bench["note"])]
    body += ['<p class="bad">Not measured: %s</p>' % escape(n["error"]) for n in failed]
    body += ["<h2>Ours, targets, peers</h2><p class=soft>%s</p>" % measured, summary_table(networks), peers_chart(networks)]
    body.append("<h2>Where the cycles go</h2><p class=soft>A bar is an operator: its width is its cycles, its height its "
                "utilisation, so its area is its MACs and what is empty above it is lost. Numbers below are operators "
                "of the model file. More than 100 % means that its work began while its predecessor still ran.</p>" + kinds)
    body += [layers(n) for n in own]
    if rest:
        body.append("<details><summary>The other memory profile</summary>%s</details>" % "".join(layers(n) for n in rest))
    body.append("<h2>Memory or arithmetic: rooflines</h2><p class=soft>Large dots are networks, small ones operators. "
                "The line is what bus and array allow, the broken one what the depthwise engine does. Operators above it "
                "overlap their predecessors.</p>" + kinds + "<div class=two>%s%s</div>" % (
                    roofline(networks, "sram"), roofline(networks, "ddr")))
    body += [estimates(networks), micro_table(bench["micro"])]
    return ('<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Weft: measured cycles</title>'
            '<meta name="viewport" content="width=device-width"><style>%s</style></head><body>%s</body></html>\n' % (
                STYLE, "\n".join(body)))


def without_folded(bench):
    """The same with the multiplications alone that are done: those of folded channels are none of the device's."""
    for net in bench["networks"]:
        for entry in [net] + net.get("ops", []):
            entry["macs"] = entry.get("macs", 0) - entry.get("folded_macs", 0)
    return bench


def main(arguments):
    if len(arguments) != 2:
        sys.exit("usage: bench_html.py BENCH.json PAGE.html")
    try:
        with open(arguments[0], encoding="utf-8") as f:
            text_of_page = page(without_folded(json.load(f)))
    except (OSError, ValueError, KeyError) as e:
        sys.exit("bench_html.py: %s: %s" % (arguments[0], e if not isinstance(e, KeyError) else "no field %s" % e))
    with open(arguments[1] + ".part", "w", encoding="utf-8") as f:
        f.write(text_of_page)
    os.replace(arguments[1] + ".part", arguments[1])


if __name__ == "__main__":
    main(sys.argv[1:])
