# SPDX-License-Identifier: Apache-2.0
"""Weft: compile quantised networks and run them on an open NPU.

    import weft
    with weft.Session("net.tflite", device="rtl", check=True) as s:
        y = s.run(x)              # numpy arrays in, numpy arrays out
        print(s.report.cycles, s.report.mismatches)

Devices are "golden" (the reference on the host), "model" (the functional model),
"rtl" (the Verilated hardware), "usb" (any free card, through the broker where there is one), "usb:SERIAL",
"usb:@SOCKET" (a simulated card), and several cards: "usb:*" (all that are free) or
a list such as "usb:WEFT0001,WEFT0002".
"""
from ._native import version
from .custom import CustomCall, CustomOp
from .device import Buffer, CardInfo, Device, JobResult, devices
from .errors import (BadInput, DeviceFault, DeviceLost, Mismatch, NotSupported, OutOfMemory, TimedOut, WeftError)
from .network import Network, Port, compile, convert
from .quantize import quantize
from .report import FirstMismatch, OperatorReport, Report
from .session import CardReport, Session

__all__ = [
    "BadInput", "Buffer", "CardInfo", "CardReport", "CustomCall", "CustomOp", "Device", "DeviceFault", "DeviceLost", "FirstMismatch", "JobResult", "Mismatch",
    "Network", "NotSupported", "OperatorReport", "OutOfMemory", "Port", "Report", "Session", "TimedOut", "WeftError",
    "compile", "convert", "devices", "quantize", "version",
]
__version__ = version()
