/* SPDX-License-Identifier: MIT */
/* A line on standard error while it is a terminal: what runs, how far, how long still. */
#ifndef BENCH_PROGRESS_H
#define BENCH_PROGRESS_H

/**
 * progress_show - replace the line
 * @done:   part of the run that is over, 0 to 1
 * @left_s: seconds that are left, about; 0 if not known yet
 * @what:   what runs now
 *
 * Costs a write to the terminal; nothing is measured meanwhile.
 */
void progress_show(double done, double left_s, const char *what);

/** progress_clear - take the line away */
void progress_clear(void);

#endif
