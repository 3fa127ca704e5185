/* SPDX-License-Identifier: MIT */
/* The time meter, on workloads made for the purpose. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "cmocka_test.h"
#include "meters/check.h"
#include "meters/time/measure.h"

static const struct measure_cpus anywhere;

/* Every operation is a unit; context->value says what the workload is to get wrong. */
enum fault {
	FAULT_NONE,
	FAULT_LOSES_TWO_PERCENT,
	FAULT_LOSES_HALF_PERCENT,
	FAULT_FAILS,
	FAULT_DIES
};

static int made_run(struct workload_context *context, struct workload_worker *worker,
		    uint64_t nr_operations)
{
	if (context->value == FAULT_FAILS && !worker->warming_up) {
		errno = ENOSPC;
		return workload_fail(worker, "made_call");
	}
	if (context->value == FAULT_DIES && worker->index == 1)
		raise(SIGKILL);
	worker->nr_units += nr_operations;
	worker->nr_checked += nr_operations;
	if (context->value == FAULT_LOSES_TWO_PERCENT)
		worker->nr_checked -= nr_operations / 50;
	if (context->value == FAULT_LOSES_HALF_PERCENT)
		worker->nr_checked -= nr_operations / 200;
	usleep(2000);
	return 0;
}

static struct workload made = { .name = "made", .check = WORKLOAD_CHECK_COUNTED, .run = made_run };

static int run(enum workload_workers workers, unsigned int nr_workers, enum fault fault,
	       struct workload_totals *totals, char *error)
{
	struct workload_context context = { .target = WORKLOAD_KERNEL,
					    .nr_workers = nr_workers,
					    .nr_operations = 1000,
					    .nr_warm_up = 100,
					    .value = fault };

	made.workers = workers;
	error[0] = '\0';
	return measure_block(&made, &context, &anywhere, totals, error);
}

static void assert_block(enum workload_workers workers, unsigned int nr_workers)
{
	struct workload_totals totals;
	char error[MEASURE_ERROR];

	assert_int_equal(run(workers, nr_workers, FAULT_NONE, &totals, error), 0);
	assert_int_equal(totals.nr_workers, nr_workers);
	/* What was done to warm up is not counted. */
	assert_int_equal(totals.nr_units, nr_workers * 1000);
	assert_int_equal(totals.nr_operations, nr_workers * 1000);
	assert_true(totals.elapsed_s >= 0.002 && totals.elapsed_s < 60);
}

static void workers_are_summed_up(void **state)
{
	(void)state;
	assert_block(WORKLOAD_THREADS, 1);
	assert_block(WORKLOAD_THREADS, 5);
	assert_block(WORKLOAD_PROCESSES, 5);
}

static void a_miscount_of_more_than_a_percent_is_an_error(void **state)
{
	struct workload_totals totals;
	char error[MEASURE_ERROR];

	(void)state;
	assert_int_equal(run(WORKLOAD_THREADS, 2, FAULT_LOSES_TWO_PERCENT, &totals, error), -EBADE);
	assert_string_equal(error, "counted 2000 units, the system says 1960");
	assert_int_equal(run(WORKLOAD_THREADS, 2, FAULT_LOSES_HALF_PERCENT, &totals, error), 0);
	assert_true(measure_check(1000, 990, 0) && measure_check(1000, 1010, 0));
	assert_false(measure_check(1000, 989, 0) || measure_check(1000, 1011, 0));
	assert_true(measure_check(10, 40, 32));
	assert_false(measure_check(10, 43, 32));
}

static void a_failed_call_is_named(void **state)
{
	static const struct {
		enum workload_workers workers;
		unsigned int nr_workers;
	} crews[] = { { WORKLOAD_THREADS, 1 }, { WORKLOAD_THREADS, 3 }, { WORKLOAD_PROCESSES, 3 } };
	struct workload_totals totals;
	char error[MEASURE_ERROR];

	(void)state;
	for (unsigned int i = 0; i < 3; i++) {
		assert_int_equal(
			run(crews[i].workers, crews[i].nr_workers, FAULT_FAILS, &totals, error),
			-ENOSPC);
		assert_string_equal(error, "made_call: No space left on device");
	}
}

static void a_worker_that_is_killed_does_not_hang_the_others(void **state)
{
	struct workload_totals totals;
	char error[MEASURE_ERROR];

	(void)state;
	alarm(20);
	assert_int_equal(run(WORKLOAD_PROCESSES, 3, FAULT_DIES, &totals, error), -ECHILD);
	assert_string_equal(error, "a worker was killed");
	alarm(0);
}

static void calibration_finds_operations_for_the_time(void **state)
{
	const struct workload *fault = workload_find("page_fault1");
	struct workload_context context = { .target = WORKLOAD_KERNEL, .nr_workers = 1 };
	char error[MEASURE_ERROR];
	uint64_t nr_operations = 0;

	(void)state;
	/* One operation sleeps for 2 ms whatever its size, so the bound is what ends it. */
	made.max_operations = 64;
	assert_int_equal(measure_calibrate(&made, &context, &anywhere, 10, &nr_operations, error),
			 0);
	assert_int_equal(nr_operations, 64);
	made.max_operations = 0;
	assert_int_equal(measure_calibrate(fault, &context, &anywhere, 1e-6, &nr_operations, error),
			 0);
	assert_int_equal(nr_operations, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(workers_are_summed_up),
		cmocka_unit_test(a_miscount_of_more_than_a_percent_is_an_error),
		cmocka_unit_test(a_failed_call_is_named),
		cmocka_unit_test(a_worker_that_is_killed_does_not_hang_the_others),
		cmocka_unit_test(calibration_finds_operations_for_the_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
