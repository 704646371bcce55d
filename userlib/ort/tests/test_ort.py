# SPDX-License-Identifier: Apache-2.0
"""ONNX Runtime with the provider.

WEFT_BUILD is the folder of libweft_ort_ep.so and of the command weft, WEFT_MODELS that of
the project's networks.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../plugin/tests"))
from alone import alone, last_line
from card import broker, card, cards, plugged_in, pull
from command import weft_run
from readme import program

BUILD, MODELS = os.environ["WEFT_BUILD"], os.environ["WEFT_MODELS"]
NAME = "WeftExecutionProvider"
QUANTISED = ["digits_qdq.onnx", "digits_qlinear.onnx"]

ort.register_execution_provider_library("weft", os.path.join(BUILD, "libweft_ort_ep.so"))


def session(model, fallback=True, **options):
    o = ort.SessionOptions()
    o.log_severity_level = 1
    devices = [d for d in ort.get_ep_devices() if d.ep_name == NAME]
    assert len(devices) == 1 and devices[0].ep_vendor == "Weft"
    o.add_provider_for_devices(devices, {"device": "model", **options})
    if not fallback:
        o.add_session_config_entry("session.disable_cpu_ep_fallback", "1")
    return ort.InferenceSession(model, o, enable_fallback=0)


def processor(model):
    return ort.InferenceSession(model, providers=["CPUExecutionProvider"])


def taken(capfd, share=None):
    """Nodes that the provider took, of all, and its parts: what its line of log says."""
    found = re.findall(NAME + r": (\d+) of (\d+) nodes in (\d+) parts, device \S+, configuration w16, ([\d.]+) % of \d+ MACs",
                       "".join(capfd.readouterr()))
    assert len(found) == 1 and share in (None, float(found[0][3]))
    return tuple(int(n) for n in found[0][:3])


def image(seed, shape=(1, 1, 8, 8)):
    return np.random.default_rng(seed).random(shape, dtype=np.float32)


@pytest.mark.parametrize("requant", ["exact", "rescale", "runtime", "runtime-avx2"])
@pytest.mark.parametrize("name", QUANTISED)
def test_whole_network_has_the_bits_of_weft_run(name, requant, capfd):
    model = os.path.join(MODELS, name)
    s = session(model, fallback=False, requant=requant)
    n, of, parts = taken(capfd, 100)
    assert n == of and parts == 1
    for seed in range(3):
        x = image(seed)
        got = s.run(None, {"image": x})[0]
        assert got.tobytes() == weft_run(model, [("image", x)], "--requant", requant)[0].tobytes()


@pytest.mark.parametrize("name", QUANTISED)
def test_checked_and_golden(name):
    model = os.path.join(MODELS, name)
    x = image(9)
    want = session(model).run(None, {"image": x})[0]
    for options in {"check": "1"}, {"device": "golden"}, {"device": "rtl"}:
        assert session(model, **options).run(None, {"image": x})[0].tobytes() == want.tobytes()


def test_float_network_stays_with_the_runtime(capfd):
    model = os.path.join(MODELS, "digits_float.onnx")
    s = session(model)
    assert taken(capfd, 0) == (0, 8, 0)
    x = image(4)
    assert s.run(None, {"image": x})[0].tobytes() == processor(model).run(None, {"image": x})[0].tobytes()


SHAPE = (1, 4, 8, 8)


class Builder:
    """A float network with quantised convolutions; scales are powers of two, so that every rule of rounding agrees."""

    def __init__(self):
        self.nodes, self.constants, self.n = [], [], 0
        self.random = np.random.default_rng(7)

    def constant(self, array):
        self.n += 1
        self.constants.append(numpy_helper.from_array(np.asarray(array), f"c{self.n}"))
        return f"c{self.n}"

    def op(self, op, *inputs, **attributes):
        self.n += 1
        self.nodes.append(helper.make_node(op, list(inputs), [f"v{self.n}"], name=f"n{self.n}", **attributes))
        return f"v{self.n}"

    def quantize(self, x):
        return self.op("QuantizeLinear", x, self.constant(np.float32(2 ** -5)), self.constant(np.int8(0)))

    def dequantize(self, q, scale=2 ** -5):
        return self.op("DequantizeLinear", q, self.constant(np.float32(scale)), self.constant(np.int8(0)))

    def conv(self, x):
        w = self.constant(self.random.integers(-20, 20, (4, 4, 3, 3)).astype(np.int8))
        return self.op("Conv", self.dequantize(x), self.dequantize(w, 2 ** -7), pads=[1, 1, 1, 1])

    def model(self, *ys, shape=SHAPE):
        graph = helper.make_graph(self.nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, SHAPE)],
                                  [helper.make_tensor_value_info(y, TensorProto.FLOAT, shape) for y in ys], self.constants)
        m = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)], ir_version=9)
        onnx.checker.check_model(m)
        return m.SerializeToString()


def equal(model, capfd, parts):
    s = session(model)
    n, of, got_parts = taken(capfd)
    assert got_parts == parts and 0 < n < of
    for seed in range(3):
        x = image(seed, SHAPE) - np.float32(0.5)
        want = processor(model).run(None, {"x": x})
        assert [y.tobytes() for y in s.run(None, {"x": x})] == [y.tobytes() for y in want]


def test_quantised_middle(capfd):
    b = Builder()
    x = b.op("Sin", "x")
    q = b.quantize(b.conv(b.quantize(b.op("Relu", b.conv(b.quantize(x))))))
    equal(b.model(b.op("Sin", b.dequantize(q))), capfd, 1)


def test_parts_are_convex(capfd):
    """One path leads around the float node, the other through it: both ends may not become one part."""
    b = Builder()
    first = b.quantize(b.conv(b.quantize("x")))
    around = b.op("Sin", b.dequantize(first))    # also an output: it stays a float
    a, c = b.quantize(b.conv(b.quantize(around))), b.quantize(b.conv(first))
    both = b.quantize(b.op("Add", b.dequantize(a), b.dequantize(c)))
    equal(b.model(b.op("Sin", b.dequantize(both)), around), capfd, 2)


def test_group_in_which_one_node_does_not_load(capfd):
    """Parts before and behind a matrix inversion, which the library does not have."""
    b = Builder()
    first = b.quantize(b.conv(b.quantize("x")))
    middle = b.quantize(b.op("Inverse", b.dequantize(first), domain="com.microsoft"))
    last = b.quantize(b.conv(middle))
    equal(b.model(b.op("Sin", b.dequantize(last))), capfd, 2)


def two_parts():
    """The sine between them is also an output: it stays a float, and with the runtime."""
    b = Builder()
    first = b.quantize(b.conv(b.quantize("x")))
    between = b.op("Sin", b.dequantize(first))
    last = b.quantize(b.conv(b.quantize(between)))
    return b.model(b.op("Sin", b.dequantize(last)), between)


def test_several_parts_run_on_one_card(capfd):
    model, x = two_parts(), {"x": image(3, SHAPE)}
    want = processor(model).run(None, x)[0].tobytes()
    with tempfile.TemporaryDirectory() as folder, card(folder) as (device, process):
        s = session(model, device=device, check="1")
        assert taken(capfd)[2] == 2
        assert s.run(None, x)[0].tobytes() == want
        del s
        # It is free again.
        s = session(model, device=device)
        assert s.run(None, x)[0].tobytes() == want
        pull(process)
        with pytest.raises(Exception, match=NAME):
            s.run(None, x)


def test_sessions_share_a_card():
    """Two sessions of a process that name the same card; it is free when both are gone."""
    model, x = two_parts(), {"x": image(3, SHAPE)}
    want = processor(model).run(None, x)[0].tobytes()
    with tempfile.TemporaryDirectory() as folder, card(folder) as (device, process):
        for _ in range(2):
            both = [session(model, device=device), session(model, device=device)]
            assert [s.run(None, x)[0].tobytes() for s in both] == [want, want]
            del both[0]
            assert both[0].run(None, x)[0].tobytes() == want
            del both
        s = session(model, device=device)
        pull(process)
        with pytest.raises(Exception, match=NAME):
            s.run(None, x)


def test_several_cards(capfd):
    """Threads share a session's cards. One is pulled in the middle: no answer is wrong, none is lost."""
    model, plain = two_parts(), processor(two_parts())
    feeds = [{"x": image(seed, SHAPE)} for seed in range(40)]
    want = [plain.run(None, x)[0].tobytes() for x in feeds]
    with tempfile.TemporaryDirectory() as folder, cards(folder, 3) as (device, processes):
        s = session(model, device=device, check="1")
        assert taken(capfd)[2] == 2
        ended = threading.Semaphore(0)

        def some(first):
            for i in range(first, len(feeds), 4):
                got[i] = s.run(None, feeds[i])[0].tobytes()
                ended.release()

        for pulled in [True, False]:
            got = [None] * len(feeds)
            threads = [threading.Thread(target=some, args=(first,)) for first in range(4)]
            for t in threads:
                t.start()
            if pulled:
                for _ in range(8):
                    ended.acquire()
                pull(processes[1])
            for t in threads:
                t.join()
            assert got == want
        for p in processes:
            pull(p)
        with pytest.raises(Exception, match="none of 3 cards is left"):
            s.run(None, feeds[0])


@pytest.mark.parametrize("n", [1, 2])
def test_the_cards_own_configuration(n, capfd):
    """Without the option config, programs are for the configuration that the cards have."""
    model, x = two_parts(), {"x": image(3, SHAPE)}
    want = processor(model).run(None, x)[0].tobytes()
    with tempfile.TemporaryDirectory() as folder, cards(folder, n, "--config", "w8") as (device, _):
        s = session(model, device=device, check="1")
        assert ", configuration w8, " in "".join(capfd.readouterr())
        assert s.run(None, x)[0].tobytes() == want
        del s
        with pytest.raises(Exception, match="card has configuration w8, not w16"):
            session(model, fallback=False, device=device, config="w16")


# What a program sees of the provider's devices; and what becomes of sessions on the first of them, and on the model.
ON_HARDWARE = """
import json, os, sys
import onnxruntime as ort
ort.register_execution_provider_library("weft", sys.argv[1])
found = [d for d in ort.get_ep_devices() if d.ep_name == "WeftExecutionProvider"]
said = []
for devices, options in (found[:1], {}), (found, {"device": "model"}):
    o = ort.SessionOptions()
    o.add_provider_for_devices(devices, options)
    try:
        s = ort.InferenceSession(sys.argv[2], o, enable_fallback=0)
        said.append(s.get_providers()[0])
        del s
    except Exception as e:
        said.append(str(e))
print(json.dumps([[[d.device.type.name, d.device.vendor, d.device.vendor_id, d.device.device_id, dict(d.device.metadata)] for d in found], said]))
ort.unregister_execution_provider_library("weft")
"""


def on_hardware(*front):
    p = subprocess.run([*front, sys.executable, "-c", ON_HARDWARE, os.path.join(BUILD, "libweft_ort_ep.so"), os.path.join(MODELS, QUANTISED[0])],
                       capture_output=True, text=True, check=True)
    return json.loads(p.stdout)


@pytest.mark.skipif(int(ort.__version__.split(".")[1]) < 24, reason="this release takes no hardware from a provider")
def test_hardware(tmp_path):
    """A card on the USB is a device of its own, on which a session runs that names none; without one there is a virtual one."""
    devices, said = on_hardware()
    assert devices == [["NPU", "Weft", 0, 0, {"DiscoveredBy": NAME, "is_virtual": "1"}]] and said == [NAME] * 2
    if not shutil.which("umockdev-run"):
        pytest.skip("umockdev-run is not there: tools/deps.sh umockdev")
    if "LD_PRELOAD" in os.environ:
        pytest.skip("umockdev wants to be preloaded first, and so does what is preloaded now: a sanitizer")
    # The second would name a socket if it were taken at its word, and the third has none: its port is its name.
    mock = plugged_in(tmp_path / "usb", "MOCK0001", "@/run/so,ck*et", "", "MOCK0002")
    devices, said = on_hardware("umockdev-run", f"--device={mock}", "--")
    assert sorted(d[4]["weft_serial"] for d in devices) == ["1-4", "?/run/so?ck?et", "MOCK0001", "MOCK0002"]
    for d in devices:
        assert d[:4] == ["NPU", "Weft", 0x1209, 1] and d[4]["weft_where"].startswith("bus 1 device ") and "is_virtual" not in d[4]
    # The mock answers nothing: who opens it says so.
    assert f"{NAME}: usb: " in said[0] and said[1] == NAME


def test_broker(tmp_path, monkeypatch, capfd):
    """Where a broker has the cards a session runs through it, named or by default, and says so; of hardware there is the broker."""
    path = os.path.join(MODELS, QUANTISED[0])
    with broker(tmp_path, monkeypatch) as socket:
        s = session(path, fallback=False, device="usb")
        assert f"device usb (the broker at {socket}), configuration w16, 100.0 %" in "".join(capfd.readouterr())
        x = {s.get_inputs()[0].name: image(1)}
        want = session(path).run(None, x)[0].tobytes()
        assert s.run(None, x)[0].tobytes() == want
        if int(ort.__version__.split(".")[1]) >= 24:
            devices, said = on_hardware()
            assert devices == [["NPU", "Weft", 0x1209, 1, {"DiscoveredBy": NAME, "weft_serial": f"@{socket}", "weft_where": "broker"}]]
            assert said == [NAME] * 2
        del s
    # What the broker cannot do is an error, not a reason for another device.
    for value, words in (socket, re.escape(socket)), ("", "WEFT_BROKER is"):
        monkeypatch.setenv("WEFT_BROKER", value)
        with pytest.raises(Exception, match=f"{NAME}: usb: .*{words}"):
            session(path, fallback=False, device="usb")


def test_first_page():
    """As it stands there, in the project's folder: the provider takes the network, and the result is printed."""
    text, root = program("From ONNX Runtime"), os.path.join(os.path.dirname(__file__), "../../..")
    assert len(text.splitlines()) == 5
    text = text.replace(BUILD + "/", os.path.relpath(BUILD, root) + "/")
    p = subprocess.run([sys.executable, "-c", "import onnxruntime\nonnxruntime.set_default_logger_severity(1)\n" + text], cwd=root, capture_output=True, text=True)
    want = session(os.path.join(MODELS, QUANTISED[0])).run(None, {"image": np.zeros((1, 1, 8, 8), np.float32)})
    assert p.stdout == f"{want}\n" and f"{NAME}: 26 of 26 nodes" in p.stderr, p.stderr[-2000:]


def test_profile(tmp_path):
    s = session(two_parts(), device="rtl", profile=str(tmp_path / "t.json"))
    s.run(None, {"x": image(3, SHAPE)})
    assert (tmp_path / "t.json").stat().st_size > 1000 and (tmp_path / "t.json.1").stat().st_size > 1000


@pytest.mark.parametrize("options, line", [
    ({"colour": "red"}, 'there is no option "colour"'),
    ({"device": "moon"}, 'option device: "moon" is not golden, model, rtl, usb'),
    ({"device": "usb:"}, 'option device: "usb:" is not'),
    ({"check": "2"}, 'option check: "2" is not 0 or 1'),
    ({"requant": "near"}, 'option requant: "near" is not exact, rescale, runtime or runtime-avx2'),
    ({"runtime": "tflm"}, 'there is no option "runtime"; there are device, config, check, profile, requant'),
    ({"profile": ""}, 'option profile: "" is not the name of a file'),
    ({"config": ""}, 'option config: "" is not'),
    ({"config": "w99"}, 'option config: "w99" is not'),
    ({"device": "usb:@/no/such/socket"}, "/no/such/socket"),
    ({"device": "usb:NONE"}, 'no card with serial "NONE" is plugged in'),
    ({"device": "model\nrtl"}, 'option device: "model?rtl" is not'),
    ({"device": "usb:" + "A" * 5000}, '(5004 bytes) is longer than 1007 bytes'),
    ({"colour" * 40: "red"}, '..." (240 bytes); there are device'),
    ({"profile": "/no/folder/trace"}, "/no/folder/trace: No such file or directory"),
])
def test_bad_options(options, line):
    with pytest.raises(Exception, match=re.escape(line)) as e:
        session(os.path.join(MODELS, QUANTISED[0]), **options).run(None, {"image": image(0)})
    assert NAME in str(e.value)


# Loads the provider of argument 1 and opens a session on the RTL; prints the error as one line.
OPEN_RTL = """
import sys
import onnxruntime as ort
try:
    ort.register_execution_provider_library("weft", sys.argv[1])
    o = ort.SessionOptions()
    o.add_provider_for_devices([d for d in ort.get_ep_devices() if d.ep_name == "WeftExecutionProvider"], {"device": "rtl"})
    ort.InferenceSession(sys.argv[2], o, enable_fallback=0)
    print("no error")
except Exception as e:
    print(repr(str(e)))
"""


@pytest.mark.parametrize("library, simulator, words", [
    (False, None, "libweft.so.0: cannot open shared object file"),
    (True, None, f"{NAME}: rtl: weft-rtl-w16.so cannot be loaded (not found); build it with: make sim CONFIGS=w16"),
    (True, "libweft_delegate.so", f"{NAME}: rtl: weft-rtl-w16.so is of another build; run make sim"),
])
def test_missing_parts(library, simulator, words, tmp_path):
    """Without the library, without a simulator, and with one that is not of this version."""
    plugin = alone(tmp_path, "libweft_ort_ep.so", library, simulator and os.path.join(BUILD, simulator))
    assert words in last_line(OPEN_RTL, plugin, os.path.join(MODELS, QUANTISED[0]))


def test_runs_of_several_threads():
    s = session(os.path.join(MODELS, QUANTISED[0]))
    x = [image(i) for i in range(8)]
    want = [s.run(None, {"image": v})[0].tobytes() for v in x]
    got = [None] * len(x)

    def run(i):
        for _ in range(5):
            got[i] = s.run(None, {"image": x[i]})[0].tobytes()

    threads = [threading.Thread(target=run, args=(i,)) for i in range(len(x))]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert got == want
