/* SPDX-License-Identifier: MIT */
/*
 * A gate in shared memory: workers, threads or processes, wait before it, and whoever opens it
 * starts all of them. They sleep rather than spin: there may be more workers than CPUs.
 */
#ifndef BENCH_METERS_TIME_GATE_H
#define BENCH_METERS_TIME_GATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct gate {
	_Atomic uint32_t nr_waiting;
	_Atomic uint32_t open;
};

/** gate_wait - be counted as waiting, and sleep until the gate is open */
void gate_wait(struct gate *gate);

/**
 * gate_await - sleep until @nr_workers wait before the gate
 * @lost: asked now and then; true means that one of them will never come
 *
 * Return: 0; -ECHILD if @lost said so.
 */
int gate_await(struct gate *gate, uint32_t nr_workers, bool (*lost)(void));

/** gate_open - let everybody through, now and later */
void gate_open(struct gate *gate);

#endif
