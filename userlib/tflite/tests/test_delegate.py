# SPDX-License-Identifier: Apache-2.0
"""TensorFlow Lite with the delegate; see network.py for the environment.

WEFT_MODELS is the folder of the project's networks, WEFT_MADE one of networks that make_networks.py wrote.
"""
import gc
import glob
import os
import subprocess
import sys
import tempfile
import threading

import numpy as np
import pytest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../plugin/tests"))
from alone import alone, last_line
from card import broker, card, cards, pull
from command import weft_run, weft_share
from readme import program
from recorded import recorded
from network import delegate, interpreter, run, said, tfl

MODELS, MADE = os.environ["WEFT_MODELS"], os.environ["WEFT_MADE"]
DIGITS = [os.path.join(MODELS, name) for name in ("digits_int8.tflite", "digits_int16x8.tflite")]
MIXED, RESIZED, FLOATS = (os.path.join(MADE, name + ".tflite") for name in ("mixed", "resized", "floats"))


def ready(model, *delegates, **kw):
    i = interpreter(model, *delegates, **kw)
    i.allocate_tensors()
    return i


def codes(i, seed):
    random = np.random.default_rng(seed)
    return [random.integers(np.iinfo(d["dtype"]).min, np.iinfo(d["dtype"]).max + 1, d["shape"]).astype(d["dtype"])
            for d in i.get_input_details()]


def line(capfd):
    out = capfd.readouterr().err
    assert out.count("INFO: Weft:") == 1
    return said(out)


@pytest.mark.parametrize("model", DIGITS)
def test_whole_network_has_the_bits_of_weft_run(model, capfd):
    i = ready(model, delegate())
    log = line(capfd)
    assert log["nodes"] == log["of"] == 6 and log["parts"] == 1 and not log["kept"]
    assert (log["share"], log["macs"]) == weft_share(model)
    for seed in range(3):
        x = codes(i, seed)
        got = run(i, x)
        assert got[0].tobytes() == run(ready(model), x)[0].tobytes()
        assert got[0].tobytes() == weft_run(model, [(i.get_input_details()[0]["name"], x[0])])[0].tobytes()


@pytest.mark.parametrize("options", [{"check": "1"}, {"device": "golden"}, {"device": "rtl", "check": "1"}, {"runtime": "tflite-2.14"}])
def test_devices(options):
    i = ready(DIGITS[0], delegate(**options))
    x = codes(i, 4)
    assert run(i, x)[0].tobytes() == run(ready(DIGITS[0]), x)[0].tobytes()


def test_float_nodes_in_the_middle_stay(capfd):
    i = ready(MIXED, delegate(check="1"))
    log = line(capfd)
    assert log["parts"] == 2 and log["nodes"] == log["of"] - 1 and log["kept"] == "; the runtime keeps 1 SIN"
    assert abs(log["share"] - weft_share(MIXED)[0]) < 1
    for seed in range(3):
        x = codes(i, seed)
        assert run(i, x)[0].tobytes() == run(ready(MIXED), x)[0].tobytes()


def test_float_network_stays_with_the_runtime(capfd):
    i = ready(FLOATS, delegate())
    log = line(capfd)
    assert log["nodes"] == log["parts"] == log["share"] == 0
    x = [np.random.default_rng(1).random(d["shape"], dtype=np.float32) for d in i.get_input_details()]
    assert run(i, x)[0].tobytes() == run(ready(FLOATS), x)[0].tobytes()


@pytest.mark.parametrize("name, options", [("svdf.int8", {"check": "1"}), ("svdf.rank", {"device": "golden"}), ("svdf.rank", {"device": "rtl"}), ("svdf.short", {}), ("svdf.hybrid", {})])
def test_state_is_the_interpreters(name, options, capfd):
    """What SVDF remembers lies in the interpreter's tensor: runs follow one another, and reset_all_variables() begins anew."""
    model = recorded(name)
    i, plain = (tfl.Interpreter(model_content=model, experimental_delegates=d, experimental_op_resolver_type=tfl.OpResolverType.BUILTIN_REF)
                for d in ([delegate(**options)], []))
    log = line(capfd)
    assert log["nodes"] == log["of"] == 1 and log["share"] == 100
    for k in i, plain:
        k.allocate_tensors()
    detail, runs = i.get_input_details()[0], []
    for seed in list(range(2, 9)) + ["reset", 1, 5, "again", 3]:    # 5 behind 4, and behind 1
        if isinstance(seed, str):
            for k in i, plain:
                k.reset_all_variables() if seed == "reset" else k.allocate_tensors()
            continue
        x = [np.random.default_rng(seed).normal(size=detail["shape"]).astype("f4")] if detail["dtype"] == np.float32 else codes(i, seed)
        got, want = run(i, x)[0], run(plain, x)[0]
        # Of floats the order of additions is not the runtime's.
        assert np.array_equal(got, want) if detail["dtype"] == np.int8 else np.abs(got - want).max() <= 1e-5 * np.abs(want).max()
        runs.append(got.tobytes())
    if name != "svdf.short":
        assert runs[-2] != runs[3], "the same input, but behind another"


@pytest.mark.parametrize("when", ["before", "behind"])
def test_inputs_are_resized(when, capfd):
    """The part becomes a network for the new shape, however often."""
    i, plain = interpreter(RESIZED, delegate(check="1")), interpreter(RESIZED)
    if when == "behind":
        i.allocate_tensors()
    for batch in 3, 1, 2:
        for k in i, plain:
            k.resize_tensor_input(k.get_input_details()[0]["index"], [batch, 8, 8, 1])
            k.allocate_tensors()
        x = codes(i, batch)
        got = run(i, x)[0]
        assert got.shape == (batch, 10) and got.tobytes() == run(plain, x)[0].tobytes()


@pytest.mark.parametrize("options, words", [
    ({"colour": "red"}, 'there is no option "colour"; there are device, config, check, profile, runtime'),
    ({"requant": "exact"}, 'there is no option "requant"'),
    ({"device": "moon"}, 'option device: "moon" is not golden, model, rtl, usb'),
    ({"device": "usb:"}, 'option device: "usb:" is not'),
    ({"check": "2"}, 'option check: "2" is not 0 or 1'),
    ({"config": "w99"}, 'option config: "w99" is not'),
    ({"runtime": "any"}, 'option runtime: "any" is not litert-2.3, tflite-2.14 or tflm'),
    ({"profile": ""}, 'option profile: "" is not the name of a file'),
    ({"device": "model\nrtl"}, 'option device: "model?rtl" is not'),
    ({"device": "usb:" + "A" * 5000}, f'option device: "usb:{"A" * 60}..." (5004 bytes) is longer than 1007 bytes'),
    ({"check": True}, 'option check: "True" is not 0 or 1'),
])
def test_bad_options(options, words):
    with pytest.raises(ValueError) as e:
        tfl.load_delegate(os.path.join(os.environ["WEFT_BUILD"], "libweft_delegate.so"), options)
    assert f"Weft: {words}" in str(e.value)


@pytest.mark.parametrize("options, words", [
    ({"device": "usb:@/no/such/socket"}, "usb: no simulated card answers at /no/such/socket: No such file or directory"),
    ({"device": "usb:NONE"}, 'usb: no card with serial "NONE" is plugged in'),
    ({"profile": "/no/folder/trace"}, "/no/folder/trace: No such file or directory"),
])
def test_missing_devices(options, words):
    """What is not there is an error of the runtime's, in a line of its own, not a network that silently runs elsewhere."""
    with pytest.raises(RuntimeError) as e:
        run(ready(DIGITS[0], delegate(**options)), codes(ready(DIGITS[0]), 0))
    assert f"Weft: {words}" in str(e.value).splitlines()


# Loads the delegate of argument 1 for the RTL; prints the error as one line.
OPEN_RTL = """
import sys
try:
    from ai_edge_litert import interpreter as tfl
except ImportError:
    import tflite_runtime.interpreter as tfl
try:
    tfl.Interpreter(sys.argv[2], experimental_delegates=[tfl.load_delegate(sys.argv[1], {"device": "rtl"})]).allocate_tensors()
    print("no error")
except Exception as e:
    print(repr(str(e)))
"""


@pytest.mark.parametrize("library, simulator, words", [
    (False, None, "libweft.so.0: cannot open shared object file"),
    (True, None, "Weft: rtl: weft-rtl-w16.so cannot be loaded (not found); build it with: make sim CONFIGS=w16\\n"),
    (True, "libweft_ort_ep.so", "Weft: rtl: weft-rtl-w16.so is of another build; run make sim\\n"),
])
def test_missing_parts(library, simulator, words, tmp_path):
    """Without the library, without a simulator, and with one that is not of this version."""
    plugin = alone(tmp_path, "libweft_delegate.so", library, simulator and os.path.join(os.environ["WEFT_BUILD"], simulator))
    assert words in last_line(OPEN_RTL, plugin, DIGITS[0])


def test_several_parts_run_on_one_card(capfd):
    with tempfile.TemporaryDirectory() as folder, card(folder) as (device, process):
        i = ready(MIXED, delegate(device=device, check="1"))
        assert line(capfd)["parts"] == 2
        x = codes(i, 5)
        want = run(ready(MIXED), x)[0].tobytes()
        assert run(i, x)[0].tobytes() == want
        del i
        gc.collect()
        # It is free again.
        i = ready(MIXED, delegate(device=device))
        assert run(i, x)[0].tobytes() == want
        pull(process)
        with pytest.raises(RuntimeError, match="Weft: "):
            run(i, x)


def test_several_cards(capfd):
    """One of the cards is pulled between two runs: the next ones go to the others, and give the same."""
    with tempfile.TemporaryDirectory() as folder, cards(folder, 3) as (device, processes):
        i, plain = ready(MIXED, delegate(device=device, check="1")), ready(MIXED)
        assert line(capfd)["parts"] == 2
        for seed in range(12):
            if seed == 4:
                pull(processes[1])
            x = codes(i, seed)
            assert run(i, x)[0].tobytes() == run(plain, x)[0].tobytes()
        for p in processes:
            pull(p)
        with pytest.raises(RuntimeError, match="none of 3 cards is left"):
            run(i, codes(i, 0))


@pytest.mark.parametrize("n", [1, 2])
def test_the_cards_own_configuration(n, capfd):
    """Without the option config, programs are for the configuration that the cards have."""
    with tempfile.TemporaryDirectory() as folder, cards(folder, n, "--config", "w8") as (device, _):
        i = ready(MIXED, delegate(device=device, check="1"))
        assert " (w8), " in capfd.readouterr().err
        x = codes(i, 5)
        assert run(i, x)[0].tobytes() == run(ready(MIXED), x)[0].tobytes()
        del i
        gc.collect()
        with pytest.raises(Exception, match="card has configuration w8, not w16"):
            ready(MIXED, delegate(device=device, config="w16"))


def test_broker(tmp_path, monkeypatch, capfd):
    """Where a broker has the cards an interpreter runs through it, named or by default, and says so; it has one card for two interpreters."""
    with broker(tmp_path, monkeypatch) as socket:
        for d in delegate(device="usb"), tfl.load_delegate(os.path.join(os.environ["WEFT_BUILD"], "libweft_delegate.so")):
            i = ready(DIGITS[0], d)
            assert f"on usb (the broker at {socket}) (w16), 100.0 %" in capfd.readouterr().err
            x = codes(i, 4)
            assert run(i, x)[0].tobytes() == run(ready(DIGITS[0]), x)[0].tobytes()
        del i, d
        gc.collect()
    # What the broker cannot do is an error, not a reason for another device.
    with pytest.raises(Exception, match="usb: no simulated card answers at " + socket):
        ready(DIGITS[0], delegate(device="usb"))


def test_first_page(capfd):
    text = program("From LiteRT")
    assert len(text.splitlines()) == 5
    i = ready(DIGITS[0], delegate())
    want = run(i, [np.zeros(i.get_input_details()[0]["shape"], np.int8)])[0]
    capfd.readouterr()
    exec(text if "ai_edge_litert" in tfl.__name__ else text.replace("ai_edge_litert", "tflite_runtime"), {})
    out, log = capfd.readouterr()
    assert said(log)["nodes"] == 6 and out == f"{want}\n"


def test_example_classifies_digits(tmp_path):
    example = os.path.join(os.path.dirname(__file__), "../examples/label_image.py")
    (tmp_path / "labels").write_text("\n".join(f"digit {d}" for d in range(10)))
    for picture in sorted(glob.glob(f"{MODELS}/digits/*.png"))[:4]:
        p = subprocess.run([sys.executable, example, DIGITS[0], picture, "--labels", tmp_path / "labels", "--delegate",
                            os.path.join(os.environ["WEFT_BUILD"], "libweft_delegate.so"), "--option", "device=rtl"],
                           capture_output=True, text=True, check=True)
        assert "6 of 6 nodes" in p.stderr
        lines = p.stdout.splitlines()
        assert len(lines) == 5 and lines[0].endswith(f" digit {picture[-5]}")


def test_profile(tmp_path):
    i = ready(MIXED, delegate(device="rtl", profile=str(tmp_path / "t.json")))
    run(i, codes(i, 0))
    assert (tmp_path / "t.json").stat().st_size > 1000 and (tmp_path / "t.json.1").stat().st_size > 1000


@pytest.mark.parametrize("shared", [False, True])
def test_interpreters_of_several_threads(shared):
    one = delegate()
    want = [run(ready(MIXED), codes(ready(MIXED), s))[0].tobytes() for s in range(8)]
    got = [None] * 8

    def work(s):
        i = ready(MIXED, one if shared else delegate(), num_threads=4)
        for _ in range(3):
            got[s] = run(i, codes(i, s))[0].tobytes()

    threads = [threading.Thread(target=work, args=(s,)) for s in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert got == want


def test_delegate_is_destroyed_before_its_interpreter():
    d = delegate()
    i = ready(RESIZED, d)
    x = codes(i, 1)
    want = run(i, x)[0].tobytes()
    i._delegates = []
    del d
    gc.collect()
    other = ready(RESIZED, delegate())
    assert run(i, x)[0].tobytes() == want
    i.resize_tensor_input(i.get_input_details()[0]["index"], [2, 8, 8, 1])
    i.allocate_tensors()
    y = run(i, [np.concatenate([x[0], x[0]])])[0]
    assert y[0].tobytes() == y[1].tobytes() == want
    del i
    gc.collect()
    assert run(other, x)[0].tobytes() == want


def test_interpreter_is_destroyed_before_its_delegate():
    d = delegate()
    for _ in range(3):
        i = ready(MIXED, d)
        run(i, codes(i, 0))
        del i
        gc.collect()
