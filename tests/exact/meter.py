# SPDX-License-Identifier: MIT
"""The exact meter as a user meets it: runs of `umemcg bench -m exact`, what they leave, and their
results. A script holds promises, functions that say in their names what is promised; each is
reported as a test of its own."""

import atexit
import collections
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback

BUILD = os.environ["UMEMCG_BUILD"]
SOURCE = os.environ["UMEMCG_SOURCE"]
COMMAND = os.path.join(BUILD, "umemcg")

# A run that takes longer hangs, however busy the machine is.
RUN_TIMEOUT_S = 600

SCRATCH = tempfile.mkdtemp(prefix="umemcg-test-exact-")
# What is left behind in these is this test's own, and so is what is known of kernels.
TEMPORARY = os.path.join(SCRATCH, "tmp")
CACHE = os.path.join(SCRATCH, "cache")

Run = collections.namedtuple("Run", "arguments status out err cpu_s wall_s")


class Skip(Exception):
    """Why a promise cannot be tested here."""


def scratch(name):
    return os.path.join(SCRATCH, name)


def environment(**changes):
    """That of runs; a change to None unsets."""
    values = dict(os.environ, TMPDIR=TEMPORARY, XDG_CACHE_HOME=CACHE)
    values.update(changes)
    return {name: value for name, value in values.items() if value is not None}


def listed():
    """What there is, as the command says."""
    return subprocess.run([COMMAND, "bench", "--list"], capture_output=True, text=True,
                          check=True).stdout


def why_not():
    """Why nothing can be measured here, or None."""
    if not os.access(os.path.join(BUILD, "umemcg-bench-guest"), os.X_OK):
        return "this build has no guest (sanitizers, or not x86-64)"
    meter = re.search(r"^  exact .*(?:\n {10,}\S.*)+", listed(), re.MULTILINE).group(0)
    found = re.search(r" not here: (.*)", " ".join(meter.split()))
    return found.group(1) if found else None


def kernel():
    """Path of the kernel that is booted when none is named."""
    return re.search(r"found: QEMU \S+; kernel (\S.*)", listed()).group(1)


def guests():
    """Emulators that run for this test: their arguments name its folder."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/cmdline" % name, "rb") as file:
                words = file.read().decode(errors="replace").split("\0")
        except OSError:
            continue
        if "qemu" in os.path.basename(words[0]) and any(SCRATCH in word for word in words):
            found.append((int(name), words))
    return found


def await_that(condition, what, timeout_s=120):
    """Looks again until it is so; that it takes longer than that is a fault."""
    end_s = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < end_s, "%s: not within %d s" % (what, timeout_s)
        time.sleep(0.05)


def check_nothing_left():
    left = os.listdir(TEMPORARY)
    assert not left, "left behind in the temporary directory: %s" % " ".join(left)
    assert not guests(), "an emulator still runs: %s" % guests()


def start(*arguments, prefix=(), env=None):
    """Starts `umemcg bench` with what it prints in files, for finish()."""
    command = [*prefix, COMMAND, "bench", *arguments]
    out, err = open(scratch("out"), "wb"), open(scratch("err"), "wb")
    with out, err:
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                env=env or environment(), cwd=SCRATCH)


def printed(name):
    with open(scratch(name), encoding="utf-8") as file:
        return file.read()


def bench(*arguments, status=0, prefix=(), env=None, processors=None):
    """Runs `umemcg bench` to its end, which leaves nothing behind. The time of processors is that
    of its guests as well."""
    everywhere = os.sched_getaffinity(0)
    before, begin_s = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    # Inherited, so that nothing has to run between fork and exec.
    os.sched_setaffinity(0, processors or everywhere)
    try:
        process = start(*arguments, prefix=prefix, env=env)
    finally:
        os.sched_setaffinity(0, everywhere)
    try:
        process.wait(RUN_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)
        process.wait(60)
        raise
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    run = Run(arguments, process.returncode, printed("out"), printed("err"),
              after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
              time.monotonic() - begin_s)
    assert status is None or run.status == status, "umemcg bench %s: exit status %d\n%s%s" % (
        " ".join(arguments), run.status, run.err, run.out)
    check_nothing_left()
    return run


def measure(*arguments, **keywords):
    """An exact run, and its result."""
    path = scratch("result.json")
    if os.path.exists(path):
        os.unlink(path)
    run = bench("-m", "exact", "--json", path, *arguments, **keywords)
    with open(path, encoding="utf-8") as file:
        return run, json.load(file)


def compare(*arguments):
    run = subprocess.run([COMMAND, "compare", *arguments], capture_output=True, text=True)
    assert run.returncode == 0, "umemcg compare %s: exit status %d\n%s" % (
        " ".join(arguments), run.returncode, run.stderr)
    return run.stdout


def refuse(*arguments, names, **keywords):
    """One line on standard error says what is wrong, and nothing else is printed."""
    run = bench(*arguments, status=2, **keywords)
    assert run.out == "", "standard output is not empty:\n" + run.out
    assert run.err.count("\n") == 1 and run.err.endswith("\n"), "not one line:\n" + run.err
    for name in names:
        assert name in run.err, "the line lacks %r: %s" % (name, run.err)


def samples(result, workload, config, metric, **params):
    """Of the one series that is asked for; None if there is none."""
    name = (workload, config, metric)
    found = [s["samples"] for s in result["series"]
             if (s["workload"], s["config"], s["metric"]) == name
             and params.items() <= s["params"].items()]
    assert len(found) <= 1, "%s %s: %d series" % (name, params, len(found))
    return found[0] if found else None


def median(values):
    return sorted(values)[len(values) // 2]


def counts(result):
    """All that was counted, and what of: the same in every repetition."""
    series = [(s["workload"], s["target"], s["config"], sorted(s["params"].items()), s["metric"],
               s["operations"], s["samples"]) for s in result["series"]]
    return {"series": series, "profiles": result["profiles"]}


def check_same(first, other, what):
    for kind in first:
        for a, b in zip(first[kind], other[kind]):
            assert a == b, "%s counted otherwise:\n%.2000s\n%.2000s" % (what, a, b)
        assert len(first[kind]) == len(other[kind]), "%s counted less, or more" % what


def clean_up():
    for pid, _ in guests():
        os.kill(pid, signal.SIGKILL)
    shutil.rmtree(SCRATCH, ignore_errors=True)


def keep(*promises):
    """Tests promises one after the other, in cmocka's words; ends the script."""
    atexit.register(clean_up)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    why = why_not()
    if why:
        print("SKIP: " + why)
        sys.exit(77)
    found = kernel()
    os.makedirs(os.path.join(CACHE, "umemcg"), 0o700)
    if not found.startswith("/boot/"):
        # Downloaded before, for the user: the runs have a cache of their own.
        os.symlink(found, os.path.join(CACHE, "umemcg", os.path.basename(found)))
    nr_failed = 0
    for promise in promises:
        name = promise.__name__
        print("[ RUN      ] " + name, flush=True)
        # What one promise leaves is not the next one's fault.
        shutil.rmtree(TEMPORARY, ignore_errors=True)
        os.mkdir(TEMPORARY)
        try:
            promise()
            print("[       OK ] " + name)
        except Skip as reason:
            print("%s\n[  SKIPPED ] %s" % (reason, name))
        except Exception:
            traceback.print_exc(file=sys.stdout)
            print("[  FAILED  ] " + name)
            nr_failed += 1
        sys.stdout.flush()
    sys.exit(1 if nr_failed else 0)
