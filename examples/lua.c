/* SPDX-License-Identifier: MIT */
/*
 * A host that runs scripts, each Lua state in a group of its own. A script that asks for more than
 * its limit gets Lua's own "not enough memory"; the host goes on, and so do the other scripts.
 */
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "umemcg.h"

#define SCRIPT_MAX_BYTES ((uint64_t)2 << 20)

struct script {
	const char *name;
	const char *text;
	struct umemcg *group;
	lua_State *lua;
};

/*
 * Lua's allocator. Entering a group costs a few instructions, so that each call may do it, and
 * nothing has to be remembered about which state the thread is running.
 */
static void *allocate(void *data, void *block, size_t old_size, size_t new_size)
{
	struct umemcg *before;

	(void)old_size;
	if (!new_size) {
		umemcg_free(block);
		return NULL;
	}
	before = umemcg_enter(data);
	block = umemcg_realloc(block, new_size);
	umemcg_enter(before);
	return block;
}

static bool open_script(struct script *script)
{
	if (umemcg_create(NULL, script->name, &script->group) ||
	    umemcg_set_max(script->group, SCRIPT_MAX_BYTES))
		return false;
	script->lua = lua_newstate(allocate, script->group);
	if (!script->lua)
		return false;
	luaL_openlibs(script->lua);
	return true;
}

/* Runs it, prints what came of it, and returns Lua's status. */
static int run_script(struct script *script)
{
	int status = luaL_loadstring(script->lua, script->text);

	if (status == LUA_OK)
		status = lua_pcall(script->lua, 0, 1, 0);
	printf("%s: %s, %llu bytes now, %llu at most, %llu allowed\n", script->name,
	       lua_tostring(script->lua, -1), (unsigned long long)umemcg_get_current(script->group),
	       (unsigned long long)umemcg_get_peak(script->group),
	       (unsigned long long)umemcg_get_max(script->group));
	lua_pop(script->lua, 1);
	return status;
}

/* True if closing the state gave back all that the group was charged. */
static bool close_script(struct script *script)
{
	lua_close(script->lua);
	umemcg_drain(script->group);
	return umemcg_get_current(script->group) == 0 && umemcg_destroy(script->group) == 0;
}

static bool check(bool holds, const char *promise)
{
	if (!holds)
		printf("FAILED: %s\n", promise);
	return holds;
}

int main(void)
{
	struct script modest = {
		.name = "modest",
		.text = "local t = {} for i = 1, 1000 do t[i] = i * i end return 'sum of ' .. #t",
	};
	struct script greedy = {
		.name = "greedy",
		.text = "local t = {} while #t < 1e6 do t[#t + 1] = ('x'):rep(100) .. #t end return 'all'",
	};
	bool counting = umemcg_state() == UMEMCG_ENABLED;
	bool kept = true;
	int status;

	if (!open_script(&modest) || !open_script(&greedy)) {
		fprintf(stderr, "lua: no memory for two states\n");
		return EXIT_FAILURE;
	}
	kept &= check(run_script(&modest) == LUA_OK, "the modest script runs");
	status = run_script(&greedy);
	kept &= check(status == (counting ? LUA_ERRMEM : LUA_OK),
		      "the greedy script gets LUA_ERRMEM");
	kept &= check(umemcg_get_peak(greedy.group) <= SCRIPT_MAX_BYTES,
		      "it was never above its limit");
	kept &= check(run_script(&modest) == LUA_OK, "the modest script still runs");
	greedy.text = "return 'alive again'";
	kept &= check(run_script(&greedy) == LUA_OK, "so does the greedy state, once collected");
	kept &= check(close_script(&modest) && close_script(&greedy), "nothing is left behind");
	if (kept)
		puts(counting
			     ? "The greedy script was refused, the host and the other script went on."
			     : "Accounting is off: everything was let through.");
	return kept ? EXIT_SUCCESS : EXIT_FAILURE;
}
