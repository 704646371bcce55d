# SPDX-License-Identifier: Apache-2.0
"""Builds a FlatBuffer front to back.

Every object is placed after the one that refers to it, so that all offsets
point forward as the format demands; a table's vtable comes right before the
table. Fields at their default are left out, as other writers do.
"""

import struct


class Table:
    """fields: {number: (struct code, value) or a Table, Vector or Tables}."""

    def __init__(self, fields):
        self.fields = {k: v for k, v in fields.items() if v is not None}


class Vector:
    """Scalars, already little-endian, whose first element is at `align`."""

    def __init__(self, count, data, align=4, tail=b""):
        self.count, self.data, self.align, self.tail = count, data, align, tail


class Tables:
    def __init__(self, tables):
        self.tables = tables


def scalars(code, values):
    values = list(values)
    return Vector(len(values), struct.pack("<%d%s" % (len(values), code), *values),
                  max(4, struct.calcsize(code)))


def string(text):
    return Vector(len(text.encode()), text.encode(), 4, b"\0")


def scalar(code, value, default):
    return None if value == default else (code, value)


def pad_to(out, align, ahead=0):
    """Zeros until the byte `ahead` of the end would be at a multiple of align."""
    out.extend(bytes(-(len(out) + ahead) % align))


def put_table(out, table, later):
    """Largest fields first, so that each is naturally aligned. Returns where."""
    width = {k: struct.calcsize("<" + v[0]) if isinstance(v, tuple) else 4
             for k, v in table.fields.items()}
    order = sorted(width, key=lambda k: (-width[k], k))
    at, where = 4, {}
    for k in order:
        where[k] = at
        at += width[k]
    n_slots = 1 + max(table.fields, default=-1)
    slots = [where.get(k, 0) for k in range(n_slots)]
    vtable = struct.pack("<%dH" % (2 + n_slots), 4 + 2 * n_slots, at, *slots)
    pad_to(out, 4, len(vtable))
    out += vtable
    start = len(out)
    out += struct.pack("<i", len(vtable)) + bytes(at - 4)
    for k, v in table.fields.items():
        if isinstance(v, tuple):
            struct.pack_into("<" + v[0], out, start + where[k], v[1])
        else:
            later.append((start + where[k], v))
    return start


def put_object(out, obj, later):
    if isinstance(obj, Table):
        return put_table(out, obj, later)
    if isinstance(obj, Tables):
        pad_to(out, 4)
        start = len(out)
        out += struct.pack("<I", len(obj.tables)) + bytes(4 * len(obj.tables))
        later.extend((start + 4 + 4 * i, t) for i, t in enumerate(obj.tables))
        return start
    pad_to(out, obj.align, 4)
    start = len(out)
    out += struct.pack("<I", obj.count) + obj.data + obj.tail
    return start


def flatbuffer(root, identifier):
    out = bytearray(4) + identifier
    later = [(0, root)]
    while later:
        at, obj = later.pop(0)
        struct.pack_into("<I", out, at, put_object(out, obj, later) - at)
    pad_to(out, 16)
    return bytes(out)
