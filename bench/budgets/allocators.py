# SPDX-License-Identifier: MIT
"""Runs the allocator workloads on every allocator in turn, and compares times and peak memory.

Every block runs each workload once on each allocator, workloads and allocators in an order of
chance. A figure is the ratio of medians over the blocks; its interval comes from drawing the
blocks again (bootstrap), all workloads and allocators of a block together.
"""
import dataclasses
import glob
import math
import os
import pathlib
import random
import statistics
import subprocess
import sys
import time

NR_DRAWS = 1000
LIMIT_BYTES = 16 << 30


@dataclasses.dataclass(frozen=True)
class Allocator:
    name: str
    program: str = "alloc-bench"
    preload: str = ""
    arguments: tuple = ()
    command_line: str = ""


ALLOCATORS = (
    Allocator("mimalloc", preload="libmimalloc.so.2"),
    Allocator("again", preload="libmimalloc.so.2"),
    Allocator("glibc"),
    Allocator("je", preload="libjemalloc.so.2"),
    Allocator("tc", preload="libtcmalloc_minimal.so.4"),
    Allocator("nocomp", program="alloc-bench-notcompiled"),
    Allocator("off", program="alloc-bench-umemcg",
              arguments=("--max", str(LIMIT_BYTES)), command_line="cgroup_disable=memory"),
    Allocator("Unset", program="alloc-bench-umemcg"),
    Allocator("Set", program="alloc-bench-umemcg", arguments=("--max", str(LIMIT_BYTES))),
)
OTHERS = ("mimalloc", "glibc", "je", "tc")
LEGEND = """\
again: mimalloc once more. je, tc: jemalloc, tcmalloc. These account nothing.
nocomp, off, Unset, Set: umemcg built without its controller, switched off at start,
in no group, in a group with a limit."""


def find_library(name):
    found = sorted(glob.glob(f"/usr/lib/*/{name}") + glob.glob(f"/usr/lib/{name}") +
                   glob.glob(f"/usr/lib64/{name}"))
    return found[0] if found else None


def geometric_mean(values):
    """Through logarithms: a product of many ratios could overflow."""
    values = list(values)
    return math.exp(sum(math.log(value) for value in values) / len(values))


class Workloads:
    """The programs, and how to run one workload on one allocator."""

    def __init__(self, build, percent):
        self.folder = pathlib.Path(build) / "bench" / "allocator"
        self.percent = percent
        self.skipped = []
        self.allocators = [a for a in ALLOCATORS if self._usable(a)]

    def drop_failing(self, names):
        """Tries all once, which also brings programs and libraries into the page cache."""
        percent, self.percent = self.percent, 1
        for allocator in list(self.allocators):
            try:
                for workload in names:
                    self.run(workload, allocator)
            except RuntimeError as error:
                self.skipped.append(str(error))
                self.allocators.remove(allocator)
        self.percent = percent

    def _usable(self, allocator):
        program = self.folder / allocator.program
        if not program.exists():
            self.skipped.append(f"{allocator.name}: {program} is not built")
            return False
        if allocator.preload and not find_library(allocator.preload):
            self.skipped.append(f"{allocator.name}: {allocator.preload} is not installed")
            return False
        return True

    def names(self):
        listed = subprocess.run([self.folder / "alloc-bench", "--list"], check=True,
                                capture_output=True, text=True).stdout
        return [line.split()[0] for line in listed.splitlines()]

    def run(self, workload, allocator):
        environment = dict(os.environ)
        environment.pop("UMEMCG_CMDLINE", None)
        if allocator.preload:
            environment["LD_PRELOAD"] = find_library(allocator.preload)
        if allocator.command_line:
            environment["UMEMCG_CMDLINE"] = allocator.command_line
        command = [str(self.folder / allocator.program), "--percent", str(self.percent),
                   *allocator.arguments, workload]
        try:
            result = subprocess.run(command, env=environment, capture_output=True, text=True,
                                    check=False, timeout=60)
        except subprocess.TimeoutExpired as error:
            raise RuntimeError(f"{allocator.name} {workload}: not done in 60 s") from error
        if result.returncode != 0:
            raise RuntimeError(f"{allocator.name} {workload}: exit {result.returncode}: "
                               f"{result.stderr.strip()}")
        fields = dict(pair.split("=") for pair in result.stdout.split())
        return {"time": float(fields["elapsed_s"]),
                "cpu": float(fields["user_s"]) + float(fields["system_s"]),
                "rss": float(fields["peak_kib"])}


class Samples:
    """[workload][allocator] -> list of results, one a block."""

    def __init__(self, workloads, allocators):
        self.workloads = workloads
        self.allocators = allocators
        self.blocks = []

    def nr_blocks(self):
        return len(self.blocks)

    def has(self, allocator):
        return allocator in self.allocators

    def middle(self, workload, allocator, metric, drawn=None):
        blocks = self.blocks if drawn is None else drawn
        return statistics.median(block[workload, allocator][metric] for block in blocks)

    def ratio(self, workload, allocator, base, metric, drawn=None):
        return (self.middle(workload, allocator, metric, drawn) /
                self.middle(workload, base, metric, drawn))

    def mean_ratio(self, allocator, base, metric, drawn=None):
        return geometric_mean(self.ratio(workload, allocator, base, metric, drawn)
                              for workload in self.workloads)

    def interval(self, allocator, base, metric, seed=1):
        """The 95 % interval of mean_ratio()."""
        chance = random.Random(seed)
        means = sorted(self.mean_ratio(allocator, base, metric,
                                       chance.choices(self.blocks, k=len(self.blocks)))
                       for _ in range(NR_DRAWS))
        return means[NR_DRAWS * 25 // 1000], means[NR_DRAWS * 975 // 1000 - 1]

    def best_of_others(self, workload, metric):
        return min((self.middle(workload, other, metric), other)
                   for other in OTHERS if self.has(other))


def measure(workloads, names, seconds, least_blocks, seed, progress=sys.stderr.isatty()):
    """Runs whole blocks until the time is up, at least so many."""
    chance = random.Random(seed)
    samples = Samples(names, [a.name for a in workloads.allocators])
    start = time.monotonic()
    longest = 0.0
    while (samples.nr_blocks() < least_blocks or
           time.monotonic() - start + longest <= seconds):
        block_start = time.monotonic()
        block = {}
        for workload in chance.sample(names, len(names)):
            for allocator in chance.sample(workloads.allocators, len(workloads.allocators)):
                if progress:
                    print(f"\r\033[Kblock {samples.nr_blocks() + 1}: {workload} on "
                          f"{allocator.name}, {time.monotonic() - start:.0f} of {seconds} s",
                          end="", file=sys.stderr, flush=True)
                block[workload, allocator.name] = workloads.run(workload, allocator)
        samples.blocks.append(block)
        longest = max(longest, time.monotonic() - block_start)
    if progress:
        print("\r\033[K", end="", file=sys.stderr)
    return samples


def ratio_table(samples, metric, title):
    """Ratios to mimalloc as text, a workload a row, 80 columns at most."""
    columns = [name for name in samples.allocators if name != "mimalloc"]
    unit, scale = ("ms", 1e3) if metric != "rss" else ("MiB", 1 / 1024)
    lines = [title, f"{'':<9}{unit:>6}" + "".join(f"{name:>8}" for name in columns)]
    for workload in samples.workloads:
        base = samples.middle(workload, "mimalloc", metric) * scale
        lines.append(f"{workload:<9}{base:>6.0f}" + "".join(
            f"{samples.ratio(workload, name, 'mimalloc', metric):>8.2f}" for name in columns))
    intervals = [samples.interval(name, "mimalloc", metric) for name in columns]
    lines.append(f"{'geometric mean':<15}" + "".join(
        f"{samples.mean_ratio(name, 'mimalloc', metric):>8.3f}" for name in columns))
    lines.append(f"{'95 %, from':<15}" + "".join(f"{low:>8.3f}" for low, _ in intervals))
    lines.append(f"{'      to':<15}" + "".join(f"{high:>8.3f}" for _, high in intervals))
    return lines
