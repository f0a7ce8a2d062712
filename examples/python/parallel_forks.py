"""Explores variants of one state side by side, and keeps the best."""

from concurrent.futures import ThreadPoolExecutor

from wasmsand import Sandbox

with Sandbox() as sb:
    sb.commands.run("cd /workspace; seq 100000 | sort -R >data", check=True)

    def try_level(level: int) -> "tuple[int, int]":
        with sb.fork() as variant:
            r = variant.commands.run(f"gzip -{level} data; stat -c %s data.gz",
                                     check=True)
            return int(r.stdout), level

    with ThreadPoolExecutor() as pool:
        results = sorted(pool.map(try_level, range(1, 10)))
    for size, level in results:
        print(f"gzip -{level}: {size} bytes")
    print(sb.commands.run("ls").stdout, end="")
