/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "json.h"
#include "report.h"
#include "size_text.h"

/* Names come from other processes: no control character of theirs reaches the terminal. */
static void print_plain(FILE *stream, const char *text, size_t nr_room)
{
	for (size_t i = 0; i < nr_room && text[i]; i++)
		fputc((unsigned char)text[i] < ' ' || text[i] == 0x7f ? '?' : text[i], stream);
}

static void print_process(FILE *stream, const char command[16], pid_t pid)
{
	print_plain(stream, command, 16);
	fprintf(stream, "[%d]", (int)pid);
}

static void print_refusal(FILE *stream, const struct umemcg_report *report)
{
	char text[SIZE_TEXT_BYTES];

	fprintf(stream, " was refused %s by ", size_text(report->nr_bytes, false, text));
	if (report->nr_bytes_max == UMEMCG_MAX) {
		fputs("its own limit, in ", stream);
		print_plain(stream, report->group, sizeof(report->group));
	} else {
		print_plain(stream, report->group, sizeof(report->group));
		fprintf(stream, " (max %s)", size_text(report->nr_bytes_max, false, text));
	}
	for (unsigned int i = 0; i < report->nr_consumers && i < UMEMCG_NR_CONSUMERS; i++) {
		fputs(i ? ", " : "; largest: ", stream);
		print_process(stream, report->consumers[i].command, report->consumers[i].pid);
		fprintf(stream, " %s", size_text(report->consumers[i].nr_bytes, false, text));
	}
}

/* The one that asked for more is named by the report in place of the largest. */
static void print_kill(FILE *stream, const struct umemcg_report *report)
{
	char text[SIZE_TEXT_BYTES];

	fprintf(stream, " was killed, with %s, by ", size_text(report->nr_bytes, false, text));
	print_plain(stream, report->group, sizeof(report->group));
	fprintf(stream, " (max %s)", size_text(report->nr_bytes_max, false, text));
	if (!report->nr_consumers)
		return;
	fputs("; ", stream);
	print_process(stream, report->consumers[0].command, report->consumers[0].pid);
	fprintf(stream, " asked for %s", size_text(report->consumers[0].nr_bytes, false, text));
}

void report_format(const struct umemcg_report *report, char line[REPORT_LINE_BYTES])
{
	FILE *stream = fmemopen(line, REPORT_LINE_BYTES, "w");
	char text[SIZE_TEXT_BYTES];

	line[0] = '\0';
	if (!stream)
		return;
	print_process(stream, report->command, report->pid);
	switch (report->kind) {
	case UMEMCG_REPORT_REFUSED:
		print_refusal(stream, report);
		break;
	case UMEMCG_REPORT_KILLED:
		print_kill(stream, report);
		break;
	case UMEMCG_REPORT_UNSEEN:
		fputs(" runs a program that cannot be accounted: ", stream);
		print_plain(stream, report->text, sizeof(report->text));
		break;
	case UMEMCG_REPORT_UNCOUNTED:
		fprintf(stream, " mapped %s that is not counted, since it is more than max",
			size_text(report->nr_bytes, false, text));
		break;
	}
	fclose(stream);
	line[REPORT_LINE_BYTES - 1] = '\0';
}

static const char *kind_name(enum umemcg_report_kind kind)
{
	switch (kind) {
	case UMEMCG_REPORT_REFUSED:
		return "refused";
	case UMEMCG_REPORT_UNSEEN:
		return "unseen";
	case UMEMCG_REPORT_UNCOUNTED:
		return "uncounted";
	case UMEMCG_REPORT_KILLED:
		return "killed";
	}
	return "unknown";
}

json_t *report_json(const struct umemcg_report *report)
{
	json_t *consumers = json_array();

	for (unsigned int i = 0; i < report->nr_consumers && i < UMEMCG_NR_CONSUMERS; i++)
		json_array_append_new(consumers,
				      json_pack("{s:i, s:o, s:o}", "pid",
						(int)report->consumers[i].pid, "command",
						json_text(report->consumers[i].command), "charged",
						json_size(report->consumers[i].nr_bytes)));
	return json_pack("{s:I, s:s, s:i, s:o, s:o, s:o, s:o, s:o, s:o}", "sequence",
			 (json_int_t)report->sequence, "kind", kind_name(report->kind), "pid",
			 (int)report->pid, "command", json_text(report->command), "bytes",
			 json_size(report->nr_bytes), "max", json_size(report->nr_bytes_max),
			 "group", json_text(report->group), "text", json_text(report->text),
			 "consumers", consumers);
}
