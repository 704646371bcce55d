# SPDX-License-Identifier: Apache-2.0
"""Weft's execution provider for ONNX Runtime 1.23 and later.

    import onnxruntime as ort, weft_onnxruntime as weft

    ort.register_execution_provider_library("weft", weft.get_library_path())
    devices = [d for d in ort.get_ep_devices() if d.ep_name == weft.get_ep_name()]
"""
import pathlib


def get_library_path():
    """The provider's library, for register_execution_provider_library()."""
    return str(pathlib.Path(__file__).resolve().parent / "lib" / "libweft_ort_ep.so")


def get_ep_name():
    """The provider's name."""
    return "WeftExecutionProvider"


def get_ep_names():
    """The names of the library's providers."""
    return [get_ep_name()]
