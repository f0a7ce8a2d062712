"""A pytest plugin: the last line is `N passed, N failed`, as in all suites."""


def pytest_configure(config):
    config.addinivalue_line("markers", "long: runs in make check-long only")


def pytest_sessionfinish(session, exitstatus):
    if exitstatus == 5:  # no test was chosen
        session.exitstatus = 0


def pytest_unconfigure(config):
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter:
        count = {kind: len(found) for kind, found in reporter.stats.items()}
        failed = count.get("failed", 0) + count.get("error", 0)
        print(f"\n{count.get('passed', 0)} passed, {failed} failed")
