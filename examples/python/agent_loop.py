"""The loop of an agent: a model proposes commands, the sandbox runs them.

The model here is a list; put yours in its place."""

from typing import Generator

from wasmsand import CommandResult, Sandbox

PLAN = [
    "mkdir -p project && cd project && git init -q",
    "printf 'def f(n):\\n    return n * 2\\n' >lib.py",
    "grep -n return lib.py",
    "cat missing.txt",
    "git add . && git -c user.name=a -c user.email=a@b commit -qm start",
    "git log --oneline | wc -l",
]


def model() -> Generator[str, CommandResult, None]:
    for command in PLAN:
        seen = yield command
        if not seen.ok:
            print("  (the model sees the error, and goes on)")


with Sandbox(timeout_ms=10_000, limits={"processes": 32}) as sb:
    agent = model()
    try:
        command = next(agent)
        while True:
            print(f"$ {command}")
            result = sb.commands.run(command)
            print((result.stdout + result.stderr).rstrip())
            command = agent.send(result)
    except StopIteration:
        pass
