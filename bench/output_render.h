/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One result in one of the report's formats. */
#ifndef BENCH_OUTPUT_RENDER_H
#define BENCH_OUTPUT_RENDER_H

#include <stdio.h>

#include "report/result.h"

/**
 * output_render - print a result
 * @result: live result
 * @format: name of a renderer
 * @out:    where to
 * @error:  on failure one line
 *
 * Return: 0; a negative errno.
 */
int output_render(const struct bench_result *result, const char *format, FILE *out,
		  struct report_error *error);

#endif
