# SPDX-License-Identifier: MIT
"""Unmodified programs at a limit: `umemcg run` in a tree of the test's own, what the kernel saw of
their memory meanwhile, and what the account says afterwards. A script holds promises, functions that
say in their names what is promised; each is reported as a test of its own."""

import atexit
import collections
import ctypes
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

BUILD = os.environ["UMEMCG_BUILD"]
SOURCE = os.environ["UMEMCG_SOURCE"]
COMMAND = os.path.join(BUILD, "umemcg")

sys.path[:0] = [os.path.join(SOURCE, "examples", "postgres"), os.path.join(SOURCE, "tests")]
import promises
import resident
from promises import Skip

# A program that takes longer hangs, however busy the machine is.
RUN_TIMEOUT_S = 120
MIB = 1 << 20
PR_SET_CHILD_SUBREAPER = 36

# A tree lies in memory where it can.
SCRATCH = tempfile.mkdtemp(prefix="umemcg-test-run-",
                           dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
TREE = "test"

Run = collections.namedtuple("Run", "command status out err lines peak resident")


def scratch(name):
    return os.path.join(SCRATCH, name)


def need(program, package=None):
    """Path of a program; where it is missing its promise is skipped."""
    path = shutil.which(program)
    if not path:
        raise Skip("%s is not installed (package %s)" % (program, package or program))
    return path


def kept(size):
    """What heaps may keep of freed memory, at a limit."""
    return nr_bytes(size) // resident.KEPT_PART


def built(name):
    """A program of this folder."""
    return os.path.join(BUILD, "tests", "programs", "limited-" + name)


def hog(nr_mib, step=MIB):
    """A Python program that asks for so much, a step at a time, and says if it got it all. It is
    bounded, so that a limit that does not hold spares the machine."""
    return [sys.executable, "-c",
            "held = []\n"
            "for _ in range(%d): held.append(bytearray(%d))\n"
            "print('unlimited')" % (nr_mib * MIB // step, step)]


class Tree:
    """Lives as long as its keeper, a process in it that waits for the end of its input."""

    def __init__(self):
        self.keeper = None
        self.nr_groups = 0

    def ready(self):
        if self.keeper:
            return
        with open(scratch("keeper-err"), "wb") as err:
            self.keeper = subprocess.Popen(
                [COMMAND, "run", "--tree", TREE, "--group", "/keeper", "--", "cat"],
                env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=err)
        # What comes back has gone through a program that runs.
        self.keeper.stdin.write(b"ready\n")
        self.keeper.stdin.flush()
        assert self.keeper.stdout.readline() == b"ready\n", "the keeper of the tree does not run"

    def read(self, path, name):
        """A number out of a control file."""
        got = subprocess.run([COMMAND, "get", "--tree", TREE, path, name], env=environment(),
                             capture_output=True, text=True)
        assert got.returncode == 0, "get %s %s: %s" % (path, name, got.stderr)
        return int(got.stdout)

    def check_empty(self):
        """Whoever has ended is charged for nothing any more, at once."""
        if not self.keeper:
            return
        left = self.read("/", "memory.current") - self.read("/keeper", "memory.current")
        assert left == 0, "%d bytes are still charged" % left

    def forget(self):
        """Removes its file; the next run makes a tree of the same name, with another keeper."""
        os.unlink(scratch("umemcg." + TREE))
        self.end()

    def end(self):
        if self.keeper:
            self.keeper.stdin.close()
            self.keeper.wait()
            self.keeper.stdout.close()
            self.keeper = None


tree = Tree()


def environment(**changes):
    """That of runs; a change to None unsets."""
    values = dict(os.environ, XDG_RUNTIME_DIR=SCRATCH, TMPDIR=SCRATCH, LC_ALL="C.UTF-8")
    values.update(changes)
    return {name: value for name, value in values.items() if value is not None}


def nr_bytes(size):
    return int(size[:-1]) << {"K": 10, "M": 20, "G": 30}[size[-1]]


def prefix(size, group, options=()):
    return [COMMAND, "run", "--tree", TREE, "--group", group, "--max", size,
            "--summary=" + scratch("summary.json"), *options, "--"]


class Started:
    """A program that runs at a limit, for finish(), which holds it to what is promised to all."""

    def __init__(self, size, *command, options=(), stdin=None, env=None, cwd=None,
                 unseen=resident.UNSEEN_BYTES):
        tree.ready()
        tree.nr_groups += 1
        self.size, self.command = size, command
        self.group = "/run-%d" % tree.nr_groups
        for name in "out", "err":
            setattr(self, name, scratch("%s-%d" % (name, tree.nr_groups)))
        with open(self.out, "wb") as out, open(self.err, "wb") as err:
            self.process = subprocess.Popen(
                [*prefix(size, self.group, options), *command], stdout=out, stderr=err,
                stdin=subprocess.DEVNULL if stdin is None else stdin,
                env=env or environment(), cwd=cwd or SCRATCH, start_new_session=True)
        self.witness = resident.Witness(self.process.pid, unseen)
        self.witness.start()

    def printed(self, name):
        with open(getattr(self, name), encoding="utf-8", errors="replace") as file:
            return file.read()

    def finish(self, timeout_s=RUN_TIMEOUT_S, slack=0):
        """@slack: bytes that may be resident above the limit: of an account that is approximate, or
        of what was freed."""
        try:
            self.process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            self.end()
            raise AssertionError("%s: not done in %d s\n%s" % (
                self.command[0], timeout_s, self.printed("err"))) from None
        finally:
            self.witness.end()
        err = self.printed("err")
        run = Run(self.command, self.process.returncode, self.printed("out"), err,
                  # A program may be in the midst of a line of its own.
                  re.findall(r"umemcg(?: run)?: .*", err),
                  self._peak(), self.witness.peak)
        for name in self.out, self.err:
            os.unlink(name)
        limit = nr_bytes(self.size)
        assert self.witness.peak_seen <= limit + slack, "%.1f MiB resident at a limit of %s\n%s" % (
            self.witness.peak / MIB, self.size, shown(run))
        assert run.peak is None or run.peak <= limit, "peak %d at a limit of %s" % (
            run.peak, self.size)
        self._check_nobody_left()
        tree.check_empty()
        return run

    def _peak(self):
        with open(scratch("summary.json"), encoding="utf-8") as file:
            peak = json.load(file)["peak"]
        os.unlink(scratch("summary.json"))
        return peak

    def _check_nobody_left(self):
        left = stragglers()
        names = []
        for pid in left:
            try:
                with open("/proc/%d/cmdline" % pid, encoding="utf-8", errors="replace") as file:
                    names.append(file.read().replace("\0", " "))
                os.kill(pid, signal.SIGKILL)
            except OSError:
                continue
        reap()
        assert not names, "still running: %s" % "; ".join(names)

    def end(self):
        """Ends it and all below it, by number."""
        for pid in resident.below(self.process.pid):
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                continue
        self.process.wait()


def is_keepers(pid):
    """The keeper of the tree, what watches over it, or the program that it runs?"""
    if tree.keeper and pid in resident.below(tree.keeper.pid):
        return True
    try:
        with open("/proc/%d/cmdline" % pid, "rb") as file:
            return b"\0/keeper\0" in file.read()
    except OSError:
        return False


def stragglers():
    """Descendants that a run has left: the test adopts them."""
    end_s = time.monotonic() + 5
    while True:
        reap()
        left = [pid for pid in resident.below(os.getpid())[1:] if not is_keepers(pid)]
        if not left or time.monotonic() > end_s:
            return left
        # What has been told to end may take its time.
        time.sleep(0.01)


def reap():
    """Collects adopted children; those that somebody waits for are left alone."""
    keeper = tree.keeper.pid if tree.keeper else 0
    for pid in resident.below(os.getpid())[1:]:
        if pid != keeper:
            try:
                os.waitpid(pid, os.WNOHANG)
            except ChildProcessError:
                continue


def shown(run):
    return "%s: exit status %s\n---- standard error\n%.3000s\n---- standard output\n%.1000s" % (
        " ".join(run.command)[:200], run.status, run.err, run.out)


def run(size, *command, status=None, timeout_s=RUN_TIMEOUT_S, slack=0, **keywords):
    """Runs a program at a limit to its end."""
    done = Started(size, *command, **keywords).finish(timeout_s, slack)
    expected = status if isinstance(status, tuple) else (status,)
    assert status is None or done.status in expected, "expected exit status %s; %s" % (
        " or ".join(map(str, expected)), shown(done))
    return done


def check_refused(done, *, names=None):
    """A line says who was refused."""
    assert done.lines, "no line of umemcg's; " + shown(done)
    assert not names or any(names in line for line in done.lines), \
        "no line names %s; %s" % (names, shown(done))


def await_that(condition, what, timeout_s=RUN_TIMEOUT_S):
    """Looks again until it is so; that it takes longer than that is a fault."""
    end_s = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < end_s, "%s: not within %d s" % (what, timeout_s)
        time.sleep(0.02)


def why_not():
    """Why nothing can be run here, or None."""
    help_text = subprocess.run([COMMAND, "run", "--help"], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    return "this umemcg has no verb run" if help_text.returncode != 0 else None


def clean_up():
    tree.end()
    for pid in resident.below(os.getpid())[1:]:
        try:
            os.kill(pid, signal.SIGKILL)
        except OSError:
            continue
    reap()
    shutil.rmtree(SCRATCH, ignore_errors=True)


def keep(*kept_promises):
    """Tests promises; ends the script. Promises that are named as arguments are tested alone."""
    atexit.register(clean_up)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    why = why_not()
    if why:
        print("SKIP: " + why)
        sys.exit(77)
    # Orphans of a run become ours, so that they can be seen.
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    chosen = [one for one in kept_promises if not sys.argv[1:] or one.__name__ in sys.argv[1:]]
    sys.exit(promises.keep(chosen))
