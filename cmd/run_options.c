/* SPDX-License-Identifier: MIT */
#include <argp.h>
#include <errno.h>
#include <string.h>

#include "arguments.h"
#include "limit.h"
#include "run_options.h"
#include "umemcg.h"

#define RESERVE_FRACTION 16
#define RESERVE_MAX      (32ull << 20)

static error_t parse_limit(const char *option, const char *text, struct run_limit *limit)
{
	int error = limit_parse(text, &limit->nr_bytes);

	limit->text = text;
	switch (error) {
	case 0:
	case -EOPNOTSUPP: /* nothing is counted, and run says so */
		return 0;
	case -EINVAL:
		return arguments_refuse("run", "%s \"%s\": accepted are " LIMIT_ACCEPTED, option,
					text);
	case -ERANGE:
		return arguments_refuse(
			"run", "%s \"%s\": that is too large; accepted are " LIMIT_ACCEPTED, option,
			text);
	default:
		return arguments_refuse("run", "%s %s: %s", option, text, strerror(-error));
	}
}

static error_t refuse_pid(void)
{
	return arguments_refuse("run",
				"a running program cannot be adopted: what it holds was never "
				"counted; start it with `umemcg run [OPTION...] -- CMD'");
}

static error_t parse_text(const char *option, const char *text, const char **ret_text)
{
	if (!*text)
		return arguments_refuse("run", "%s \"\": a name is accepted", option);
	*ret_text = text;
	return 0;
}

static error_t parse_policy(const char *text, const char **ret_text)
{
	if (strcmp(text, "fail") && strcmp(text, "kill"))
		return arguments_refuse("run", "--oom \"%s\": fail or kill is accepted", text);
	*ret_text = text;
	return 0;
}

static error_t parse_key(int key, char *argument, struct argp_state *state)
{
	struct run_options *run = state->input;

	switch (key) {
	case ARGUMENTS_KEY_MAX:
		return parse_limit("--max", argument, &run->max);
	case ARGUMENTS_KEY_MAX_PROCESS:
		return parse_limit("--max-process", argument, &run->max_process);
	case ARGUMENTS_KEY_RESERVE:
		return parse_limit("--reserve", argument, &run->reserve);
	case ARGUMENTS_KEY_HIGH:
		return parse_limit("--high", argument, &run->high);
	case ARGUMENTS_KEY_MIN:
		return parse_limit("--min", argument, &run->min);
	case ARGUMENTS_KEY_LOW:
		return parse_limit("--low", argument, &run->low);
	case ARGUMENTS_KEY_OOM:
		return parse_policy(argument, &run->oom_policy);
	case ARGUMENTS_KEY_GROUP:
		return parse_text("--group", argument, &run->group);
	case ARGUMENTS_KEY_TREE:
		return parse_text("--tree", argument, &run->tree_name);
	case ARGUMENTS_KEY_STRICT:
		run->is_strict = true;
		return 0;
	case ARGUMENTS_KEY_SUMMARY:
		run->wants_summary = true;
		return argument ? parse_text("--summary", argument, &run->summary_file) : 0;
	case ARGUMENTS_KEY_PID:
		return refuse_pid();
	case ARGP_KEY_ARG:
		/* What is behind CMD belongs to it. */
		run->command = state->argv + state->next - 1;
		state->next = state->argc;
		return 0;
	case ARGP_KEY_END:
		return arguments_need("run", "a CMD", run->command);
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option options[] = {
	{ "max", ARGUMENTS_KEY_MAX, "SIZE", 0, "Limit of the group: of all processes together", 0 },
	{ "max-process", ARGUMENTS_KEY_MAX_PROCESS, "SIZE", 0, "Limit of each single process", 0 },
	{ "high", ARGUMENTS_KEY_HIGH, "SIZE", 0,
	  "Above so much the group is slowed down when it allocates, and nothing fails", 0 },
	{ "min", ARGUMENTS_KEY_MIN, "SIZE", 0, "What the group holds up to this is not reclaimed",
	  0 },
	{ "low", ARGUMENTS_KEY_LOW, "SIZE", 0, "The same, unless there is nothing else to reclaim",
	  0 },
	{ "oom", ARGUMENTS_KEY_OOM, "fail|kill", 0,
	  "At max fail in the program (default), or kill the process that holds the most", 0 },
	{ "reserve", ARGUMENTS_KEY_RESERVE, "SIZE", 0,
	  "Part of max for processes that hold less than their fair share (default: a sixteenth, "
	  "32M at most)",
	  0 },
	{ "group", ARGUMENTS_KEY_GROUP, "PATH", 0,
	  "Run in this group; it and its parents are made if need be (default: a new one, named "
	  "after CMD)",
	  0 },
	ARGUMENTS_OPTION_TREE,
	{ "strict", ARGUMENTS_KEY_STRICT, NULL, 0, "Do not start programs that cannot be accounted",
	  0 },
	{ "summary", ARGUMENTS_KEY_SUMMARY, "FILE", OPTION_ARG_OPTIONAL,
	  "Say at the end what was used, and what was not seen; into FILE as JSON", 0 },
	{ "pid", ARGUMENTS_KEY_PID, "PID", OPTION_ARG_OPTIONAL | OPTION_HIDDEN, NULL, 0 },
	ARGUMENTS_OPTION_HELP,
	{ 0 },
};

static const struct argp argp = {
	.options = options,
	.parser = parse_key,
	.args_doc = "[--] CMD [ARGUMENT...]",
	.doc = "Run a program in a group with a limit. An allocation that does not fit fails in the "
	       "program, with ENOMEM; nothing is killed but with --oom kill. SIZE is bytes, with "
	       "at most one of K M G T P E behind them, or \"max\".\v"
	       "The exit status is CMD's own; 125 if umemcg failed, 126 if CMD could not be run, 127 "
	       "if there is no CMD.\n"
	       "\n"
	       "Examples:\n"
	       "  umemcg run --max 300M -- python3 script.py\n"
	       "      MemoryError instead of a kill.\n"
	       "  umemcg run --max 2G --summary -- make -j4\n"
	       "      All processes together; at the end, what they used.\n"
	       "  umemcg run --group /web --max 1G -- server &\n"
	       "  umemcg run --group /web/batch --max 200M -- job\n"
	       "      Groups below each other.\n"
	       "  umemcg run --max 1G --max-process 300M -- sh script\n"
	       "  umemcg run --high 800M --max 1G -- job\n"
	       "      Slowed down before it is refused.\n",
};

/* The greedy one is refused first, and the others may still end what they do. */
static void choose_reserve(struct run_options *run)
{
	if (run->reserve.text || !run->max.text || run->max.nr_bytes == UMEMCG_MAX)
		return;
	run->reserve.nr_bytes = run->max.nr_bytes / RESERVE_FRACTION;
	if (run->reserve.nr_bytes > RESERVE_MAX)
		run->reserve.nr_bytes = RESERVE_MAX;
}

/* Nothing at all would fit then. */
static int check_reserve(const struct run_options *run)
{
	if (!run->reserve.text || !run->max.text || !run->reserve.nr_bytes ||
	    run->reserve.nr_bytes < run->max.nr_bytes)
		return 0;
	return arguments_refuse("run", "--reserve %s: less than --max %s is accepted",
				run->reserve.text, run->max.text);
}

int run_options_parse(int argc, char **argv, struct run_options *ret_options)
{
	struct run_options run = { 0 };
	int error = arguments_parse(&argp, argc, argv, &run);

	error = error ? error : check_reserve(&run);
	if (error)
		return error;
	choose_reserve(&run);
	*ret_options = run;
	return 0;
}
