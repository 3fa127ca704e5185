#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
"""What `umemcg run` costs programs that know nothing of it, beside glibc's and mimalloc's heaps.

Every round runs each program once in each state, in an order of chance. A figure is the ratio of
medians over the rounds; its interval comes from drawing the rounds again (bootstrap).
"""

import argparse
import os
import pathlib
import random
import statistics
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "budgets"))
import allocators
import programs

BASE = "mimalloc"
STATES = (BASE, "again", "glibc", "umemcg")
MAX_BYTES = 16 << 30
RUN_BUDGET, START_BUDGET_MS = 1.03, 2.0
NR_DRAWS = 1000
# The second suffers less from other programs, and does not see who waits.
METRICS = {"time": "elapsed", "cpu": "user + system"}
LEGEND = """\
again: mimalloc once more, so its column is noise. umemcg: in a group of 16 GiB,
with the start of `umemcg run` itself. Below 1 is faster."""


class Unusable(Exception):
    """Why a state cannot be measured here."""


class State:
    """How a program's command and environment look in one state."""

    def __init__(self, name, build):
        self.prefix, self.environment = [], dict(os.environ)
        self.environment.pop("LD_PRELOAD", None)
        if name in (BASE, "again"):
            library = allocators.find_library("libmimalloc.so.2")
            if not library:
                raise Unusable("libmimalloc.so.2 is not installed (package libmimalloc2.0)")
            self.environment["LD_PRELOAD"] = library
        elif name == "umemcg":
            self.prefix = [os.path.join(build, "umemcg"), "run", "--max", str(MAX_BYTES), "--"]
            if not os.access(self.prefix[0], os.X_OK):
                raise Unusable("%s is not built" % self.prefix[0])


def states(build):
    found = {}
    for name in STATES:
        try:
            found[name] = State(name, build)
        except Unusable as reason:
            print("left out, %s: %s" % (name, reason))
    return found


def measure(found, work, nr_rounds, seed):
    """Rounds of times in seconds, by program and state."""
    chance, rounds = random.Random(seed), []
    for number in range(nr_rounds + 1):
        times = {}
        pairs = [(program, state) for program in work for state in found]
        for program, state in chance.sample(pairs, len(pairs)):
            if sys.stderr.isatty():
                print("\r\033[Kround %d of %d: %s on %s" % (number, nr_rounds, program, state),
                      end="", file=sys.stderr, flush=True)
            times[program, state] = work[program](found[state])
        # The first brings programs and libraries into the page cache.
        if number:
            rounds.append(times)
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr)
    return rounds


def table(samples, metric, title):
    columns = [name for name in samples.allocators if name != BASE]
    yield "%-16s%8s" % (title, "ms") + "".join("%12s" % name for name in columns)
    for program in samples.workloads:
        yield "%-16s%8.0f" % (program, 1e3 * samples.middle(program, BASE, metric)) + "".join(
            "%12.3f" % samples.ratio(program, name, BASE, metric) for name in columns)
    intervals = [samples.interval(name, BASE, metric) for name in columns]
    yield "%-24s" % "geometric mean" + "".join(
        "%12.3f" % samples.mean_ratio(name, BASE, metric) for name in columns)
    yield "%-24s" % "95 %, from" + "".join("%12.3f" % low for low, _ in intervals)
    yield "%-24s" % "      to" + "".join("%12.3f" % high for _, high in intervals)


def start_lines(rounds, found):
    """Milliseconds that a process takes from fork to its end when it does nothing."""
    def middle(state, drawn, program="start"):
        nr_processes = programs.NR_STARTS if program == "start" else 1
        return 1e3 / nr_processes * statistics.median(
            times[program, state]["time"] for times in drawn)

    yield "start and end of a process, ms: " + ", ".join(
        "%s %.2f" % (state, middle(state, rounds)) for state in found if state != "again")
    if "umemcg" not in found:
        return
    yield "`umemcg run` with such a process, ms: %.2f" % middle("umemcg", rounds, "run")
    chance = random.Random(1)
    draws = sorted(middle("umemcg", drawn) - middle("glibc", drawn) for drawn in (
        chance.choices(rounds, k=len(rounds)) for _ in range(NR_DRAWS)))
    added = middle("umemcg", rounds) - middle("glibc", rounds)
    yield "umemcg adds %.2f ms to glibc's (95 %%: %.2f to %.2f); budget %.0f ms: %s" % (
        added, draws[NR_DRAWS * 25 // 1000], draws[NR_DRAWS * 975 // 1000 - 1], START_BUDGET_MS,
        "ok" if added <= START_BUDGET_MS else "MISSED")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--build", default="build", metavar="DIR", help="where umemcg was built")
    parser.add_argument("--rounds", type=int, default=15, metavar="N", help="how often (15)")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="of the order")
    return parser.parse_args()


def main():
    options = arguments()
    if options.rounds < 1:
        print("preload.py: --rounds %d: 1 or more is accepted" % options.rounds, file=sys.stderr)
        return 2
    found = states(os.path.abspath(options.build))
    if BASE not in found:
        return 77
    with tempfile.TemporaryDirectory(prefix="umemcg-preload-") as folder:
        work, missing = programs.usable(folder)
        for reason in missing:
            print("left out, " + reason)
        started = {name: work.pop(name) for name in ("start", "run")}
        rounds = measure(found, {**work, **started}, options.rounds, options.seed)
    samples = allocators.Samples(list(work), list(found))
    samples.blocks = rounds
    print("On mimalloc, and ratios to it; %d rounds, seed %d" % (options.rounds, options.seed))
    for metric, title in METRICS.items():
        print("\n".join(table(samples, metric, title)))
        print()
    print(LEGEND)
    print("\n".join(start_lines(rounds, found)))
    if "umemcg" in found:
        for metric, title in METRICS.items():
            ratio = samples.mean_ratio("umemcg", BASE, metric)
            print("umemcg against mimalloc, %s: %.3f; budget %.2f: %s" % (
                title, ratio, RUN_BUDGET, "ok" if ratio <= RUN_BUDGET else "MISSED"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
