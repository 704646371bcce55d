# SPDX-License-Identifier: Apache-2.0
"""Writes 8-bit grayscale PNG files (ISO/IEC 15948): IHDR, one IDAT, IEND."""

import struct
import zlib


def chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def gray_png(rows):
    """rows: bytes objects of one length, one byte per pixel. Filter 0 throughout."""
    header = struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, 0, 0, 0, 0)
    body = zlib.compress(b"".join(b"\0" + row for row in rows), 9)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", body)
            + chunk(b"IEND", b""))
