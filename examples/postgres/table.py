# SPDX-License-Identifier: MIT
"""Both halves side by side, and what of it umemcg promises."""

from resident import KEPT_PART

NAME_WIDTH, CELL_WIDTH = 30, 25


def counted(ends):
    """How a query ended, most frequent first: "out of memory 20"."""
    return ", ".join("%s %d" % item for item in ends.most_common())


def megabytes(nr_bytes):
    return "unknown" if nr_bytes is None else "%.1f MiB" % (nr_bytes / (1 << 20))


def rows(result):
    for name, ends in result.ends.items():
        yield name, counted(ends)
    yield "idle session", "lost %d times" % result.nr_idle_lost if result.nr_idle_lost else "kept"
    yield "server restarts, deaths", "%d, %d" % (result.nr_restarts, result.nr_deaths)
    yield "PANIC, FATAL in its log", "%(PANIC)d, %(FATAL)d" % result.severities
    yield "fork failed", "%d" % result.nr_not_forked
    yield "next query refused", "%d" % result.nr_next_refused
    yield "writer: commits", "%d" % result.nr_commits
    yield "writer: refused, thrown out", "%d, %d" % (result.nr_writes_refused, result.nr_writer_lost)
    yield "autovacuum runs, checkpoints", "%d, %d" % (result.nr_vacuums, result.nr_checkpoints)
    yield "peak as it says itself", megabytes(result.peak)
    yield "peak of anonymous memory seen", megabytes(result.peak_resident)
    yield "seconds", "%.0f" % result.seconds


def wrapped(text, width):
    lines = [""]
    for word in text.split():
        if lines[-1] and len(lines[-1]) + 1 + len(word) > width:
            lines.append("")
        lines[-1] += (" " if lines[-1] else "") + word
    return lines


def lines(results):
    columns = list(results.values())
    yield ("%-*s" % (NAME_WIDTH, "") + "".join("%-*s" % (CELL_WIDTH, c.title)
                                               for c in columns)).rstrip()
    for row in zip(*map(rows, columns)):
        cells = [wrapped(cell, CELL_WIDTH - 1) for _, cell in row]
        for number in range(max(map(len, cells))):
            name = row[0][0] if number == 0 else ""
            yield ("%-*s" % (NAME_WIDTH, name) + "".join(
                "%-*s" % (CELL_WIDTH, cell[number] if number < len(cell) else "")
                for cell in cells)).rstrip()
    for result in columns:
        yield ""
        yield result.title + ":"
        for said in result.said:
            for line in said.splitlines():
                first, *others = wrapped(line, 76)
                yield "  " + first
                yield from ("    " + other for other in others)


def broken_promises(result):
    """What umemcg promises and did not keep."""
    broken = []
    for name, ends in result.ends.items():
        if set(ends) != {"out of memory"}:
            broken.append("%s: %s instead of out of memory each time" % (name, counted(ends)))
    for count, what in ((result.nr_idle_lost, "the idle session was lost"),
                        (result.nr_hog_sessions_lost, "a session was lost after its query failed"),
                        (result.nr_next_refused, "the next query was refused"),
                        (result.nr_restarts, "the server restarted"),
                        (result.nr_deaths, "the server died"),
                        (result.severities["PANIC"], "PANIC in the log"),
                        (result.severities["FATAL"], "FATAL in the log"),
                        (result.nr_not_forked, "the server could not fork"),
                        (result.nr_writer_lost, "the writer was thrown out"),
                        (result.nr_writes_refused, "a small write was refused")):
        if count:
            broken.append("%s, %d times" % (what, count))
    limit = result.limit_bytes
    # Backends have freed what the queries before had.
    for peak, limit, what in ((result.peak, limit, "its own account"),
                              (result.peak_resident_seen, limit + limit // KEPT_PART,
                               "resident memory")):
        if peak is not None and peak > limit:
            broken.append("%s was %s, above the limit" % (what, megabytes(peak)))
    if result.writer_complaint:
        broken.append("the writer was told: " + result.writer_complaint)
    return broken
