#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures everything that has a budget, and prints each budget beside its measurement."""
import argparse
import dataclasses
import json
import os
import pathlib
import subprocess
import sys
import time

import allocators
import instructions


@dataclasses.dataclass
class Row:
    what: str
    budget: str  # as text, or "" for a figure without one
    measured: str
    verdict: str  # "ok", "MISSED", "-" or "not measured"
    detail: str = ""


def judge(what, sign, budget, measured, form="{:.2f}", unit="", detail="", interval=None):
    """One budget: @sign is '<=' or '>='. A mark says that the interval holds the budget."""
    kept = measured <= budget if sign == "<=" else measured >= budget
    verdict = "ok" if kept else "MISSED"
    if interval:
        detail = f"95 %: {interval[0]:.3f} to {interval[1]:.3f}" + (detail and "; " + detail)
        if interval[0] < budget < interval[1]:
            verdict += " ?"
    return Row(what, f"{sign} {budget:g}{unit}", form.format(measured) + unit, verdict, detail)


def not_measured(what, why):
    return Row(what, "", "", "not measured", why)


class Probes:
    """budget-probe, whose every probe runs in a process of its own."""

    def __init__(self, build):
        self.folder = pathlib.Path(build) / "bench" / "budgets"
        self.values = {}

    def run(self, name, number=None, prefix="", program="budget-probe"):
        """Its values, or the reason why there are none."""
        command = [str(self.folder / program), name] + ([str(number)] if number else [])
        try:
            result = subprocess.run(command, capture_output=True, text=True, check=False,
                                    timeout=180)
        except (OSError, subprocess.TimeoutExpired) as error:
            return None, str(error)
        if result.returncode == 77:
            return None, result.stdout.strip().removeprefix("SKIP: ")
        if result.returncode != 0:
            return None, f"exit {result.returncode}: {result.stderr.strip()}"
        values = {key: float(value) for key, value in
                  (line.split("=") for line in result.stdout.splitlines())}
        self.values.update({prefix + key: value for key, value in values.items()})
        return values, None

    def rows(self, quick):
        few = 10
        many = 100000 if quick else 1000000
        yield from self.fast_path_rows()
        yield from self.row("scaling", lambda v: [self.scaling_row(v)])
        for number in (few, many):
            yield from self.row("groups", lambda v, n=number: self.group_rows(v, n), number,
                                f"{number:g} groups: ")
        yield from self.row("cgroups", lambda v: [
            Row("mkdir + rmdir of a kernel cgroup", "",
                f"{v['kernel_mkdir_us'] + v['kernel_rmdir_us']:.1f} us", "-")])
        yield from self.row("tags", lambda v: [
            judge("10^4 groups of ten 64-byte objects against one group", "<=", 1.3,
                  v["tags_ratio"], unit="x RSS",
                  detail=f"{v['tags_many_groups_mib']:.1f} against "
                         f"{v['tags_one_group_mib']:.1f} MiB; without the groups themselves "
                         f"{v['tags_objects_ratio']:.2f}x")])
        yield from self.row("hammer", lambda v: [
            judge("overshoot of max", "<=", 0, v["hammer_overshoot_bytes"], "{:.0f}", " bytes",
                  f"{v['hammer_rounds']:.0f} rounds of 4 threads"),
            judge("false refusals", "<=", 0, v["hammer_false_refusals"], "{:.0f}")])
        yield from self.row("refusal", lambda v: [
            judge("a refusal, with 10^5 siblings", "<=", 20, v["refusal_us"], unit=" us",
                  detail=f"99 %: {v['refusal_us_99_percent']:.1f} us")])
        yield from self.row("files", lambda v: [
            judge("reading every file of 10^4 groups", "<=", 50, v["files_ms"], "{:.1f}", " ms",
                  f"{v['files_each']:.0f} files each")])

    def row(self, name, rows_of, number=None, prefix=""):
        values, why_not = self.run(name, number, prefix)
        return rows_of(values) if values else [not_measured(f"probe {name}", why_not)]

    def fast_path_rows(self):
        """Statically linked, and beside it through the shared library."""
        for name, what, budget, key in (
                ("enter", "umemcg_enter to another group and back", 3, "enter_pair_ns"),
                ("charge", "try_charge + uncharge from the stock", 5, "charge_pair_ns_depth_1")):
            values, why_not = self.run(name, program="budget-probe-static")
            shared, _ = self.run(name, prefix="shared_")
            if not values:
                yield not_measured(what, why_not)
                continue
            detail = f"through the shared library: {shared[key]:.2f} ns" if shared else ""
            yield judge(what, "<=", budget, values[key], unit=" ns", detail=detail)
            if name == "charge":
                yield judge("the same at depth 16 against depth 1", "<=", 1.05,
                            values["charge_depth_ratio"], "{:.3f}", "x")

    @staticmethod
    def scaling_row(values):
        what = "2 threads in one limited group against one"
        machine = f"the machine itself, without allocating: {values['scaling_machine']:.2f}x"
        if values["scaling_machine"] < 1.9:
            return not_measured(what, f"{values['scaling_2_threads']:.2f}x, but {machine}")
        return judge(what, ">=", 1.9, values["scaling_2_threads"], unit="x", detail=machine)

    @staticmethod
    def group_rows(values, number):
        return [
            judge(f"create + destroy a group, at {number:g}", "<=", 2,
                  values["group_create_us"] + values["group_destroy_us"], unit=" us"),
            judge(f"memory of a group, at {number:g}", "<=", 512, values["group_bytes"],
                  "{:.0f}", " bytes")]


def instruction_rows(counts):
    return [judge(what, "<=", budget, measured, "{:+.2f}" if "over" in what else "{:.2f}",
                  " instr", detail)
            for what, budget, measured, detail in instructions.budget_rows(counts)]


def allocator_rows(samples, clock):
    def mean(what, sign, budget, name, base, metric=clock, invert=False):
        pair = (base, name) if invert else (name, base)
        return judge(what, sign, budget, samples.mean_ratio(*pair, metric), "{:.3f}", "x",
                     interval=samples.interval(*pair, metric))

    def worst():
        return max((samples.middle(workload, "Set", clock) / best, workload, other)
                   for workload in samples.workloads
                   for best, other in [samples.best_of_others(workload, clock)])

    if samples.has("nocomp") and samples.has("Set"):
        for name in ("off", "Unset", "Set"):
            yield mean(f"allocator workloads, {name} over not compiled", "<=", 1.02, name,
                       "nocomp")
    if not samples.has("Set"):
        yield not_measured("allocator workloads, accounted", "the library is not built")
        return
    yield mean("allocator workloads, Set against mimalloc: time", "<=", 0.95, "Set", "mimalloc")
    yield mean("allocator workloads, Set against mimalloc: peak RSS", "<=", 1.0, "Set",
               "mimalloc", "rss")
    if samples.has("glibc"):
        yield mean("allocator workloads, Set faster than glibc", ">=", 1.2, "Set", "glibc",
                   invert=True)
    ratio, workload, other = worst()
    over = [w for w in samples.workloads
            if samples.middle(w, "Set", clock) / samples.best_of_others(w, clock)[0] > 1.25]
    yield judge("worst workload, Set against the best of four", "<=", 1.25, ratio, unit="x",
                detail=f"{workload} against {other}" +
                       (f"; over: {', '.join(over)}" if over else ""))


def print_rows(rows):
    print(f"{'what':<53}{'budget':>13}{'measured':>14}")
    for row in rows:
        if row.verdict == "not measured":
            print(f"{row.what}\n    not measured: {row.detail}")
            continue
        print(f"{row.what:<53}{row.budget:>13}{row.measured:>14}")
        print(f"    {row.verdict:<9} {row.detail}".rstrip())
    nr_missed = sum(row.verdict.startswith("MISSED") for row in rows)
    nr_ok = sum(row.verdict.startswith("ok") for row in rows)
    nr_not = sum(row.verdict == "not measured" for row in rows)
    print(f"\n{nr_ok} ok, {nr_missed} missed, {nr_not} not measured"
          "   (? = the budget lies within the 95 % interval)")


class OtherLoad:
    """How busy the processors were with what is not ours."""

    def __init__(self):
        self.start = self._now()

    @staticmethod
    def _now():
        first_line = pathlib.Path("/proc/stat").read_text().split("\n", 1)[0]
        ticks = [int(number) for number in first_line.split()[1:]]
        times = os.times()
        busy = sum(ticks[:3]) + sum(ticks[5:8])
        ours = times.user + times.system + times.children_user + times.children_system
        return sum(ticks[:8]), busy, ours * os.sysconf("SC_CLK_TCK")

    def percent(self):
        total, busy, ours = (now - then for now, then in zip(self._now(), self.start))
        return max(0.0, 100 * (busy - ours) / total) if total else 0.0


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", nargs="?", default="build", help="build directory (build)")
    parser.add_argument("--quick", action="store_true", help="about a minute, for development")
    parser.add_argument("--only", choices=("allocators", "instructions", "probes"),
                        help="measure only this part")
    parser.add_argument("--workloads", metavar="NAME,...", help="only these allocator workloads")
    parser.add_argument("--seconds", type=int, help="for the allocator workloads (250, quick 30)")
    parser.add_argument("--seed", type=int, default=int(time.time()),
                        help="of the order of runs (the clock)")
    parser.add_argument("--cpu", action="store_true",
                        help="compare user + system time, for a machine that others use too")
    parser.add_argument("--json", metavar="FILE", help="write the measurements there too")
    return parser.parse_args()


def measure_allocators(arguments, result):
    workloads = allocators.Workloads(arguments.build, 25 if arguments.quick else 100)
    names = workloads.names()
    if arguments.workloads:
        wanted = arguments.workloads.split(",")
        for name in wanted:
            if name not in names:
                sys.exit(f"budgets: {name}: no such workload; there are {', '.join(names)}")
        names = wanted
    workloads.drop_failing(names)
    if not any(allocator.name == "mimalloc" for allocator in workloads.allocators):
        return [not_measured("allocator workloads", "; ".join(workloads.skipped))]
    load = OtherLoad()
    seconds = arguments.seconds or (30 if arguments.quick else 250)
    samples = allocators.measure(workloads, names, seconds, 2 if arguments.quick else 3,
                                 arguments.seed)
    busy = load.percent()
    for line in workloads.skipped:
        print("not measured:", line)
    clock, title = ("cpu", "User + system time") if arguments.cpu else ("time", "Elapsed time")
    print("\n".join(allocators.ratio_table(
        samples, clock, f"{title}, mimalloc = 1; medians of {samples.nr_blocks()} blocks, seed "
                        f"{arguments.seed}")))
    print("\n".join(allocators.ratio_table(samples, "rss", "\nPeak memory, mimalloc = 1")))
    low, high = samples.interval("again", "mimalloc", clock)
    print(f"\nNoise: mimalloc against itself {100 * (low - 1):+.1f} % to {100 * (high - 1):+.1f}"
          f" %; other programs took {busy:.0f} % of the processors"
          + (": too busy to trust" if busy > 5 else ""))
    print(allocators.LEGEND + "\n")
    result["allocators"] = [
        {"workload": workload, "allocator": allocator, "metric": metric,
         "samples": [block[workload, allocator][metric] for block in samples.blocks]}
        for workload in names for allocator in samples.allocators
        for metric in ("time", "cpu", "rss")]
    result["busy_percent"] = busy
    return list(allocator_rows(samples, clock))


def measure_instructions(arguments, result):
    try:
        counts = instructions.count_all(arguments.build)
    except instructions.CannotCount as error:
        return [not_measured("budgets in instructions", str(error))]
    except RuntimeError as error:
        return [not_measured("budgets in instructions", str(error).splitlines()[0])]
    print("Instructions inside the library, one operation: mean (least)")
    print("\n".join(instructions.table(counts)) + "\n")
    result["instructions"] = counts
    return instruction_rows(counts)


def measure_probes(arguments, result):
    probes = Probes(arguments.build)
    rows = list(probes.rows(arguments.quick))
    result["probes"] = probes.values
    return rows


def main():
    arguments = parse_arguments()
    if not (pathlib.Path(arguments.build) / "bench" / "allocator").is_dir():
        sys.exit(f"budgets: {arguments.build}: not a build directory; a built one is wanted")
    result = {"seed": arguments.seed}
    rows = []
    for part, run in (("instructions", measure_instructions), ("allocators", measure_allocators),
                      ("probes", measure_probes)):
        if arguments.only in (None, part):
            rows += run(arguments, result)
            sys.stdout.flush()
    print_rows(rows)
    if arguments.json:
        result["budgets"] = [dataclasses.asdict(row) for row in rows]
        pathlib.Path(arguments.json).write_text(json.dumps(result, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
