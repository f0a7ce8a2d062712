"""Runs wasm-sandbox, as `python -m wasmsand` or as the script of that name."""

import os
import sys
from typing import NoReturn

from ._wire import server_command


def main() -> NoReturn:
    program = server_command()[0]
    os.execv(program, [program, *sys.argv[1:]])


if __name__ == "__main__":
    main()
