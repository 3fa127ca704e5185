/* SPDX-License-Identifier: MIT */
/* Meters: how a workload is measured. */
#ifndef BENCH_METERS_METER_H
#define BENCH_METERS_METER_H

enum meter {
	METER_TIME,  /* this machine's clock */
	METER_EXACT, /* instructions of an emulated machine */
	METER_NR,
};

#endif
