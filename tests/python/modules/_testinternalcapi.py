"""What CPython's tests ask of _testinternalcapi while they are loaded."""
import sys


def get_config():
    return {"code_debug_ranges": int("no_debug_ranges" not in sys._xoptions)}
