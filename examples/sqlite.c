/* SPDX-License-Identifier: MIT */
/*
 * SQLite with a group for each connection. A query that needs more than its connection may have
 * fails with SQLITE_NOMEM; the other connection goes on, and so does the first with smaller ones.
 */
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "umemcg.h"

#define CONNECTION_MAX_BYTES ((uint64_t)4 << 20)

/* ---- SQLite's allocator: whichever group the thread is in pays ---- */

static void *memory_malloc(int nr_bytes)
{
	return umemcg_malloc((size_t)nr_bytes);
}

static void *memory_realloc(void *block, int nr_bytes)
{
	return umemcg_realloc(block, (size_t)nr_bytes);
}

static int memory_size(void *block)
{
	return (int)umemcg_usable_size(block);
}

static int memory_roundup(int nr_bytes)
{
	return (nr_bytes + 7) & ~7;
}

static int memory_init(void *data)
{
	(void)data;
	return SQLITE_OK;
}

static void memory_shutdown(void *data)
{
	(void)data;
}

static const struct sqlite3_mem_methods methods = {
	.xMalloc = memory_malloc,
	.xFree = umemcg_free,
	.xRealloc = memory_realloc,
	.xSize = memory_size,
	.xRoundup = memory_roundup,
	.xInit = memory_init,
	.xShutdown = memory_shutdown,
};

/* ---- connections ---- */

struct connection {
	const char *name;
	struct umemcg *group;
	sqlite3 *db;
};

static bool open_connection(struct connection *connection)
{
	struct umemcg *before;
	int r;

	if (umemcg_create(NULL, connection->name, &connection->group) ||
	    umemcg_set_max(connection->group, CONNECTION_MAX_BYTES))
		return false;
	before = umemcg_enter(connection->group);
	r = sqlite3_open(":memory:", &connection->db);
	umemcg_enter(before);
	return r == SQLITE_OK;
}

/* Runs SQL in the connection's group, prints what came of it, and returns SQLite's result. */
static int run(struct connection *connection, const char *what, const char *sql)
{
	struct umemcg *before = umemcg_enter(connection->group);
	int r = sqlite3_exec(connection->db, sql, NULL, NULL, NULL);

	umemcg_enter(before);
	printf("%s: %s: %s (%llu bytes now, %llu at most, %llu allowed)\n", connection->name, what,
	       sqlite3_errstr(r), (unsigned long long)umemcg_get_current(connection->group),
	       (unsigned long long)umemcg_get_peak(connection->group),
	       (unsigned long long)umemcg_get_max(connection->group));
	return r;
}

/* True if closing the connection gave back all that its group was charged. */
static bool close_connection(struct connection *connection)
{
	sqlite3_close(connection->db);
	umemcg_drain(connection->group);
	return umemcg_get_current(connection->group) == 0 && umemcg_destroy(connection->group) == 0;
}

static bool check(bool holds, const char *promise)
{
	if (!holds)
		printf("FAILED: %s\n", promise);
	return holds;
}

static const char create_table[] =
	"CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT);"
	"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)"
	" INSERT INTO item SELECT i, 'item number ' || i FROM n;";

static const char small_query[] = "SELECT count(*) FROM item WHERE name LIKE '%9%';";

/* One string of all pairs of items: more than a hundred megabytes. */
static const char big_query[] = "SELECT group_concat(a.name || b.name) FROM item a, item b;";

int main(void)
{
	struct connection modest = { .name = "modest" };
	struct connection greedy = { .name = "greedy" };
	bool counting = umemcg_state() == UMEMCG_ENABLED;
	bool kept = true;

	if (sqlite3_config(SQLITE_CONFIG_MALLOC, &methods) != SQLITE_OK ||
	    sqlite3_initialize() != SQLITE_OK || !open_connection(&modest) ||
	    !open_connection(&greedy)) {
		fprintf(stderr, "sqlite: cannot open two connections\n");
		return EXIT_FAILURE;
	}
	kept &= check(run(&modest, "table", create_table) == SQLITE_OK, "a table fits");
	kept &= check(run(&greedy, "table", create_table) == SQLITE_OK, "so does the other's");
	kept &= check(run(&greedy, "big query", big_query) == (counting ? SQLITE_NOMEM : SQLITE_OK),
		      "the big query gets SQLITE_NOMEM");
	kept &= check(umemcg_get_peak(greedy.group) <= CONNECTION_MAX_BYTES,
		      "its connection was never above its limit");
	kept &= check(run(&modest, "small query", small_query) == SQLITE_OK,
		      "the other connection goes on");
	kept &= check(run(&greedy, "small query", small_query) == SQLITE_OK,
		      "and so does the greedy one, with smaller queries");
	kept &= check(close_connection(&modest) && close_connection(&greedy),
		      "nothing is left behind");
	if (kept)
		puts(counting ? "The big query was refused, everything else went on."
			      : "Accounting is off: everything was let through.");
	return kept ? EXIT_SUCCESS : EXIT_FAILURE;
}
