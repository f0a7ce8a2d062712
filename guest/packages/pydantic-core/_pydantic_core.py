"""The compiled part is a built-in module of the interpreter, by a name of its own:
built-in modules belong to no package."""
import sys

import _pydantic_core

sys.modules[__name__] = _pydantic_core
