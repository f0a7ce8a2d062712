"""The constants of CPython's _testcapi, which many of its tests load for these."""
import struct


def limits(name, code):
    bits = 8 * struct.calcsize(code)
    top = 1 << (bits - 1)
    globals().update({f"{name}_MAX": top - 1, f"{name}_MIN": -top, f"U{name}_MAX": 2 * top - 1})


for each in (("CHAR", "b"), ("SHRT", "h"), ("INT", "i"), ("LONG", "l"), ("LLONG", "q")):
    limits(*each)
limits("PY_SSIZE_T", "n")
SIZEOF_PYGC_HEAD = 2 * struct.calcsize("P")
SIZEOF_TIME_T = 8
SIZEOF_WCHAR_T = 4
FLT_MAX, FLT_MIN = 3.4028234663852886e38, 1.1754943508222875e-38
DBL_MAX, DBL_MIN = 1.7976931348623157e308, 2.2250738585072014e-308
