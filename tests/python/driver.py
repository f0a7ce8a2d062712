"""driver.py NAME [PATTERN...]: runs test.NAME of CPython's suite, in a folder of
its own, but not the tests that match a pattern.

Prints a line for each test, at once, so that what ran before a crash is known:
a word for the outcome, a tab, and the test's name. Where fork does not work,
tests that are marked as needing it are skipped. Others that fail for want of
it, or of a module or of foreign calls that are left out on purpose, have the
outcome `lacks`.
"""
import fnmatch
import os
import sys
import tempfile
import unittest

from test import support

LACKS = ("OSError: [Errno 38] Function not implemented",
         "ValueError: cannot find context for 'fork",
         "No module named '_test",
         "No module named \\'_test",
         "requires _testcapi",
         "module '_testcapi' has no attribute",
         "module '_testinternalcapi' has no attribute",
         "from '_testcapi' (",
         "from '_testinternalcapi' (",
         # of ctypes: foreign calls
         "OSError: Dynamic loading not supported",
         "Error: Symbol not found: ",
         "NotImplementedError: callbacks need functions made at run time")


class Result(unittest.TestResult):
    def say(self, word, test):
        sys.__stdout__.write(f"@{word}\t{test.id()}\n")
        sys.__stdout__.flush()

    def say_failed(self, test, text):
        lacks = any(line in text for line in LACKS)
        self.say("lacks" if lacks else "failed", test)
        sys.__stderr__.write(text)

    def addSuccess(self, test):
        self.say("ok", test)

    def addError(self, test, err):
        super().addError(test, err)
        self.say_failed(test, self.errors[-1][1])

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.say_failed(test, self.failures[-1][1])

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.say("skipped", test)

    def addExpectedFailure(self, test, err):
        self.say("ok", test)

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        self.say("failed", test)

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            found = self.failures if issubclass(err[0], test.failureException) \
                else self.errors
            self.say_failed(test, found[-1][1])


def look_around():
    try:
        pid = os.fork()
        if pid == 0:
            os._exit(0)
        os.waitpid(pid, 0)
    except OSError:
        support.has_fork_support = False
    sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "modules"))
    # Natively, the tests of unittest are not installed.
    tests = os.path.dirname(os.path.realpath(support.__path__[0]))
    unittest.__path__.append(os.path.join(os.path.dirname(tests), "unittest"))


def without(suite, patterns):
    """The same tests, but for those that match a pattern."""
    rest = []
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            rest.append(without(test, patterns))
        elif not any(fnmatch.fnmatchcase(test.id(), p) for p in patterns):
            rest.append(test)
    return type(suite)(rest)


def main(name, patterns):
    support.use_resources = []
    look_around()
    sys.argv = ["driver"]
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            try:
                suite = unittest.defaultTestLoader.loadTestsFromName(f"test.{name}")
            except unittest.SkipTest as reason:
                print(f"@skipped\ttest.{name}: {reason}", flush=True)
                return
            result = Result()
            support._run_suite = lambda suite: without(suite, patterns).run(result)
            main_of = getattr(sys.modules.get(f"test.{name}"), "test_main", None)
            if callable(main_of):
                main_of()
            else:
                support._run_suite(suite)
            print("@end\t", flush=True)
        finally:
            os.chdir("/")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
