# SPDX-License-Identifier: Apache-2.0
"""MLServer with two networks on two simulated cards, one of which is killed in the middle.

WEFT_BUILD and WEFT_MODELS as for userlib/ort/tests; WEFT_REQUESTS is the number of requests.
"""
import json
import os
import queue
import re
import signal
import socket
import subprocess
import sys
import threading
import time

import numpy as np
import onnx
import onnxruntime as ort
import pytest
import tritonclient.grpc
import tritonclient.http
from onnx import TensorProto, helper, numpy_helper

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../../../userlib/plugin/tests"))
os.environ["WEFT_EP"] = os.path.join(os.environ["WEFT_BUILD"], "libweft_ort_ep.so")
from card import cards

# Not by weft_serve: mlserver and tritonclient describe the same protocol, and do not go together in one process.
NAME = "WeftExecutionProvider"
ort.register_execution_provider_library("weft", os.environ["WEFT_EP"])

MODELS = os.environ["WEFT_MODELS"]
REQUESTS = int(os.environ.get("WEFT_REQUESTS", "400"))
NETWORKS = {"qdq": "digits_qdq.onnx", "qlinear": "digits_qlinear.onnx"}
CLIENTS = 8
PATIENCE = 6000         #: tenths of a second that a server may take to start


def provider(path, device):
    o = ort.SessionOptions()
    o.add_provider_for_devices([d for d in ort.get_ep_devices() if d.ep_name == NAME], {"device": device})
    return ort.InferenceSession(path, o, enable_fallback=0)


def image(seed, n=1):
    return np.random.default_rng(seed).random((n, 1, 8, 8), dtype=np.float32)


def free_ports(n):
    sockets = [socket.socket() for _ in range(n)]
    for s in sockets:
        s.bind(("127.0.0.1", 0))
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


class Server:
    """MLServer in a folder with models: name -> (file, parameters); `more` are further settings of each."""

    def __init__(self, folder, models, implementation="weft_serve.WeftModel", **more):
        self.http, self.grpc, metrics = free_ports(3)
        with open(os.path.join(HERE, "../settings.json")) as f:
            (folder / "settings.json").write_text(json.dumps({
                **json.load(f), "host": "127.0.0.1", "http_port": self.http, "grpc_port": self.grpc, "metrics_port": metrics}))
        for name, (path, extra) in models.items():
            (folder / name).mkdir()
            (folder / name / "model-settings.json").write_text(json.dumps({
                "name": name, "implementation": implementation, "parameters": {"uri": os.path.abspath(path), "extra": extra}, **more}))
        self.log = open(folder / "log", "w+")
        python = os.pathsep.join([os.path.join(HERE, ".."), str(folder), os.environ.get("PYTHONPATH", "")])
        self.process = subprocess.Popen([os.path.join(os.path.dirname(sys.executable), "mlserver"), "start", str(folder)], stdout=self.log,
                                        stderr=subprocess.STDOUT, env=dict(os.environ, PYTHONPATH=python))

    def ready(self):
        client = tritonclient.http.InferenceServerClient(f"127.0.0.1:{self.http}")
        for _ in range(PATIENCE):
            assert self.process.poll() is None, self.text()
            try:
                if client.is_server_ready():
                    return self
            except Exception:
                pass
            time.sleep(0.1)
        raise AssertionError(self.text())

    def text(self):
        self.log.seek(0)
        return self.log.read()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def client_of(server, kind):
    module = tritonclient.http if kind == "http" else tritonclient.grpc
    return module, module.InferenceServerClient(f"127.0.0.1:{server.http if kind == 'http' else server.grpc}")


def ask(module, client, model, x, name, output):
    given = module.InferInput(name, list(x.shape), "FP32")
    given.set_data_from_numpy(x, **({"binary_data": False} if module is tritonclient.http else {}))
    wanted = [module.InferRequestedOutput(output, **({"binary_data": False} if module is tritonclient.http else {}))]
    return client.infer(model, [given], outputs=wanted).as_numpy(output)


def all_requests(n, one, half=None, clients=CLIENTS):
    """Requests 0..n-1 by that many threads, each with what one() makes; half() is called when half of them have ended. Seconds of each, and of all."""
    numbers, times, errors = queue.SimpleQueue(), [None] * n, []
    for i in range(n):
        numbers.put(i)

    def work():
        do = one()
        while True:
            try:
                i = numbers.get_nowait()
            except queue.Empty:
                return
            begin = time.monotonic()
            try:
                do(i)
            except Exception as e:
                errors.append(f"request {i}: {e}")
            times[i] = time.monotonic() - begin
            if half and sum(t is not None for t in times) * 2 >= n and once.acquire(blocking=False):
                half()

    once = threading.Semaphore(1)
    begin = time.monotonic()
    threads = [threading.Thread(target=work) for _ in range(clients)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not errors, errors[:5]
    assert None not in times
    return times, time.monotonic() - begin


def say(what, times, all_of_them):
    times = sorted(times)
    print(f"{what}: p50 {1e3 * times[len(times) // 2]:.1f} ms, p99 {1e3 * times[len(times) * 99 // 100]:.1f} ms, "
          f"{len(times) / all_of_them:.0f} requests/s")


def test_two_networks_on_two_cards(tmp_path, capfd):
    paths = {k: os.path.join(MODELS, v) for k, v in NETWORKS.items()}
    plain = {k: provider(p, "model") for k, p in paths.items()}
    edges = {k: (s.get_inputs()[0].name, s.get_outputs()[0].name) for k, s in plain.items()}
    # Both compute the same function, so they get different pictures.
    order = [(list(paths)[i % 2], i % 97 + 100 * (i % 2)) for i in range(REQUESTS)]
    want = {(k, seed): plain[k].run(None, {edges[k][0]: image(seed)})[0] for k, seed in set(order)}
    assert len({y.tobytes() for y in want.values()}) > 150

    def check(i, y):
        expected = want[order[i]]
        assert y.dtype == expected.dtype and y.shape == expected.shape and y.tobytes() == expected.tobytes(), f"wrong answer {i}"

    with cards(tmp_path, 2) as (device, processes):
        direct = {k: provider(p, device) for k, p in paths.items()}
        n = min(REQUESTS, 1000)
        times, took = all_requests(n, lambda: lambda i: check(i, direct[order[i][0]].run(None, {edges[order[i][0]][0]: image(order[i][1])})[0]))
        with capfd.disabled():
            print()
            say("the provider itself", times, took)
        direct.clear()
        folder = tmp_path / "models"
        folder.mkdir()
        server = Server(folder, {k: (p, {"device": device, "threads": CLIENTS}) for k, p in paths.items()})
        try:
            server.ready()
            kinds = queue.SimpleQueue()
            for i in range(3 * CLIENTS):
                kinds.put(("http", "grpc")[i % 2])

            def one():
                module, client = client_of(server, kinds.get())
                return lambda i: check(i, ask(module, client, order[i][0], image(order[i][1]), *edges[order[i][0]]))

            times, took = all_requests(n, one)
            with capfd.disabled():
                say("MLServer, two cards", times, took)
            times, took = all_requests(REQUESTS, one, half=processes[1].kill)
            assert processes[1].wait(10) == -signal.SIGKILL
            with capfd.disabled():
                say("MLServer, one of them killed in the middle", times, took)
            # With none left, the protocol's own error has the library's line.
            processes[0].kill()
            module, client = client_of(server, "http")
            with pytest.raises(Exception, match="none of 2 cards is left"):
                ask(module, client, "qdq", image(0), *edges["qdq"])
        finally:
            server.stop()


def six_milliseconds(path, batch=1):
    """A network of `batch` images (a number, or the name of an open dimension) of 3x32x32 floats, 610 000 cycles each at w16, 6 ms of a card's
    time at 100 MHz: five convolutions to 64 channels."""
    random, values, nodes = np.random.default_rng(0), [], []

    def value(name, a):
        values.append(numpy_helper.from_array(a, name))
        return name

    def codes(x, k):
        nodes.append(helper.make_node("QuantizeLinear", [x, scale, zero], [f"q{k}"]))
        nodes.append(helper.make_node("DequantizeLinear", [f"q{k}", scale, zero], [f"d{k}"]))
        return f"d{k}"

    scale, zero = value("scale", np.float32(1 / 64)), value("zero", np.int8(0))
    x = codes("x", 0)
    for k in range(1, 6):
        w = value(f"w{k}", random.integers(-127, 128, (64, 3 if k == 1 else 64, 3, 3)).astype(np.int8))
        nodes.append(helper.make_node("DequantizeLinear", [w, value(f"s{k}", np.float32(1 / 1024)), zero], [f"f{k}"]))
        nodes.append(helper.make_node("Conv", [x, f"f{k}"], [f"c{k}"], pads=[1, 1, 1, 1]))
        nodes.append(helper.make_node("Relu", [f"c{k}"], [f"r{k}"]))
        x = codes(f"r{k}", k)
    nodes.append(helper.make_node("GlobalAveragePool", [x], ["mean"]))
    nodes.append(helper.make_node("Identity", [codes("mean", 6)], ["y"]))
    graph = helper.make_graph(nodes, "six", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [batch, 3, 32, 32])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, [batch, 64, 1, 1])], values)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def processor_seconds(pid):
    fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


SLOWER = int(os.environ.get("WEFT_SLOWER", "16"))     #: up to 100, for machines that have other work


def jobs_of(device):
    """What each of these cards, which nobody uses, has run since it was started."""
    weft = os.path.join(os.environ["WEFT_BUILD"], "weft")
    said = [subprocess.run([weft, "card", f"usb:{d}", "--stats"], capture_output=True, text=True, check=True).stdout for d in device[len("usb:"):].split(",")]
    return np.array([int(re.search(r"(\d+)  jobs that reached END", text)[1]) for text in said])


class Beside:
    """Throughput of MLServer against libweft itself (direct.c) on the same two cards, by turns, in slow motion: the cards take SLOWER times as long as
    cards of 100 MHz, and the server gets at most the SLOWERth part of one processor (slow_motion.py); libweft and the clients get what they
    want. So it is what a server with one processor and two cards would do, also where the machine has other work. Both run `batch`
    images at a time; MLServer puts requests of one image together."""

    def __init__(self, folder, batch, clients):
        self.folder, self.batch, self.clients = folder, batch, clients
        self.path, self.direct_path, self.program = (str(folder / name) for name in ("six.onnx", "batch.onnx", "direct"))
        six_milliseconds(self.path, "N" if batch > 1 else 1)
        six_milliseconds(self.direct_path, batch)
        build = os.environ["WEFT_BUILD"]
        subprocess.run([os.environ.get("CC", "cc"), "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", f"-I{HERE}/../../../include", f"{HERE}/direct.c", "-o", self.program,
                        f"{build}/libweft.so", f"-Wl,-rpath,{os.path.abspath(build)}", "-lpthread"], check=True)
        self.images = np.random.default_rng(0).random((16, 1, 3, 32, 32), dtype=np.float32)
        six_milliseconds(str(folder / "one.onnx"))
        plain = provider(str(folder / "one.onnx"), "model")
        self.want = [plain.run(None, {"x": x})[0].tobytes() for x in self.images]
        assert len(set(self.want)) == 16
        self.direct, self.served, self.times, self.spent, self.more = [], [], [], np.zeros(3), 0
        self.jobs = {"libweft": np.zeros(2, int), "MLServer": np.zeros(2, int)}

    def one_client(self, server):
        module, client = client_of(server, "grpc")

        def check(i):
            assert ask(module, client, "six", self.images[i % 16], "x", "y").tobytes() == self.want[i % 16], f"wrong answer {i}"
        check(0)
        return check

    def serve(self, folder, device, processes, n):
        """n requests to a server of its own. Returns the seconds of each and of all, and the processor time of server and cards."""
        batching = {"max_batch_size": self.batch, "max_batch_time": 0.01 * SLOWER} if self.batch > 1 else {}
        extra = {"device": device, "threads": CLIENTS, **({"batch": self.batch} if self.batch > 1 else {})}
        server, slow = Server(folder, {"six": (self.path, extra)}, **batching), None
        try:
            server.ready()
            ready = [self.one_client(server) for _ in range(self.clients)]
            slow = subprocess.Popen([sys.executable, os.path.join(HERE, "slow_motion.py"), str(server.process.pid), str(SLOWER)], stdout=subprocess.PIPE, text=True)
            assert slow.stdout.readline() == "ready\n"
            before = processor_seconds(server.process.pid), sum(processor_seconds(p.pid) for p in processes)
            some, took = all_requests(n, ready.pop, clients=self.clients)
            spent = [processor_seconds(server.process.pid) - before[0], sum(processor_seconds(p.pid) for p in processes) - before[1]]
            slow.terminate()
            spent[0] -= float(slow.communicate()[0])        # what it cost to stop the server
        finally:
            if slow:
                slow.kill()
                slow.wait()
                server.process.send_signal(signal.SIGCONT)
            server.stop()
        return some, took, spent

    def turn(self, number, device, processes, n):
        """libweft, then MLServer: n images each."""
        begin = jobs_of(device)
        runs = -(-n // self.batch)
        out = subprocess.run([self.program, self.direct_path, device[len("usb:"):], str(runs), str(self.clients)], capture_output=True, text=True, check=True).stdout.split()
        middle = jobs_of(device)
        folder = self.folder / f"models{number}"
        folder.mkdir()
        some, took, spent = self.serve(folder, device, processes, n)
        self.more += spent[0] > took / SLOWER * 1.05 + 0.1
        self.jobs["libweft"] += middle - begin
        self.jobs["MLServer"] += jobs_of(device) - middle
        self.direct.append(SLOWER * runs * self.batch / float(out[0]))
        self.served.append(SLOWER * n / took)
        self.times += [t / SLOWER for t in some]
        self.spent += [float(out[1]) / runs / self.batch, spent[0] / n, spent[1] / n]
        self.cycles = int(out[2])

    def run(self, n, turns, capfd):
        """n requests to each in each of these turns; prints the share of libweft's throughput, by time, and how busy the server's processor was."""
        with cards(self.folder, 2, "--pace", str(100000 // SLOWER)) as (device, processes):
            for number in range(turns):
                self.turn(number, device, processes, n)
        # Of libweft the best turn counts: nothing slowed it down there. Of MLServer all requests together.
        whole = sum(n / s for s in self.served)
        throughput, own, served_s, card_s = turns * n / whole, *self.spent / turns
        share, had = throughput / max(self.direct), throughput * served_s

        def list_of(values):
            return ", ".join(f"{v:.0f}" for v in values)

        with capfd.disabled():
            print(f"\n{self.cycles} cycles a run, batch {self.batch}, 2 cards, {self.clients} connections (gRPC), {turns} turns of {n} requests, {SLOWER} times slower: "
                  f"libweft {max(self.direct):.0f} requests/s ({list_of(self.direct)}), MLServer with one processor {throughput:.0f} ({list_of(self.served)}); "
                  f"share {100 * share:.0f} %")
            print(f"processor time of a request: libweft {1e3 * own:.1f} ms, MLServer {1e3 * served_s:.1f} ms, the simulated card {1e3 * card_s:.1f} ms; "
                  f"MLServer had its processor for {100 * had:.0f} % of the time")
            if self.more:
                print(f"in {self.more} of {turns} turns MLServer had more than the {SLOWER}th part of a processor, so that its throughput is not that of one")
            print("runs of each card: " + "; ".join(f"{k} {list_of(v)}" for k, v in self.jobs.items()))
            say("MLServer", self.times, whole)


def test_beside_the_library(tmp_path, capfd):
    """Batch 1. What the cards themselves were busy with holds on any machine: MLServer has them do no more than the requests, and
    divides these so that by the busiest card's cycles it does at least 70 % of what libweft does. The share by time is printed."""
    full = REQUESTS > 1000
    n, turns, b = REQUESTS // 20 if full else 40, 5 if full else 2, Beside(tmp_path, 1, CLIENTS)
    b.run(n, turns, capfd)
    # Each client asks once before the time is taken. All runs have the same cycles.
    assert b.jobs["libweft"].sum() == turns * n and b.jobs["MLServer"].sum() == turns * (n + CLIENTS)
    assert (n + CLIENTS) / b.jobs["MLServer"].max() >= 0.7 * n / b.jobs["libweft"].max()


def test_batches_beside_the_library(tmp_path, capfd):
    """The same with adaptive batching, four images a run, and twice as many connections as are in two runs."""
    full = REQUESTS > 1000
    n, turns, b = REQUESTS // 80 * 4 if full else 64, 5 if full else 1, Beside(tmp_path, 4, 2 * CLIENTS)
    b.run(n, turns, capfd)
    # Fewer runs than requests: they were put together. Each client asks once before the time is taken.
    assert b.jobs["libweft"].sum() == turns * n // 4 and b.jobs["MLServer"].sum() < turns * (n // 2 + 2 * CLIENTS)


def open_batch(path):
    """The network of digits with an open first dimension, at path. Returns the names of its input and output."""
    m = onnx.load(os.path.join(MODELS, NETWORKS["qdq"]))
    for v in list(m.graph.input) + list(m.graph.output):
        v.type.tensor_type.shape.dim[0].dim_param = "N"
    del m.graph.value_info[:]
    onnx.save(m, path)
    return m.graph.input[0].name, m.graph.output[0].name


def each(seed, n):
    """What the network of digits makes of image(seed, n), one by one."""
    fixed = provider(os.path.join(MODELS, NETWORKS["qdq"]), "model")
    return np.concatenate([fixed.run(None, {fixed.get_inputs()[0].name: image(seed, n)[i:i + 1]})[0] for i in range(n)])


def test_open_batch(tmp_path):
    """A network whose first dimension is open runs in pieces of `batch`."""
    name, output = open_batch(tmp_path / "open.onnx")
    folder = tmp_path / "models"
    folder.mkdir()
    server = Server(folder, {"open": (tmp_path / "open.onnx", {"device": "model", "batch": 4})})
    try:
        server.ready()
        module, client = client_of(server, "grpc")
        for n in 1, 3, 4, 9:
            assert ask(module, client, "open", image(n, n), name, output).tobytes() == each(n, n).tobytes()
    finally:
        server.stop()


def test_adaptive_batching(tmp_path):
    """MLServer puts requests together (max_batch_size, max_batch_time): fewer runs than requests, and each gets its own answer."""
    name, output = open_batch(tmp_path / "open.onnx")
    folder = tmp_path / "models"
    folder.mkdir()
    (folder / "counting.py").write_text(
        "from weft_serve import WeftModel\n\n\nclass Counting(WeftModel):\n    async def predict(self, payload):\n"
        f"        with open({str(tmp_path / 'sizes')!r}, 'a') as f:\n            print(payload.inputs[0].shape[0], file=f)\n"
        "        return await super().predict(payload)\n")
    server = Server(folder, {"open": (tmp_path / "open.onnx", {"device": "model", "batch": 8})}, "counting.Counting", max_batch_size=8, max_batch_time=0.2)
    want = [each(seed, 1).tobytes() for seed in range(16)]
    try:
        server.ready()

        def one():
            module, client = client_of(server, "grpc")

            def check(i):
                assert ask(module, client, "open", image(i % 16), name, output).tobytes() == want[i % 16], i
            return check

        all_requests(64, one)
        sizes = [int(line) for line in open(tmp_path / "sizes")]
        assert sum(sizes) == 64 and len(sizes) < 64 and max(sizes) > 1
    finally:
        server.stop()


def test_example():
    """The models of this folder, as README.md starts them."""
    http, grpc, metrics = free_ports(3)
    python = os.pathsep.join([os.path.join(HERE, ".."), os.environ.get("PYTHONPATH", "")])
    env = dict(os.environ, PYTHONPATH=python, MLSERVER_HTTP_PORT=str(http), MLSERVER_GRPC_PORT=str(grpc), MLSERVER_METRICS_PORT=str(metrics))
    p = subprocess.Popen([os.path.join(os.path.dirname(sys.executable), "mlserver"), "start", os.path.join(HERE, "..")], env=env)
    client = tritonclient.http.InferenceServerClient(f"127.0.0.1:{http}")
    try:
        for _ in range(PATIENCE):
            try:
                if client.is_model_ready("digits"):
                    break
            except Exception:
                pass
            assert p.poll() is None
            time.sleep(0.1)
        s = provider(os.path.join(MODELS, NETWORKS["qdq"]), "model")
        name, output = s.get_inputs()[0].name, s.get_outputs()[0].name
        assert ask(tritonclient.http, client, "digits", image(1), name, output).tobytes() == s.run(None, {name: image(1)})[0].tobytes()
    finally:
        p.terminate()
        p.wait(30)


def test_bad_settings(tmp_path):
    for extra, words in [({"colour": "red"}, "there is no parameter colour"), ({"device": "moon"}, 'option device: "moon" is not')]:
        folder = tmp_path / words[-4:].strip('" ')
        folder.mkdir()
        server = Server(folder, {"bad": (os.path.join(MODELS, NETWORKS["qdq"]), extra)})
        try:
            for _ in range(PATIENCE):
                if words in server.text() or server.process.poll() is not None:
                    break
                time.sleep(0.1)
            assert words in server.text()
        finally:
            server.stop()
