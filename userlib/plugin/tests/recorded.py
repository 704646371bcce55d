# SPDX-License-Identifier: Apache-2.0
"""Networks that tools/train/record_flow.py has written: WEFT_MODELS is the folder of the project's networks."""
import gzip
import os
import struct


def recorded(name):
    """The network of that name, "FUNCTION.KIND", in litert_flow.gz."""
    data = gzip.open(os.path.join(os.environ["WEFT_MODELS"], "litert_flow.gz")).read()
    at = data.index(struct.pack("<H", len(name)) + name.encode()) + 2 + len(name)
    return data[at + 4:at + 4 + struct.unpack_from("<I", data, at)[0]]
