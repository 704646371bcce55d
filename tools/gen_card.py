# SPDX-License-Identifier: Apache-2.0
"""Files that follow from chip.toml and msg.toml: the chip, the link, messages, USB."""
import re

from gen_text import c_enum, c_file, c_string, first_line, md_cell, need, one_line, sv_package, sv_uint


class Chip:
    def __init__(self, raw):
        self.raw = raw
        self.regs = raw["reg"]
        taken = {}
        for name, r in self.regs.items():
            where = f"chip.toml: reg.{name}"
            unknown = set(r) - {"offset", "access", "doc", "fields", "array", "stride", "reset", "keep"}
            need(not unknown, where, f"unknown key {sorted(unknown)}")
            need(r["access"] in ("ro", "rw", "w1s", "w1c"), where, f"access {r['access']}")
            for i in range(r.get("array", 1)):
                offset = r["offset"] + i * r.get("stride", 4)
                need(offset % 4 == 0 and offset < raw["map"]["chip"]["size"], where, f"offset {offset:#x}")
                need(offset not in taken, where, f"offset {offset:#x} is {taken.get(offset)}'s")
                taken[offset] = name
            used = 0
            for f, (lsb, bits) in r.get("fields", {}).items():
                mask = ((1 << bits) - 1) << lsb
                need(lsb + bits <= 32 and not used & mask, where, f"{f} overlaps or leaves 32 bits")
                used |= mask
        for name, b in raw["buffer"].items():
            need(not any(b["offset"] <= o < b["offset"] + b["size"] for o in taken), f"chip.toml: buffer.{name}",
                 "a register lies in it")
        self.version = raw["version"]["major"] << 16 | raw["version"]["minor"]


class Msg:
    def __init__(self, raw):
        self.raw = raw
        self.msgs = raw["msg"]
        types = [m["type"] for m in self.msgs.values()]
        need(len(set(types)) == len(types), "msg.toml", "a message type appears twice")
        need(all(0 < t < 0x8000 for t in types), "msg.toml", "message types have 15 bits")
        self.version = raw["version"]["major"] << 16 | raw["version"]["minor"]
        for name, m in self.msgs.items():
            for way in ("to", "from"):
                words = 1 + sum(array_of(w[0])[1] or 0 for w in m[way])
                need(words * 4 <= raw["frame"]["msg_max"], f"msg.toml: msg.{name}", f"{way}: {words} words are too long")


def array_of(text):
    """("name", count): "name", "name[3]", or "name[]" whose count is None."""
    m = re.fullmatch(r"([a-z][a-z0-9_]*)(?:\[(\d*)\])?", text)
    need(m is not None, "msg.toml", f"not a field: {text}")
    return m[1], 1 if m[2] is None else int(m[2]) if m[2] else None


def values(prefix, table, key="value"):
    return [(f"{prefix}{n}", v[key] if v[key] < 256 else f"{v[key]:#x}", v.get("doc", v.get("text", ""))) for n, v in table.items()]


def c_words(tag, doc, words, first=()):
    """A structure of 32-bit words; an open array at the end is left out and said."""
    out = [f"/* {one_line(doc)}. */" if doc else "", f"struct {tag} {{", *first]
    tail = ""
    for text, note in words:
        name, count = array_of(text)
        if count is None:
            tail = f"\t/* then {name}[]: {note} */"
            continue
        size = f"[{count}]" if text.endswith("]") else ""
        out.append(f"\tuint32_t {name}{size};" + (f" /* {note} */" if note else ""))
    return [line for line in out if line] + ([tail] if tail else []) + ["};", ""]


# ---- C -----------------------------------------------------------------------

def chip_h(chip):
    raw, body = chip.raw, []
    body += ["/* Version of the chip around the NPU: sys_version. */",
             f"#define WEFT_CHIP_ID_VALUE {raw['version']['id']:#010x}u",
             f"#define WEFT_CHIP_VERSION_VALUE {chip.version:#010x}u", f"#define WEFT_CHIP_MAJOR {raw['version']['major']}", "",
             "/* What mcause reads. */"]
    body += [f"#define WEFT_CHIP_MCAUSE_{n} {v['value']:#x}u /* {v['doc']} */" for n, v in raw["core"]["cause"].items()]
    body += ["", "/* Address map of the core. */"]
    for n, m in raw["map"].items():
        body += [f"/* {m['doc']} */", f"#define WEFT_CHIP_{n.upper()}_BASE {m['base']:#010x}u",
                 f"#define WEFT_CHIP_{n.upper()}_SIZE {m['size']:#x}u"]
    body += ["", "/* Buffers: offsets from WEFT_CHIP_CHIP_BASE, as those of the registers. */"]
    for n, b in raw["buffer"].items():
        body += [f"/* {b['doc']} ({b['access']}) */", f"#define WEFT_CHIP_{n.upper()} {b['offset']:#05x}",
                 f"#define WEFT_CHIP_{n.upper()}_BYTES {b['size']:#x}"]
    body += [""] + [f"#define WEFT_CHIP_{n} {v['value']:#x}u /* {v['doc']} */" for n, v in raw["const"].items()] + [""]
    for n, r in chip.regs.items():
        upper = n.upper()
        body.append(f"/* {r['doc']} ({r['access']}) */")
        if "array" in r:
            body += [f"#define WEFT_CHIP_{upper}(i) ({r['offset']:#05x} + (i) * {r['stride']:#x})",
                     f"#define WEFT_CHIP_{upper}_COUNT {r['array']}"]
        else:
            body.append(f"#define WEFT_CHIP_{upper} {r['offset']:#05x}")
        if r.get("reset"):
            body.append(f"#define WEFT_CHIP_{upper}_RESET {r['reset']:#x}u")
        for f, (lsb, bits) in r.get("fields", {}).items():
            body += [f"#define WEFT_CHIP_{upper}_{f.upper()}_LSB {lsb}",
                     f"#define WEFT_CHIP_{upper}_{f.upper()}_MASK {((1 << bits) - 1) << lsb:#010x}u"]
        body.append("")
    body += ["/* Why the core started. */"] + c_enum("weft_chip_cause", values("WEFT_CHIP_CAUSE_", raw["cause"]))
    body += ["/* Flash. */"]
    body += [f"#define WEFT_FLASH_{n.upper()} {v:#x}u" for n, v in raw["flash"].items() if n != "cmd"]
    body += [f"#define WEFT_FLASH_CMD_{n} {v['value']:#04x} /* {v['doc']} */" for n, v in raw["flash"]["cmd"].items()] + [""]
    body += [f"#define WEFT_FLASH_{n} {v['value']:#x}u" + (f" /* {v['doc']} */" if v["doc"] else "")
             for n, v in raw["struct_const"].items()] + [""]
    for n, s in raw["struct"].items():
        body += c_words(f"weft_flash_{n}", s["doc"], s["words"])
    return c_file("chip.toml", "chip", body[:-1])


def msg_h(msg):
    raw, body = msg.raw, []
    frame, usb = raw["frame"], raw["usb"]
    body += ["/* Version of frames and messages. */", f"#define WEFT_MSG_VERSION_VALUE {msg.version:#010x}u",
             f"#define WEFT_MSG_MAJOR {raw['version']['major']}", "", "/* Frames. */",
             f"#define WEFT_FRAME_MAGIC {frame['magic']:#x}"]
    body += [f"#define WEFT_FRAME_{n.upper()} {frame[n]}" for n in ("header_bytes", "write_max", "msg_min", "msg_max")] + [""]
    body += c_enum("weft_frame_type", values("WEFT_FRAME_", frame["type"]))
    body += ["/* Status in an ACK. */"] + c_enum("weft_frame_status", values("WEFT_FRAME_STATUS_", frame["status"]))
    body += ["/* USB. */"]
    body += [f"#define WEFT_USB_{n.upper()} {c_string(v) if isinstance(v, str) else hex(v)}" for n, v in usb.items()
             if not isinstance(v, dict)] + [""]
    body += ["/* Vendor requests on endpoint 0. */"] + c_enum("weft_usb_request", values("WEFT_USB_REQ_", usb["request"]))
    body += ["/* Flags of GET_STATUS. */"] + c_enum("weft_usb_status", values("WEFT_USB_STATUS_", usb["status"]))
    body += ["/* Bounds. */"] + [f"#define WEFT_MSG_{n.upper()} {v['value']} /* {v['doc']} */" for n, v in raw["limit"].items()]
    body += ["", "/* Types: bits 15:0 of a message's first word; replies have WEFT_MSG_REPLY set as well. */",
             "#define WEFT_MSG_REPLY 0x8000u"]
    body += c_enum("weft_msg_type", [(f"WEFT_MSG_{n.upper()}", m["type"], "") for n, m in msg.msgs.items()])
    for title, tag, prefix, key in (
            ("Bits 31:16 of a reply's first word.", "weft_msg_error", "WEFT_MSG_ERR_", "error"),
            ("Where a job is.", "weft_msg_state", "WEFT_MSG_STATE_", "job_state"),
            ("How a job ended.", "weft_msg_result", "WEFT_MSG_RESULT_", "job_result"),
            ("Permissions of a window.", "weft_msg_perm", "WEFT_MSG_PERM_", "perm"),
            ("Self-tests.", "weft_msg_test", "WEFT_MSG_TEST_", "self_test"),
            ("Codes in the log.", "weft_log", "WEFT_LOG_", "log")):
        body += [f"/* {title} */"] + c_enum(tag, values(prefix, raw[key]))
    for n, s in raw["struct"].items():
        body += c_words(f"weft_msg_{n}", s["doc"], s["words"])
    body += ["/* Messages to the card. All words are little-endian. */"]
    for n, m in msg.msgs.items():
        body += c_words(f"weft_msg_{n}", m["doc"], m["to"], ["\tuint32_t head;"])
    body += ["/* Replies. */"]
    for n, m in msg.msgs.items():
        body += c_words(f"weft_msg_{n}_reply", "", m["from"], ["\tuint32_t head;"])
    body += ["/* Names and texts; not in the firmware. NULL where there is none. */",
             "const char *weft_msg_type_name(unsigned type);", "const char *weft_msg_error_name(unsigned code);",
             "const char *weft_msg_error_text(unsigned code);", "const char *weft_msg_result_text(unsigned result);",
             "const char *weft_frame_status_text(unsigned status);", "const char *weft_usb_request_name(unsigned request);",
             "const char *weft_chip_cause_text(unsigned cause);",
             "/** A format for printf that takes a and b, both unsigned. */", "const char *weft_log_format(unsigned code);", "",
             "/* USB descriptors, as the device answers. Strings: 1 manufacturer, 2 product, 3 serial. */"]
    names = [f"WEFT_USB_DESCRIPTOR_{name.upper()}" for name in usb_descriptors(usb)]
    body += c_enum("weft_usb_descriptor", [(n, i, "") for i, n in enumerate(names)])
    body += ["/**", " * The bytes of a descriptor.", " *", " * @param which           enum weft_usb_descriptor",
             " * @param[out] len_bytes  How many there are; 0 with NULL.", " *",
             " * @return constant memory; NULL: there is no such descriptor. Thread-safe.", " */",
             "const uint8_t *weft_usb_descriptor(unsigned which, size_t *len_bytes);"]
    return c_file("msg.toml", "msg", body)


def utf16(text):
    return text.encode("utf-16-le")


def usb_descriptors(usb):
    """The descriptors as bytes."""
    u16, u32 = (lambda v: v.to_bytes(2, "little")), (lambda v: v.to_bytes(4, "little"))
    name, guid = utf16("DeviceInterfaceGUIDs\0"), utf16(usb["interface_guid"] + "\0\0")
    # Microsoft OS 2.0 descriptor set: compatible with WinUSB, and the interface's GUID.
    winusb = u16(20) + u16(3) + b"WINUSB\0\0" + bytes(8)
    prop = u16(10 + len(name) + len(guid)) + u16(4) + u16(7) + u16(len(name)) + name + u16(len(guid)) + guid
    windows = u32(0x06030000)
    msos = u16(10) + u16(0) + windows + u16(10 + len(winusb) + len(prop)) + winusb + prop
    platform = bytes.fromhex("df60ddd88945c74c9cd2659d9e648a9f")
    cap = bytes([28, 0x10, 5, 0]) + platform + windows + u16(len(msos)) + bytes([usb["ms_vendor_code"], 0])
    device = (bytes([18, 1]) + u16(usb["usb_bcd"]) + bytes([0, 0, 0, 64]) + u16(usb["vendor_id"]) + u16(usb["product_id"])
              + u16(usb["device_bcd"]) + bytes([1, 2, 3, 1]))
    interface = bytes([9, 4, 0, 0, 2, usb["class"], usb["subclass"], usb["protocol"], 0])
    # A high-speed device also says what it would be at full speed.
    qualifier = bytes([10, 6]) + u16(usb["usb_bcd"]) + bytes([0, 0, 0, 64, 1, 0])

    def config(packet):
        endpoints = b"".join(bytes([7, 5, ep, 2]) + u16(packet) + b"\0" for ep in (usb["ep_out"], usb["ep_in"]))
        head = bytes([9, 2]) + u16(9 + len(interface) + len(endpoints)) + bytes([1, 1, 0, 0x80, usb["power_ma"] // 2])
        return head + interface + endpoints

    return {"device": device, "config": config(usb["packet_high"]), "bos": bytes([5, 0x0f]) + u16(5 + len(cap)) + b"\x01" + cap,
            "msos20": msos, "config_full": config(usb["packet_full"]), "qualifier": qualifier}


def usb_strings(usb):
    """String descriptors 0 to 2: languages (English), manufacturer, product."""
    texts = (b"\x09\x04", utf16(usb["manufacturer"]), utf16(usb["product"]))
    return {f"string{i}": bytes([2 + len(t), 3]) + t for i, t in enumerate(texts)}


def c_texts(name, entries):
    """A function from a number to a text."""
    out = [f"const char *{name}(unsigned v)", "{", "\tswitch (v) {"]
    for value, text in entries:
        out += [f"\tcase {value}:", f"\t\treturn {c_string(text)};"]
    return out + ["\t}", "\treturn NULL;", "}", ""]


def msg_c(msg, chip):
    raw = msg.raw
    pick = lambda key, what="doc": [(v["value"], v[what]) for v in raw[key].values()]  # noqa: E731
    body = ["#include <weft/gen/msg.h>", ""]
    body += c_texts("weft_msg_type_name", [(m["type"], n) for n, m in msg.msgs.items()])
    body += c_texts("weft_msg_error_name", [(v["value"], n) for n, v in raw["error"].items()])
    body += c_texts("weft_msg_error_text", pick("error"))
    body += c_texts("weft_msg_result_text", pick("job_result"))
    body += c_texts("weft_frame_status_text", [(v["value"], v["doc"]) for v in raw["frame"]["status"].values()])
    body += c_texts("weft_usb_request_name", [(v["value"], n) for n, v in raw["usb"]["request"].items()])
    body += c_texts("weft_chip_cause_text", [(v["value"], v["doc"]) for v in chip.raw["cause"].values()])
    body += c_texts("weft_log_format", [(v["value"], log_format(v["text"])) for v in raw["log"].values()])
    for name, data in usb_descriptors(raw["usb"]).items():
        body.append(f"static const uint8_t usb_{name}[{len(data)}] = {{")
        body += ["\t" + ", ".join(f"0x{b:02x}" for b in data[i:i + 12]) + "," for i in range(0, len(data), 12)] + ["};", ""]
    body += ["const uint8_t *weft_usb_descriptor(unsigned which, size_t *len_bytes)", "{",
             "\tstatic const struct { const uint8_t *data; size_t len_bytes; } all[] = {"]
    body += [f"\t\t{{ usb_{name}, sizeof(usb_{name}) }}," for name in usb_descriptors(raw["usb"])]
    body += ["\t};", "", "\tif (which >= sizeof(all) / sizeof(*all)) {", "\t\t*len_bytes = 0;", "\t\treturn NULL;", "\t}",
             "\t*len_bytes = all[which].len_bytes;", "\treturn all[which].data;", "}", ""]
    return c_file("msg.toml", "msg", body[:-1], header=False)


def log_format(text):
    """{a}, {b}: the first and second argument, in hex behind 0x."""
    for name, at in (("a", "%1$"), ("b", "%2$")):
        text = text.replace("0x{%s}" % name, f"0x{at}x").replace("{%s}" % name, f"{at}u")
    return text


# ---- SystemVerilog -----------------------------------------------------------

def sv_hex(name, value, bits=32):
    return f"localparam logic [{bits - 1}:0] {name} = {bits}'h{value:x};"


def chip_sv(chip):
    raw = chip.raw
    width = raw["map"]["chip"]["size"].bit_length() - 1
    body = [sv_hex("ID_VALUE", raw["version"]["id"]), sv_hex("VERSION_VALUE", chip.version), ""]
    body += [sv_hex(f"MCAUSE_{n}", v["value"]) + f"  // {v['doc']}" for n, v in raw["core"]["cause"].items()] + [""]
    for n, m in raw["map"].items():
        body += [f"// {m['doc']}", sv_hex(f"{n.upper()}_BASE", m["base"]), sv_hex(f"{n.upper()}_SIZE", m["size"])]
    body += ["", sv_uint("ADDR_W", width)]
    for n, b in raw["buffer"].items():
        body += [f"// {b['doc']} ({b['access']})", sv_hex(f"{n.upper()}_ADDR", b["offset"], width),
                 sv_uint(f"{n.upper()}_BYTES", b["size"])]
    body += [""] + [sv_hex(n, v["value"]) + f"  // {v['doc']}" for n, v in raw["const"].items()] + [""]
    for n, r in chip.regs.items():
        upper = n.upper()
        body += [f"// {r['doc']} ({r['access']})", sv_hex(f"{upper}_ADDR", r["offset"], width)]
        if "array" in r:
            body += [sv_uint(f"{upper}_COUNT", r["array"]), sv_uint(f"{upper}_STRIDE", r["stride"])]
        if r["access"] == "rw":
            body.append(sv_hex(f"{upper}_RESET", r.get("reset", 0)))
        for f, (lsb, bits) in r.get("fields", {}).items():
            body += [sv_uint(f"{upper}_{f.upper()}_LSB", lsb), sv_uint(f"{upper}_{f.upper()}_W", bits)]
        body.append("")
    body += [sv_hex(f"CAUSE_{n}", v["value"], 3) + f"  // {v['doc']}" for n, v in raw["cause"].items()]
    body += [""] + [sv_hex(f"FLASH_{n}", raw["flash"][n.lower()]) for n in ("BYTES", "LOCKED_BYTES")]
    body += [sv_hex(f"FLASH_CMD_{n}", v["value"], 8) + f"  // {v['doc']}" for n, v in raw["flash"]["cmd"].items()]
    return sv_package("chip.toml", "weft_chip_pkg", body)


def link_sv(msg):
    frame = msg.raw["frame"]
    body = ["// Frames of the host link.", sv_hex("MAGIC", frame["magic"], 8)]
    body += [sv_uint(n.upper(), frame[n]) for n in ("header_bytes", "write_max", "msg_min", "msg_max")] + [""]
    body += [sv_hex(f"TYPE_{n}", v["value"], 8) + f"  // {v['doc']}" for n, v in frame["type"].items()] + [""]
    body += [sv_hex(f"STATUS_{n}", v["value"]) + f"  // {v['doc']}" for n, v in frame["status"].items()]
    return sv_package("msg.toml", "weft_link_pkg", body)


def usb_sv(msg):
    """USB's numbers, and all descriptors as a ROM of bytes."""
    usb = msg.raw["usb"]
    rom, at = {**usb_descriptors(usb), **usb_strings(usb)}, 0
    body = ["// USB: endpoints, packets, requests and status flags (docs/protocol.md)."]
    body += [sv_hex(f"{n.upper()}_NUMBER", usb[n] & 15, 4) for n in ("ep_out", "ep_in")]
    body += [sv_uint(n.upper(), usb[n]) for n in ("packet_full", "packet_high")]
    body += [sv_hex(f"REQ_{n}", v["value"], 8) + f"  // {v['doc']}" for n, v in usb["request"].items()]
    body += [sv_hex("MS_VENDOR_CODE", usb["ms_vendor_code"], 8)]
    body += [sv_uint(f"STATUS_{n}_BIT", v["value"].bit_length() - 1) + f"  // {v['doc']}" for n, v in usb["status"].items()]
    body += ["", "// The descriptors, one behind the other: where each begins and its bytes. String 3, the serial, is not here."]
    for name, data in rom.items():
        body += [sv_hex(f"ROM_{name.upper()}_AT", at, 9), sv_hex(f"ROM_{name.upper()}_BYTES", len(data), 9)]
        at += len(data)
    need(at <= 512, "msg.toml: usb", f"{at} bytes of descriptors, more than 512")
    body += ["", "// The ROM's byte at an address; 0 behind its end.", "function automatic logic [7:0] rom(input logic [8:0] addr);",
             "  case (addr)"]
    body += [f"    9'd{i}: rom = 8'h{b:02x};" for i, b in enumerate(b"".join(rom.values())) if b]
    body += ["    default: rom = 8'h00;", "  endcase", "endfunction"]
    return sv_package("msg.toml", "weft_usb_pkg", body)


# ---- Markdown ----------------------------------------------------------------

def md_table(head, rows):
    return ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)] + ["| " + " | ".join(md_cell(c) for c in r) + " |" for r in rows] + [""]


def md_words(words):
    out, at = [], 0
    for text, note in words:
        name, count = array_of(text)
        out.append((f"{at}" if count == 1 else f"{at}..", f"`{text}`", note))
        at += count or 0
    return md_table(("word", "field", "meaning"), out)


def chip_md(chip):
    raw = chip.raw
    body = [f"<!-- {first_line('chip.toml')} -->", "", "# The chip around the NPU", "",
            f"Version {raw['version']['major']}.{raw['version']['minor']}. What `include/spec/chip.toml` says, for firmware and RTL.", "",
            "## Control core", "", raw["core"]["doc"], ""]
    body += md_table(("mcause", "name", "meaning"), [(f"{v['value']:#x}", f"`{n}`", v["doc"]) for n, v in raw["core"]["cause"].items()])
    body += ["## Address map", ""]
    body += md_table(("base", "bytes", "what", ""), [(f"{m['base']:#010x}", f"{m['size']:#x}", f"`{n}`", m["doc"]) for n, m in raw["map"].items()])
    body += ["## Registers", "", f"Offsets from {raw['map']['chip']['base']:#x}, 32 bits each. `ro` hardware writes, `rw` software writes, "
             "`w1s` writing 1 acts and reading gives 0, `w1c` writing 1 clears.", ""]
    rows = []
    for n, r in chip.regs.items():
        offset, shown = f"{r['offset']:#05x}", f"`{n}`"
        if "array" in r:
            offset, shown = offset + f" + i*{r['stride']:#x}", f"`{n}[i]`, i < {r['array']}"
        fields = ", ".join(f"`{f}` {lsb + bits - 1}:{lsb}" if bits > 1 else f"`{f}` {lsb}" for f, (lsb, bits) in r.get("fields", {}).items())
        doc = r["doc"] + (f". Resets to {r['reset']:#x}" if r.get("reset") else "")
        rows.append((offset, shown, r["access"], fields, doc))
    rows += [(f"{b['offset']:#05x}", f"`{n}`, {b['size']} bytes", b["access"], "", b["doc"]) for n, b in raw["buffer"].items()]
    body += md_table(("offset", "register", "access", "fields", "meaning"), rows)
    body += md_table(("value", "constant", "meaning"), [(f"{v['value']:#x}", f"`{n}`", v["doc"]) for n, v in raw["const"].items()])
    body += md_table(("cause", "name", "meaning"), [(str(v["value"]), f"`{n}`", v["doc"]) for n, v in raw["cause"].items()])
    body += ["## Flash", "", "SPI NOR. Commands that the controller's user sends:", ""]
    body += md_table(("byte", "command", "meaning"), [(f"{v['value']:#04x}", f"`{n}`", v["doc"]) for n, v in raw["flash"]["cmd"].items()])
    body += md_table(("constant", "value"), [(f"`{n}`", f"{v:#x}") for n, v in raw["flash"].items() if n != "cmd"])
    for n, s in raw["struct"].items():
        body += [f"### {n}", "", s["doc"] + ".", ""] + md_words(s["words"])
    return "\n".join(body).rstrip() + "\n"


def protocol_md(msg):
    raw = msg.raw
    frame, usb = raw["frame"], raw["usb"]
    body = [f"<!-- {first_line('msg.toml')} -->", "", "# The host link", "",
            f"Version {raw['version']['major']}.{raw['version']['minor']}.", "", "## Frames", "", frame["doc"].strip(), ""]
    body += md_table(("type", "name", "way", "meaning"), [(f"{v['value']:#04x}", f"`{n}`", v["dir"], v["doc"]) for n, v in frame["type"].items()])
    body += md_table(("status", "name", "meaning"), [(str(v["value"]), f"`{n}`", v["doc"]) for n, v in frame["status"].items()])
    body += [f"`write_max` is {frame['write_max']}, `msg_min` {frame['msg_min']}, `msg_max` {frame['msg_max']}.", "", "## USB", ""]
    body += md_table(("constant", "value"), [(f"`{n}`", v if isinstance(v, str) else f"{v:#x}") for n, v in usb.items() if not isinstance(v, dict)])
    body += ["Vendor requests on endpoint 0, recipient device, wValue and wIndex 0:", ""]
    body += md_table(("request", "name", "way", "bytes", "meaning"), [(f"{v['value']:#04x}", f"`{n}`", v["dir"], str(v["bytes"]), v["doc"]) for n, v in usb["request"].items()])
    body += md_table(("flag", "name", "meaning"), [(str(v["value"]), f"`{n}`", v["doc"]) for n, v in usb["status"].items()])
    body += ["## Messages", "", "32-bit little-endian words. Word 0 is the head: type in bits 15:0, of a reply with bit 15 set; bits 31:16 are 0 "
             "to the card and the error from it. A reply with an error may stop behind the head. The words below come behind the head.", ""]
    body += md_table(("bound", "value", "meaning"), [(f"`{n}`", str(v["value"]), v["doc"]) for n, v in raw["limit"].items()])
    for n, m in msg.msgs.items():
        body += [f"### {n} ({m['type']})", "", one_line(m["doc"]) + ".", ""]
        for way, title in (("to", "To the card:"), ("from", "Reply:")):
            body += [title, ""] + md_words(m[way]) if m[way] else [f"{title} only the head.", ""]
    for n, s in raw["struct"].items():
        body += [f"### struct {n}", "", s["doc"] + ".", ""] + md_words(s["words"])
    for title, key in (("Errors", "error"), ("States of a job", "job_state"), ("How a job ended", "job_result"), ("Permissions", "perm"), ("Self-tests", "self_test")):
        body += [f"## {title}", ""] + md_table(("value", "name", "meaning"), [(str(v["value"]), f"`{k}`", v["doc"]) for k, v in raw[key].items()])
    body += ["## Log", ""] + md_table(("code", "name", "text"), [(str(v["value"]), f"`{k}`", v["text"]) for k, v in raw["log"].items()])
    return "\n".join(body).rstrip() + "\n"


def files(load):
    chip, msg = Chip(load("chip.toml")), Msg(load("msg.toml"))
    return {
        "include/weft/gen/chip.h": chip_h(chip),
        "include/weft/gen/msg.h": msg_h(msg),
        "driver/gen/msg_tables.c": msg_c(msg, chip),
        "hw/gen/weft_chip_pkg.sv": chip_sv(chip),
        "hw/gen/weft_link_pkg.sv": link_sv(msg),
        "hw/gen/weft_usb_pkg.sv": usb_sv(msg),
        "docs/chip.md": chip_md(chip),
        "docs/protocol.md": protocol_md(msg),
    }
