"""Parts of Python programs that run in a sandbox: rich results and the runner of cells."""
