"""Gives the sandbox commands that are functions of this program."""

import json
from typing import List

from wasmsand import Sandbox

PRICES = {"apple": 3, "pear": 5}


def price(args: List[str], stdin: str) -> "tuple[str, int]":
    """price NAME...: the sum."""
    unknown = [a for a in args if a not in PRICES]
    if unknown:
        return f"unknown: {', '.join(unknown)}\n", 1
    return f"{sum(PRICES[a] for a in args)}\n", 0


def keys(args: List[str], stdin: str) -> str:
    """keys: of the JSON object on standard input."""
    return "\n".join(json.loads(stdin)) + "\n"


with Sandbox(extensions={"price": price, "keys": keys}) as sb:
    print(sb.commands.run("price apple pear").stdout, end="")
    print(sb.commands.run("price plum || echo status $?").stdout, end="")
    print(sb.commands.run("""echo '{"a":1,"b":2}' | keys | tac""").stdout,
          end="")
