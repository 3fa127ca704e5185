# SPDX-License-Identifier: MIT
"""Instructions of the library's fast paths, counted exactly by callgrind.

budget-count runs each path between marks, and once more with functions that return at once; the
difference is what the library itself executes, from the entry of a function to its return.
"""
import os
import pathlib
import shutil
import subprocess
import tempfile

# What the functions that return at once execute, for the calls of one operation: the value and
# the return of malloc, the return of free, and so on. It is added back to the difference.
RETURNING_AT_ONCE = {"pair": 3, "replace": 3, "mixed": 3, "turn": 5, "enter": 4, "charge": 3}

VARIANTS = {
    # name: program, argument, UMEMCG_CMDLINE
    "not compiled": ("budget-count-notcompiled", "set", None),
    "disabled": ("budget-count", "set", "cgroup_disable=memory"),
    "Unset": ("budget-count", "unset", None),
    "Set": ("budget-count", "set", None),
    "not compiled, mixed": ("budget-count-notcompiled", "mixed", None),
    "mixed": ("budget-count", "mixed", None),
}


class CannotCount(Exception):
    """Why there are no counts here."""


def read_stretches(path):
    """The stretches of a callgrind file with combined dumps: name -> list of instructions."""
    stretches = {}
    name = None
    for line in path.read_text().splitlines():
        if line.startswith("desc: Trigger: Client Request: "):
            name = line.removeprefix("desc: Trigger: Client Request: ")
        elif line.startswith("totals: ") and name:
            stretches.setdefault(name, []).append(int(line.split()[1]))
            name = None
    return stretches


def run_callgrind(program, argument, command_line):
    if not shutil.which("valgrind"):
        raise CannotCount("valgrind is not installed")
    environment = dict(os.environ)
    environment.pop("UMEMCG_CMDLINE", None)
    if command_line:
        environment["UMEMCG_CMDLINE"] = command_line
    with tempfile.TemporaryDirectory(prefix="umemcg-count-") as folder:
        out = pathlib.Path(folder) / "out"
        result = subprocess.run(
            ["valgrind", "--tool=callgrind", "--quiet", "--collect-atstart=no",
             "--combine-dumps=yes", f"--callgrind-out-file={out}", str(program), argument],
            env=environment, capture_output=True, text=True, check=False)
        if result.returncode != 0:
            raise RuntimeError(f"{program} {argument} under valgrind: {result.stderr.strip()}")
        return read_stretches(out)


def per_operation(stretches):
    """'pair 64' -> {'mean', 'least'}, in instructions of one operation inside the library."""
    counts = {}
    for name, totals in stretches.items():
        if name.startswith("none-"):
            continue
        path, nr_operations = name.split(":")
        what, kind, size = path.split("-")
        at_once = stretches["none-" + name]
        nr_operations = int(nr_operations)
        inside = RETURNING_AT_ONCE[what]
        entry = counts.setdefault(f"{what} {size}", {})
        mean = sum(totals) / len(totals) - sum(at_once) / len(at_once)
        least = min(totals) - min(at_once)
        if kind == "mean" or "mean" not in entry:
            entry["mean"] = mean / nr_operations + inside
        if kind == "single":
            entry["least"] = least / nr_operations + inside
    return counts


def count_all(build):
    """Variant -> path -> {'mean', 'least'}."""
    folder = pathlib.Path(build) / "bench" / "budgets"
    return {name: per_operation(run_callgrind(folder / program, argument, command_line))
            for name, (program, argument, command_line) in VARIANTS.items()}


def budget_rows(counts):
    """The budgets in instructions: (what, budget, measured, detail).

    Measured is the mean over thousands of operations, with the slow paths that come along.
    """
    rows = []
    base = counts["not compiled"]

    def worst_over_base(variant, what):
        return max((counts[variant][path]["mean"] - base[path]["mean"], path)
                   for path in base if path.split()[0] == what)

    for variant, budget in (("disabled", 4), ("Unset", 8), ("Set", 8)):
        for what, meaning in (("pair", "malloc+free pair"), ("replace", "malloc+free, live set")):
            measured, path = worst_over_base(variant, what)
            detail = f"worst of 4 sizes: {path.split()[1]} bytes"
            if "least" in base[path]:
                least = counts[variant][path]["least"] - base[path]["least"]
                detail += f"; the fast path alone: {least:+.0f}"
            rows.append((f"{meaning}, {variant} over not compiled", budget, measured, detail))
    # A group whose objects share slabs has few of them, so the fetches of its first blocks weigh
    # on every mean: the budget is for the path, and the mean stands beside it.
    mixed, mixed_base = (counts[name]["mixed 64"] for name in ("mixed", "not compiled, mixed"))
    rows.append(("malloc+free pair, mixed owners over not compiled", 16,
                 mixed["least"] - mixed_base["least"],
                 "64 bytes, 32 groups; mean of the first 40 pairs of each: "
                 f"{mixed['mean'] - mixed_base['mean']:+.0f}"))
    rows.append(("umemcg_enter to another group and back", 12, counts["Set"]["enter 0"]["mean"],
                 "inside the library"))
    return rows


def table(counts):
    """The counts as text: a path a row, a variant a column."""
    names = [name for name in VARIANTS if name in counts and "mixed" not in name]
    lines = [f"{'path, bytes':<14}" + "".join(f"{name:>16}" for name in names)]

    def cell(entry):
        least = f" ({entry['least']:.0f})" if "least" in entry else ""
        return f"{entry['mean']:.2f}{least}"

    for path in counts["Set"]:
        lines.append(f"{path:<14}" + "".join(f"{cell(counts[name][path]):>16}" for name in names))
    for path in counts["mixed"]:
        lines.append(f"{path:<14}{cell(counts['not compiled, mixed'][path]):>16}"
                     f"{'':>32}{cell(counts['mixed'][path]):>16}")
    return lines
