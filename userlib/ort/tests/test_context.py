# SPDX-License-Identifier: Apache-2.0
"""EPContext nodes: what was compiled is kept, runs without compiling, and is refused where it does not belong.

Variables as for test_ort.py.
"""
import hashlib
import os
import shutil

import onnx
import onnxruntime as ort
import pytest
from test_ort import MODELS, NAME, SHAPE, image, processor, two_parts

DIGITS = os.path.join(MODELS, "digits_qdq.onnx")


def session(model, entries=(), **options):
    o = ort.SessionOptions()
    o.add_provider_for_devices([d for d in ort.get_ep_devices() if d.ep_name == NAME], {"device": "model", **options})
    for key, value in dict(entries).items():
        o.add_session_config_entry(key, value)
    return ort.InferenceSession(model, o, enable_fallback=0)


def compiled(folder, embed, model=DIGITS, **options):
    """The path of a model of EPContext nodes, made of a copy of `model` in the folder."""
    source, out = str(folder / "net.onnx"), str(folder / "out.onnx")
    shutil.copy(model, source)
    session(source, {"ep.context_enable": "1", "ep.context_file_path": out, "ep.context_embed_mode": embed}, **options)
    return out


def contexts(path):
    return [n for n in onnx.load(path).graph.node if n.op_type == "EPContext"]


def attr(node, name):
    return next(a for a in node.attribute if a.name == name)


def change(path, name, value, node=0):
    """Gives an attribute of a context node another value."""
    m = onnx.load(path)
    nodes = [n for n in m.graph.node if n.op_type == "EPContext"]
    a = attr(nodes[node], name)
    if isinstance(value, int):
        a.i = value
    else:
        a.s = value
    onnx.save(m, path)


def refused(path, words, **options):
    with pytest.raises(Exception, match=words) as e:
        session(path, **options)
    assert NAME in str(e.value)


@pytest.mark.parametrize("embed", ["0", "1"])
@pytest.mark.parametrize("device", ["model", "rtl", "golden"])
def test_same_bits(tmp_path, embed, device):
    out = compiled(tmp_path, embed)
    assert len(contexts(out)) == 1 and attr(contexts(out)[0], "source").s == NAME.encode()
    assert len(list(tmp_path.glob("*.weftctx"))) == (embed == "0")
    s = session(out, {"session.disable_cpu_ep_fallback": "1"} if len(onnx.load(out).graph.node) == 1 else (), device=device, check="1")
    for seed in range(3):
        x = {s.get_inputs()[0].name: image(seed)}
        want = session(DIGITS).run(None, x)
        assert [y.tobytes() for y in s.run(None, x)] == [y.tobytes() for y in want]


def test_other_configuration(tmp_path):
    out = compiled(tmp_path, "1", config="w32")
    assert attr(contexts(out)[0], "ep_cache_context").s.startswith(b"WEFTCTX1")
    s = session(out, config="w32")
    x = {s.get_inputs()[0].name: image(1)}
    assert s.run(None, x)[0].tobytes() == session(DIGITS).run(None, x)[0].tobytes()
    refused(out, 'was compiled for configuration "w32", here it is "w16"')


def test_several_parts(tmp_path):
    """Float nodes between the parts stay in the model."""
    (tmp_path / "two.onnx").write_bytes(two_parts())
    for embed in "0", "1":
        folder = tmp_path / embed
        folder.mkdir()
        out = compiled(folder, embed, model=tmp_path / "two.onnx")
        assert len(contexts(out)) == 2
        x = {"x": image(3, SHAPE)}
        assert [y.tobytes() for y in session(out).run(None, x)] == [y.tobytes() for y in processor(two_parts()).run(None, x)]


def test_contexts_do_not_change_places(tmp_path):
    (tmp_path / "two.onnx").write_bytes(two_parts())
    out = compiled(tmp_path, "1", model=tmp_path / "two.onnx")
    change(out, "ep_cache_context", attr(contexts(out)[1], "ep_cache_context").s)
    refused(out, "its context belongs to another node")


def test_stale_source(tmp_path):
    """The source model that lies beside the contexts must be the one that was compiled; without it they run."""
    out = compiled(tmp_path, "1")
    session(out)
    m = onnx.load(tmp_path / "net.onnx")
    m.doc_string = "changed"
    onnx.save(m, tmp_path / "net.onnx")
    refused(out, "the source model has changed since it was compiled")
    os.remove(tmp_path / "net.onnx")
    session(out)


def other_version(data):
    """The same context as another version of the library would have made it, with a sound digest."""
    n = int.from_bytes(data[40:48], "little")
    body = (n).to_bytes(8, "little") + b"9" * n + data[48 + n:]
    return data[:8] + hashlib.sha256(body).digest() + body


def test_other_version(tmp_path):
    out = compiled(tmp_path, "1")
    change(out, "ep_cache_context", other_version(attr(contexts(out)[0], "ep_cache_context").s))
    refused(out, r'was compiled for libweft "9+", here it is "\d')


def test_other_requant(tmp_path):
    refused(compiled(tmp_path, "1"), 'was compiled for requant "exact", here it is "rescale"', requant="rescale")


def test_forged(tmp_path):
    """Each of some changed bytes, every cut, and what is no context at all."""
    out = compiled(tmp_path, "1")
    data = attr(contexts(out)[0], "ep_cache_context").s
    for at in list(range(0, 60)) + list(range(60, len(data), len(data) // 20)) + [len(data) - 1]:
        change(out, "ep_cache_context", data[:at] + bytes([data[at] ^ 1]) + data[at + 1:])
        refused(out, "its context is damaged")
    for n in 0, 1, 8, 40, 47, len(data) // 2, len(data) - 1:
        change(out, "ep_cache_context", data[:n])
        refused(out, "its context is damaged")
    change(out, "ep_cache_context", data + b"xx")
    refused(out, "its context is damaged")
    change(out, "ep_cache_context", data)
    session(out)


def test_forged_program(tmp_path):
    """A sound digest around a program that is not: the library refuses to load it."""
    out = compiled(tmp_path, "1")
    data = attr(contexts(out)[0], "ep_cache_context").s
    for at in len(data) - 4, len(data) // 2, len(data) // 2 + 333:
        body = bytearray(data[40:])
        body[at - 40] ^= 0x55
        change(out, "ep_cache_context", data[:8] + hashlib.sha256(body).digest() + bytes(body))
        refused(out, "weft|network|file|checksum")


@pytest.mark.parametrize("path, words", [
    ("../secret.weftctx", "the path leaves the model's folder"),
    ("/etc/hostname", "the path leaves the model's folder"),
    ("link.weftctx", "the path leaves the model's folder"),
    ("none.weftctx", "No such file"),
    ("sub", "older|directory"),
])
def test_paths_stay_beneath(tmp_path, path, words):
    folder = tmp_path / "model"
    (folder / "sub").mkdir(parents=True)
    out = compiled(folder, "0")
    name = attr(contexts(out)[0], "ep_cache_context").s.decode()
    shutil.copy(folder / name, tmp_path / "secret.weftctx")
    shutil.copy(folder / name, folder / "sub/inside.weftctx")
    os.symlink("../secret.weftctx", folder / "link.weftctx")
    change(out, "ep_cache_context", path.encode())
    refused(out, words)
    change(out, "ep_cache_context", b"sub/../sub/inside.weftctx")
    session(out)


def test_source_path_stays_beneath(tmp_path):
    folder = tmp_path / "model"
    folder.mkdir()
    out = compiled(folder, "1")
    shutil.copy(folder / "net.onnx", tmp_path / "net.onnx")
    change(out, "onnx_model_filename", b"../net.onnx")
    refused(out, "its source model is outside of the model's folder")


def test_without_a_file(tmp_path):
    """A model from memory: its contexts lie in it, or ep.context_file_path says beside what."""
    out = compiled(tmp_path, "1")
    session(open(out, "rb").read())
    folder = tmp_path / "external"
    folder.mkdir()
    out = compiled(folder, "0")
    with pytest.raises(Exception, match="ep.context_file_path says where"):
        session(open(out, "rb").read())
    session(open(out, "rb").read(), {"ep.context_file_path": out})


def test_other_providers_contexts_stay(tmp_path):
    out = compiled(tmp_path, "1")
    change(out, "source", b"OtherExecutionProvider")
    with pytest.raises(Exception) as e:
        session(out)
    assert "damaged" not in str(e.value)


@pytest.mark.skipif(not hasattr(ort, "ModelCompiler"), reason="this release has no ModelCompiler")
def test_model_compiler(tmp_path):
    o = ort.SessionOptions()
    o.add_provider_for_devices([d for d in ort.get_ep_devices() if d.ep_name == NAME], {"device": "model"})
    compiler = ort.ModelCompiler(o, DIGITS, embed_compiled_data_into_model=True)
    compiler.compile_to_file(str(tmp_path / "c.onnx"))
    assert len(contexts(tmp_path / "c.onnx")) == 1
    s = session(str(tmp_path / "c.onnx"))
    x = {s.get_inputs()[0].name: image(5)}
    assert s.run(None, x)[0].tobytes() == session(DIGITS).run(None, x)[0].tobytes()
