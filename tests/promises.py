# SPDX-License-Identifier: MIT
"""Promises: tests whose names say what is promised. They are reported in cmocka's words, so that
tests/run-tests counts each by itself."""

import functools
import traceback
import unittest


class Skip(Exception):
    """Why a promise cannot be tested here."""


def keep(promises):
    """Tests one after the other; the exit status."""
    nr_failed = 0
    for promise in promises:
        name = promise.__name__
        print("[ RUN      ] " + name, flush=True)
        try:
            promise()
            print("[       OK ] " + name, flush=True)
        except Skip as reason:
            print("%s\n[  SKIPPED ] %s" % (reason, name), flush=True)
        except Exception:
            print(traceback.format_exc() + "[  FAILED  ] " + name, flush=True)
            nr_failed += 1
    return 1 if nr_failed else 0


def of_case(case):
    """The tests of a unittest.TestCase, each a promise."""
    def promise(name):
        @functools.wraps(getattr(case, name))
        def run():
            result = unittest.TestResult()
            case(name).run(result)
            for _, fault in result.failures + result.errors:
                raise AssertionError(fault)
            for _, reason in result.skipped:
                raise Skip(reason)
        return run

    return [promise(name) for name in unittest.TestLoader().getTestCaseNames(case)]
