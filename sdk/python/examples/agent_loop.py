"""The loop of an agent: a model proposes commands, the sandbox runs them.

The model here is a list; put yours in its place."""

from typing import Iterator, Optional

from wasmsand import CommandResult, Sandbox

PLAN = [
    "mkdir -p project && cd project && git init -q",
    "printf 'def f(n):\\n    return n * 2\\n' >lib.py",
    "grep -n return lib.py",
    "cat missing.txt",
    "git add . && git -c user.name=a -c user.email=a@b commit -qm start",
    "git log --oneline | wc -l",
]


def model() -> Iterator[str]:
    for command in PLAN:
        seen: Optional[CommandResult] = yield command  # type: ignore[misc]
        if seen and not seen.ok:
            print("  (the model sees the error, and goes on)")


with Sandbox(timeout_ms=10_000, limits={"processes": 32}) as sb:
    agent = model()
    command: Optional[str] = next(agent)
    while command:
        print(f"$ {command}")
        result = sb.commands.run(command)
        print((result.stdout + result.stderr).rstrip())
        try:
            command = agent.send(result)  # type: ignore[attr-defined]
        except StopIteration:
            command = None
