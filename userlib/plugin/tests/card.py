# SPDX-License-Identifier: Apache-2.0
"""Simulated cards for the plugins' tests: WEFT_BUILD has weft-card and libweft."""
import contextlib
import ctypes
import os
import signal
import subprocess
import time


@contextlib.contextmanager
def card(folder, serial="WEFT0001", *options):
    """A card behind a socket, as (device, process): `usb:@...`; with more options of weft-card."""
    path = os.path.join(folder, f"{serial}.sock")
    p = subprocess.Popen([os.path.join(os.environ["WEFT_BUILD"], "weft-card"), "--listen", path, "--serial", serial, *options])
    try:
        while not os.path.exists(path):
            assert p.poll() is None, "weft-card has ended"
            time.sleep(0.02)
        yield f"usb:@{path}", p
    finally:
        p.terminate()
        p.wait()


@contextlib.contextmanager
def cards(folder, n, *options):
    """n cards, as (device, processes): a list of sockets behind `usb:`; with more options of weft-card."""
    with contextlib.ExitStack() as stack:
        found = [stack.enter_context(card(folder, f"CARD{i}", *options)) for i in range(n)]
        yield "usb:" + ",".join(device[len("usb:"):] for device, _ in found), [p for _, p in found]


@contextlib.contextmanager
def broker(folder, monkeypatch):
    """A card that a broker has, which WEFT_BROKER names; the path of the broker's socket."""
    path = os.path.join(folder, "broker.sock")
    with card(folder) as (device, _):
        p = subprocess.Popen([os.path.join(os.environ["WEFT_BUILD"], "weft-broker"), "--listen", path, "--card", device[len("usb:"):]], stderr=subprocess.DEVNULL)
        try:
            while not os.path.exists(path):
                assert p.poll() is None, "weft-broker has ended"
                time.sleep(0.02)
            monkeypatch.setenv("WEFT_BROKER", path)
            yield path
        finally:
            p.terminate()
            p.wait()


def pull(process):
    process.send_signal(signal.SIGUSR1)


def plugged_in(path, *serials):
    """Writes cards on the USB as umockdev-run takes them (--device=PATH): they can be found, and do not answer."""
    lib = ctypes.CDLL(os.path.join(os.environ["WEFT_BUILD"], "libweft.so.0"))
    lib.weft_usb_descriptor.restype = ctypes.c_void_p
    n, descriptors = ctypes.c_size_t(), ""
    for which in 0, 1:      # of the device and of its configuration, as the card has them
        at = lib.weft_usb_descriptor(which, ctypes.byref(n))
        descriptors += ctypes.string_at(at, n.value).hex().upper()
    with open(path, "w") as f:
        for k, serial in enumerate(serials, 2):
            f.write(f"P: /devices/pci0000:00/0000:00:14.0/usb1/1-{k}\nN: bus/usb/001/{k:03}={descriptors}\nE: DEVTYPE=usb_device\nE: DRIVER=usb\n"
                    f"E: BUSNUM=001\nE: DEVNUM={k:03}\nE: DEVNAME=/dev/bus/usb/001/{k:03}\nE: MAJOR=189\nE: MINOR={k - 1}\nE: SUBSYSTEM=usb\n"
                    f"A: bConfigurationValue=1\\n\nA: bNumConfigurations=1\\n\nA: busnum=1\\n\nA: devnum={k}\\n\nA: speed=480\\n\n"
                    f"A: serial={serial}\\n\nA: product=Weft NPU card\\n\nH: descriptors={descriptors}\n\n")
    return path
