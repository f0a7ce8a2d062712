"""A pytest plugin: the last line is `N passed, N failed`, as in all suites; a
test that hangs fails."""
import signal

import pytest

HANGS_S = 600  # longer than any takes, on whatever machine
LONG_HANGS_S = 3600


def pytest_configure(config):
    config.addinivalue_line("markers", "long: runs in make check-long only")


def over(*_):
    raise TimeoutError("the test hangs")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item):
    signal.signal(signal.SIGALRM, over)
    signal.alarm(LONG_HANGS_S if item.get_closest_marker("long") else HANGS_S)
    yield
    signal.alarm(0)


def pytest_sessionfinish(session, exitstatus):
    if exitstatus == 5:  # no test was chosen
        session.exitstatus = 0


def pytest_unconfigure(config):
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter:
        count = {kind: len(found) for kind, found in reporter.stats.items()}
        failed = count.get("failed", 0) + count.get("error", 0)
        print()
        if count.get("skipped"):
            print(f"{count['skipped']} skipped")
        print(f"{count.get('passed', 0)} passed, {failed} failed")
