# SPDX-License-Identifier: Apache-2.0
"""The Python package against the command, golden, and numpy.

WEFT_MODELS is tests/models of the tree, WEFT_COMMAND the command `weft`.
"""
import asyncio
import os
import pathlib
import shutil
import subprocess
import sys
import time

import numpy as np
import pytest
import weft

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../plugin/tests"))
from recorded import recorded

MODELS = pathlib.Path(os.environ["WEFT_MODELS"])
COMMAND = os.environ["WEFT_COMMAND"]
DIGITS = MODELS / "digits_int8.tflite"
IMAGES = np.load(MODELS / "digits_test_x.npy")
LABELS = np.load(MODELS / "digits_test_y.npy")


def images(network, n):
    """The first n held-out pictures, which are stored as codes of the int8 network's input."""
    return IMAGES[:n].reshape((n,) + network.inputs[0].shape)


def pixels(i):
    """Held-out picture i as the float network takes it: 0..1."""
    return (IMAGES[i].astype(np.float32) + 128) / np.float32(255)


@pytest.mark.parametrize("device", ["golden", "model", "rtl"])
def test_devices_agree_with_the_labels(device):
    with weft.Session(DIGITS, device=device, check=device != "golden") as s:
        x = images(s.network, 20)
        right = sum(int(np.argmax(s.run(x[i])) == LABELS[i]) for i in range(20))
        assert right == 20
        if device == "rtl":
            assert s.report.cycles > 1000 and s.report.mismatches == 0 and s.report.elements > 1000


def test_same_bits_as_the_command(tmp_path):
    with weft.Session(DIGITS, device="model") as s:
        x = images(s.network, 1)[0]
        y = s.run(x)
    np.save(tmp_path / "x.npy", x)
    subprocess.run([COMMAND, "run", str(DIGITS), "-i", str(tmp_path / "x.npy"), "-o", str(tmp_path / "out")], check=True,
                   capture_output=True)
    stored = np.load(next((tmp_path / "out").glob("0_*.npy")))
    assert stored.dtype == y.dtype and np.array_equal(stored, y)


def test_compiled_bytes_are_those_of_the_command(tmp_path):
    out = tmp_path / "net.weft"
    subprocess.run([COMMAND, "compile", str(DIGITS), "-o", str(out)], check=True, capture_output=True)
    program = weft.compile(DIGITS)
    assert program == out.read_bytes()
    with weft.Session(program, device="model") as s, weft.Session(DIGITS.read_bytes(), device="golden") as g:
        x = images(s.network, 1)[0]
        assert np.array_equal(s.run(x), g.run(x))


def test_inputs_by_name_and_by_dlpack():
    class Lender:
        """An array of another library, as far as it is seen from here."""

        def __init__(self, a):
            self.a = a

        def __dlpack__(self, **how):
            return self.a.__dlpack__(**how)

        def __dlpack_device__(self):
            return self.a.__dlpack_device__()

    with weft.Session(DIGITS, device="golden") as s:
        x = images(s.network, 1)[0].copy()
        name = s.network.inputs[0].name
        y = s.run(x)
        assert np.array_equal(s.run({name: x}), y)
        assert np.array_equal(s.run(Lender(x)), y)
        assert np.array_equal(np.from_dlpack(y), y)
        with pytest.raises(ValueError, match="no input is called"):
            s.run(**{"nothing": x})


def test_runs_from_an_event_loop_and_from_threads():
    async def all_of(s, x):
        return await asyncio.gather(*(s.run_async(x[i]) for i in range(8)))

    with weft.Session(DIGITS, device="model") as s:
        x = images(s.network, 8)
        together = asyncio.run(all_of(s, x))
        assert all(np.array_equal(s.run(x[i]), together[i]) for i in range(8))


def test_errors_are_exceptions_with_one_line(tmp_path):
    bad = tmp_path / "bad.tflite"
    bad.write_bytes(b"nothing of the kind")
    with pytest.raises(weft.BadInput, match="bad.tflite: ") as e:
        weft.Session(bad)
    assert "\n" not in str(e.value) and e.value.errno > 0
    with pytest.raises(weft.BadInput):
        weft.Session(tmp_path / "absent.tflite")
    with pytest.raises(ValueError, match="device is"):
        weft.Session(DIGITS, device="gpu")
    with weft.Session(DIGITS, device="golden") as s:
        with pytest.raises(weft.BadInput, match="shape"):
            s.run(np.zeros((2, 2), np.int8))
        with pytest.raises(weft.BadInput, match="convert it first"):
            s.run(np.zeros(s.network.inputs[0].shape, np.uint8))
    with pytest.raises(weft.WeftError, match="closed"):
        s.run(np.zeros(s.network.inputs[0].shape, np.int8))


def open_and_run(source=DIGITS, x=None, **options):
    with weft.Session(source, **options) as s:
        s.run(np.zeros(s.network.inputs[0].shape, np.int8) if x is None else x)


@pytest.mark.parametrize("options, kind, line", [
    ({"device": "moon"}, ValueError, "device is .*, not 'moon'"),
    ({"device": "usb:"}, ValueError, "device is .*, not 'usb:'"),
    ({"device": 7}, ValueError, "device is .*, not 7"),
    ({"check": "maybe"}, ValueError, "check is True or False, not 'maybe'"),
    ({"requant": "near"}, ValueError, "requant is .*, not 'near'"),
    ({"memory": "hbm"}, ValueError, "memory is .*, not 'hbm'"),
    ({"colour": "red"}, TypeError, "unexpected keyword argument 'colour'"),
    ({"config": "w99"}, weft.BadInput, r'configuration "w99" is not known; w4, w8, w8b, w16 or w32'),
    ({"device": "usb:NONE"}, weft.DeviceLost, 'usb: no card with serial "NONE" is plugged in'),
    ({"device": "usb:@/no/such/socket"}, weft.DeviceLost, "no simulated card answers at /no/such/socket"),
    ({"device": "rtl", "rtl_dir": "/no/such/folder"}, weft.BadInput, r"weft-rtl-w16.so cannot be loaded \(not found\)"),
    ({"source": "none.tflite"}, weft.BadInput, "^none.tflite: No such file or directory$"),
    ({"x": {"nothing": np.zeros(1, np.int8)}}, ValueError, "no input is called 'nothing'; there are 'image'"),
    ({"profile": "/no/folder/trace", "device": "model"}, weft.BadInput, "/no/folder/trace: No such file or directory"),
])
def test_bad_arguments(options, kind, line):
    with pytest.raises(kind, match=line) as e:
        open_and_run(**options)
    assert "\n" not in str(e.value)


def import_alone(folder):
    """What importing the package from a folder in front of all others says, in its last line."""
    p = subprocess.run([sys.executable, "-c", "import weft; print(weft.__version__)"], capture_output=True, text=True,
                       env=dict(os.environ, PYTHONPATH=str(folder)), cwd=folder)
    return (p.stdout + p.stderr).splitlines()[-1]


def test_library_of_another_version(tmp_path):
    """Installed as version 7.0 or 0.99, the package does not take the library; as 0.0 it does."""
    for version in "7.0.0", "0.99.0", "0.0.1":
        info = tmp_path / version / ("weft-%s.dist-info" % version)
        info.mkdir(parents=True)
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: weft\nVersion: %s\n" % version)
        line = import_alone(tmp_path / version)
        if version == "0.0.1":
            assert line == weft.__version__
        else:
            assert line.startswith("ImportError: ") and line.endswith("is of version %s, the Python package of version %s" % (weft.__version__, version))


def test_no_library(tmp_path):
    """A file that is no library, and a library that is not libweft."""
    import _cffi_backend

    shutil.copytree(pathlib.Path(weft.__file__).parent, tmp_path / "weft", ignore=shutil.ignore_patterns("lib"))
    (tmp_path / "weft" / "lib").mkdir()
    fake = tmp_path / "weft" / "lib" / "libweft.so"
    for words in "file too short", "weft_version":
        fake.write_bytes(b"" if "short" in words else pathlib.Path(_cffi_backend.__file__).read_bytes())
        line = import_alone(tmp_path)
        assert line.startswith("ImportError: %s is not there, or no libweft: " % fake) and words in line


def test_a_planted_fault_is_found_and_named():
    with weft.Session(DIGITS, device="rtl", check=True, plant="pe:0,0,9") as s:
        with pytest.raises(weft.Mismatch) as e:
            s.run(images(s.network, 1)[0])
        assert e.value.report.mismatches > 0 and e.value.report.first.tensor and s.report is e.value.report
    with pytest.raises(ValueError, match="plant is"):
        weft.Session(DIGITS, device="rtl", plant="pe:0")


def test_report_and_tensors():
    with weft.Session(DIGITS, device="rtl", check=True, keep=True) as s:
        s.run(images(s.network, 1)[0])
        table = s.report.to_pandas()
        assert len(table) == len(s.report.ops) and set(table["unit"]) <= {"npu", "host"}
        assert sum(o.cycles for o in s.report.ops) == s.report.cycles
        kept = s.tensors()
        assert s.network.outputs[0].name in kept
        assert any(o.unit == "npu" and o.macs > 0 for o in s.plan().ops)


def test_quantise_with_an_iterator():
    samples = (pixels(i)[None] for i in range(60))
    data = weft.quantize(MODELS / "digits_float.onnx", samples)
    right = 0
    with weft.Session(data, device="model") as s:
        shape = s.network.inputs[0].shape
        for i in range(60, 90):
            right += int(np.argmax(s.run(pixels(i).reshape(shape))) == LABELS[i])
    assert right >= 29
    with pytest.raises(ValueError, match="type is one of"):
        weft.quantize(MODELS / "digits_float.onnx", [], type="int3")
    with pytest.raises(weft.WeftError, match="no samples"):
        weft.quantize(MODELS / "digits_float.onnx", [])


def test_device_from_python():
    end = [0x0201, 0]      # the command END: opcode 1, two words
    with weft.Device("rtl") as d:
        b = d.buffer(4096)
        b.write(b"weft", 100)
        assert b.read(6, 99) == b"\0weft\0"
        d.poke(64, bytes(range(16)))
        r = d.run(end, [(b, "r"), (b, "rw")])
        assert r.status == 0 and r.cycles > 0 and r.counters["cmds"] == 0      # END is not counted
        assert d.peek(64, 16) == bytes(range(16))
        with pytest.raises(weft.BadInput, match="cmd 0"):
            d.run([0x02ff, 0])


def test_devices_is_a_list():
    try:
        assert isinstance(weft.devices(), list)
    except weft.WeftError as e:       # a machine without USB says so
        assert str(e)


def test_several_cards(tmp_path):
    """Runs that are awaited together are divided among cards, also when one of them goes."""
    names, processes = [], []
    for i in range(3):
        path = tmp_path / ("card%d.sock" % i)
        processes.append(subprocess.Popen([COMMAND + "-card", "--listen", str(path), "--serial", "PY%d" % i]))
        while not path.exists():
            assert processes[-1].poll() is None, "weft-card has ended"
            time.sleep(0.02)
        names.append("@%s" % path)
    try:
        with weft.Session(DIGITS, device="usb:" + ",".join(names)) as s:
            x = images(s.network, 30)

            async def all_of_them():
                return await asyncio.gather(*(s.run_async(x[i]) for i in range(30)))

            assert [int(np.argmax(y)) for y in asyncio.run(all_of_them())] == list(LABELS[:30])
            assert [c.name for c in s.cards] == names and [c.runs for c in s.cards] == [10, 10, 10]
            processes[1].kill()
            assert [int(np.argmax(y)) for y in asyncio.run(all_of_them())] == list(LABELS[:30])
            assert [c.lost for c in s.cards] == [False, True, False] and s.cards[1].repeated >= 1
            assert sum(c.runs for c in s.cards) == 60
        with pytest.raises(weft.WeftError, match="card has configuration w16, not w8"):
            weft.Session(DIGITS, device="usb:" + names[0], config="w8")
        with weft.Session(DIGITS, device="model") as s:
            assert s.cards == []
    finally:
        for p in processes:
            p.kill()
            p.wait()


@pytest.mark.parametrize("device", ["golden", "model"])
def test_variables_last_until_they_are_reset(tmp_path, device):
    (tmp_path / "svdf.tflite").write_bytes(recorded("svdf.rank"))
    with weft.Session(tmp_path / "svdf.tflite", device=device, check=device != "golden") as s:
        x = np.arange(20, dtype=np.int8).reshape(s.network.inputs[0].shape) * 5
        first, second = s.run(x), s.run(x)
        assert not np.array_equal(first, second)
        s.reset_variables()
        assert np.array_equal(s.run(x), first) and np.array_equal(s.run(x), second)
    with pytest.raises(weft.WeftError, match="closed"):
        s.reset_variables()


def test_interrupt_is_answered(tmp_path):
    script = tmp_path / "loop.py"
    script.write_text(
        "import numpy as np, weft, sys\n"
        "s = weft.Session(sys.argv[1], device='rtl')\n"
        "x = np.zeros(s.network.inputs[0].shape, np.int8)\n"
        "print('ready', flush=True)\n"
        "while True: s.run(x)\n")
    p = subprocess.Popen([sys.executable, str(script), str(DIGITS)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert p.stdout.readline() == "ready\n"
    p.send_signal(2)
    _, err = p.communicate(timeout=60)
    assert "KeyboardInterrupt" in err and p.returncode != 0


def custom_network():
    """int8 [1, 4] to twice its values by the custom operator Times, whose options are the byte 2; the file leaves an extent open."""
    sys.path.insert(0, str(MODELS.parent.parent / "tools" / "train"))
    from flatbuffer import Table, Tables, flatbuffer, scalars, string

    def tensor(name, shape, signature):
        return Table({0: scalars("i", shape), 1: ("b", 9), 2: ("I", 0), 3: string(name), 4: Table({2: scalars("f", [0.5]), 3: scalars("q", [1])}),
                      7: scalars("i", signature)})

    op = Table({0: ("I", 0), 1: scalars("i", [0]), 2: scalars("i", [1]), 5: scalars("B", [2])})
    graph = Table({0: Tables([tensor("x", [1, 4], [1, 4]), tensor("y", [1, 1], [1, -1])]), 1: scalars("i", [0]), 2: scalars("i", [1]), 3: Tables([op])})
    codes = Tables([Table({0: ("b", 32), 1: string("Times"), 3: ("i", 32)})])
    return bytes(flatbuffer(Table({0: ("I", 3), 1: codes, 2: Tables([graph]), 4: Tables([Table({})])}), b"TFL3"))


def test_custom_operators():
    seen = []

    def times(call):
        seen.append((call.name, call.options, call.input_scales, call.output_types))
        return [call.inputs[0] * np.int8(call.options[0])]

    file, x = custom_network(), np.array([[1, 2, 3, -4]], np.int8)
    with pytest.raises(weft.NotSupported, match="CUSTOM:Times: no function for it"):
        weft.Network(file)
    network = weft.Network(file, custom={"Times": weft.CustomOp(times, lambda call: call.input_shapes)})
    with weft.Session(network, device="model", check=True) as s:
        assert (s.run(x) == 2 * x).all() and s.report.mismatches == 0
    assert seen[0] == ("Times", b"\x02", [(0.5, 1)], [np.dtype(np.int8)]) and len(seen) == 2
    with pytest.raises(weft.BadInput, match="ValueError: 0 results, not 1"):
        weft.Session(file, device="golden", custom={"Times": weft.CustomOp(lambda call: [], lambda call: call.input_shapes)}).run(x)
    with pytest.raises(weft.BadInput, match="shapes: KeyError"):
        weft.Network(file, custom={"Times": weft.CustomOp(times, lambda call: {}["x"])})
