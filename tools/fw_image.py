#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Make what goes into the chip out of what the linker made.

    tools/fw_image.py image MAIN.bin OUT.img VERSION [--security N] --key FILE    firmware image: header, signature, code
    tools/fw_image.py sign IN.img OUT.img --key FILE                              sign an image anew, as it is
    tools/fw_image.py owner OUT.h --key FILE                                      the public key, as the boot ROM's C has it
    tools/fw_image.py hex BOOT.bin OUT.hex                                        one 32-bit word a line, for $readmemh

VERSION is major.minor.patch, N the security version. FILE is an Ed25519 key in PEM as openssl writes it; with a public
one `image` leaves the signature out. Layout: [struct.image] of include/spec/chip.toml. Signing is openssl's.
"""
import os
import re
import struct
import subprocess
import sys
import tempfile
import tomllib
import zlib

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DEVELOPMENT = os.path.join(ROOT, "firmware", "keys", "unsafe-development.pem")
SIGNED = 64                     # bytes of the header that the signature is of, and where it stands
SIGNATURE = 64
DER = bytes.fromhex("302a300506032b6570032100")     # what RFC 8410 puts before a public key


class Bad(Exception):
    """Something that the user can mend."""


def spec(name):
    with open(os.path.join(ROOT, "include", "spec", name), "rb") as f:
        return tomllib.load(f)


def version_word(table):
    return table["major"] << 16 | table["minor"]


def layout(name):
    """A constant of firmware/layout.h."""
    with open(os.path.join(ROOT, "firmware", "layout.h"), encoding="utf-8") as f:
        return int(re.search(rf"#define {name} +(0x[0-9a-f]+)", f.read())[1], 16)


def read(path):
    with open(path, "rb") as f:
        return f.read()


def padded(path):
    data = read(path)
    return data + bytes(-len(data) % 4)


# ---- keys ----

def openssl(*args):
    """Standard output, or None where openssl refused."""
    try:
        done = subprocess.run(["openssl", *args], capture_output=True, check=False)
    except FileNotFoundError as e:
        raise Bad("openssl is missing: run make deps") from e
    return done.stdout if done.returncode == 0 else None


def is_private(key):
    return openssl("pkey", "-in", key, "-noout") is not None


def public_key(key):
    """Its 32 bytes."""
    read(key)
    der = openssl("pkey", "-in", key, *([] if is_private(key) else ["-pubin"]), "-pubout", "-outform", "DER")
    if der is None or not der.startswith(DER) or len(der) != len(DER) + 32:
        raise Bad(f"{key}: not an Ed25519 key in PEM (openssl genpkey -algorithm ed25519)")
    return der[len(DER):]


def key_id(public):
    return struct.unpack("<I", public[:4])[0]


def signature(message, key):
    with tempfile.NamedTemporaryFile() as f:
        f.write(message)
        f.flush()
        made = openssl("pkeyutl", "-sign", "-rawin", "-inkey", key, "-in", f.name)
    if made is None or len(made) != SIGNATURE:
        raise Bad(f"{key}: openssl cannot sign with it")
    return made


def with_signature(header, code, key):
    return header + signature(header + code, key) + code


# ---- files ----

def image(source, target, version, security, key):
    chip, code = spec("chip.toml"), padded(source)
    const = chip["struct_const"]
    if not 0 <= security <= const["IMAGE_SECURITY"]["value"]:
        raise Bad(f"security version {security}: 0 to {const['IMAGE_SECURITY']['value']}")
    major, minor, patch = map(int, version.split("."))
    load = layout("RAM_IMAGE")
    words = [const["IMAGE_MAGIC"]["value"], const["IMAGE_VERSION"]["value"], len(code), load, load,
             major << 16 | minor << 8 | patch, version_word(chip["version"]),
             version_word(spec("msg.toml")["version"]), security, key_id(public_key(key))] + [0] * 4 + [zlib.crc32(code)]
    header = struct.pack(f"<{len(words)}I", *words)
    header += struct.pack("<I", zlib.crc32(header))
    assert len(header) == SIGNED
    if is_private(key):
        made = with_signature(header, code, key)
    else:
        print(f"fw_image.py: {target} is not signed: {key} is a public key; tools/fw_image.py sign {target} OUT.img --key FILE",
              file=sys.stderr)
        made = header + bytes(SIGNATURE) + code
    with open(target, "wb") as f:
        f.write(made)


def sign(source, target, key):
    data, const = read(source), spec("chip.toml")["struct_const"]
    header, code = data[:SIGNED], data[SIGNED + SIGNATURE:]
    if len(header) < SIGNED or struct.unpack("<2I", header[:8]) != (const["IMAGE_MAGIC"]["value"], const["IMAGE_VERSION"]["value"]):
        raise Bad(f"{source}: no firmware image of header version {const['IMAGE_VERSION']['value']}")
    wanted = struct.unpack_from("<I", header, 36)[0]
    if wanted != key_id(public_key(key)):
        raise Bad(f"{source}: made for the key 0x{wanted:08x}, and {key} is 0x{key_id(public_key(key)):08x}")
    made = with_signature(header, code, key)
    with open(target, "wb") as f:
        f.write(made)


def owner(target, key):
    public = public_key(key)
    with open(target, "w", encoding="utf-8") as f:
        f.write("/* Made by tools/fw_image.py: whose images the boot ROM starts. */\n"
                f"#define OWNER_KEY {{ {', '.join(f'0x{b:02x}' for b in public)} }}\n"
                f"#define OWNER_KEY_ID 0x{key_id(public):08x}u\n"
                f"#define OWNER_KEY_DEVELOPMENT {int(public == public_key(DEVELOPMENT))}\n")


def hex_file(source, target):
    code = padded(source)
    with open(target, "w", encoding="utf-8") as f:
        f.writelines(f"{w:08x}\n" for (w,) in struct.iter_unpack("<I", code))


def option(args, name, otherwise):
    """Take NAME VALUE out of args."""
    if name not in args:
        return otherwise
    at = args.index(name)
    value = args[at + 1] if at + 1 < len(args) else ""
    del args[at:at + 2]
    return value


def main(args):
    args = list(args)
    key, security = option(args, "--key", None), option(args, "--security", "0")
    try:
        if len(args) == 4 and args[0] == "image" and key and security.isdigit():
            image(*args[1:], int(security), key)
        elif len(args) == 3 and args[0] == "sign" and key:
            sign(*args[1:], key)
        elif len(args) == 2 and args[0] == "owner" and key:
            owner(args[1], key)
        elif len(args) == 3 and args[0] == "hex" and not key:
            hex_file(*args[1:])
        else:
            print("usage: tools/fw_image.py image MAIN.bin OUT.img VERSION [--security N] --key FILE | sign IN.img OUT.img --key FILE"
                  " | owner OUT.h --key FILE | hex BOOT.bin OUT.hex", file=sys.stderr)
            return 2
    except (Bad, OSError) as e:
        print(f"fw_image.py: {e}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
