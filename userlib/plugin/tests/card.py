# SPDX-License-Identifier: Apache-2.0
"""A simulated card for the plugins' tests: WEFT_BUILD has weft-card."""
import contextlib
import os
import signal
import subprocess
import time


@contextlib.contextmanager
def card(folder, serial="WEFT0001"):
    """A card behind a socket, as (device, process): `usb:@...`."""
    path = os.path.join(folder, f"{serial}.sock")
    p = subprocess.Popen([os.path.join(os.environ["WEFT_BUILD"], "weft-card"), "--listen", path, "--serial", serial])
    try:
        while not os.path.exists(path):
            assert p.poll() is None, "weft-card has ended"
            time.sleep(0.02)
        yield f"usb:@{path}", p
    finally:
        p.terminate()
        p.wait()


@contextlib.contextmanager
def cards(folder, n):
    """n cards, as (device, processes): a list of sockets behind `usb:`."""
    with contextlib.ExitStack() as stack:
        found = [stack.enter_context(card(folder, f"CARD{i}")) for i in range(n)]
        yield "usb:" + ",".join(device[len("usb:"):] for device, _ in found), [p for _, p in found]


def pull(process):
    process.send_signal(signal.SIGUSR1)
