/* SPDX-License-Identifier: MIT */
/* cmocka, with what has to come before it. */
#ifndef TESTS_UNIT_BENCH_CMOCKA_TEST_H
#define TESTS_UNIT_BENCH_CMOCKA_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
