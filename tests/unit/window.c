/* SPDX-License-Identifier: MIT */
/*
 * Words in memory that others have mapped, too: what a closer in another process does is done here
 * through a second mapping, which has nothing of the stock but its words.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include "charge/barrier.h"
#include "charge/charge.h"
#include "charge/closing.h"
#include "charge/counter.h"
#include "charge/drain.h"
#include "charge/stock.h"
#include "group/group.h"
#include "kmem/heap.h"
#include "umemcg.h"

#define NR_WINDOWS 8u
#define NR_OBJECTS 20u
#define OBJECT     64u

static int memory = -1;
static char *elsewhere, *windows[NR_WINDOWS];
static unsigned int nr_windows;

static int map_shared(void *window)
{
	if (nr_windows == NR_WINDOWS)
		return -1;
	if (mmap(window, WINDOW_DISTANCE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, memory,
		 (off_t)(nr_windows * WINDOW_DISTANCE)) == MAP_FAILED)
		return -1;
	windows[nr_windows++] = window;
	return 0;
}

/* Rows of it that have memory yet. */
static unsigned int nr_rows_left = UINT_MAX;

static int commit(const void *row)
{
	(void)row;
	if (!nr_rows_left)
		return -1;
	nr_rows_left--;
	return 0;
}

static const struct window_ops shared = { .map = map_shared, .commit = commit };

static struct stock_words *seen_from_elsewhere(const struct stock *stock)
{
	ptrdiff_t offset = 0;

	for (unsigned int i = 0; i < nr_windows; i++) {
		offset = (char *)stock_words(stock) - windows[i];
		if (offset >= 0 && (size_t)offset < WINDOW_DISTANCE)
			return (void *)(elsewhere + i * WINDOW_DISTANCE + offset);
	}
	fail_msg("no window of a stock's");
	return NULL;
}

static struct umemcg *enter_new(void)
{
	struct umemcg *group;

	assert_int_equal(umemcg_create(NULL, NULL, &group), 0);
	umemcg_enter(group);
	return group;
}

static void leave(struct umemcg *group)
{
	umemcg_enter(NULL);
	assert_int_equal(umemcg_destroy(group), 0);
}

static uint64_t usage(const struct umemcg *group)
{
	return atomic_load(&group_counter(group)->usage);
}

/* As in exclusive mode: this thread is in no flight. */
static uint64_t close_from_elsewhere(const struct stock *stock)
{
	struct stock_words *words = seen_from_elsewhere(stock);
	uint64_t nr_bytes;

	assert_true(closing_is_needed(words));
	closing_take(words, STAMP_BOOKED);
	barrier_all_threads();
	assert_true(closing_end(words, &nr_bytes));
	assert_false(closing_is_needed(words));
	return nr_bytes;
}

static void take_objects(void **objects)
{
	for (unsigned int i = 0; i < NR_OBJECTS; i++) {
		objects[i] = umemcg_malloc(OBJECT);
		assert_non_null(objects[i]);
	}
}

static void free_objects(void **objects)
{
	for (unsigned int i = 0; i < NR_OBJECTS; i++)
		umemcg_free(objects[i]);
}

static void need_stocks(void)
{
	if (CONFIG_STOCK_BYTES || !barrier_is_available())
		skip();
}

static void a_heaps_words_lie_where_others_have_them_mapped(void **state)
{
	struct umemcg *group = enter_new();
	void *objects[NR_OBJECTS];
	const struct stock *stock;

	(void)state;
	need_stocks();
	take_objects(objects);
	stock = thread_stock(group);
	assert_int_equal(nr_windows, 1);
	assert_ptr_not_equal(seen_from_elsewhere(stock), stock_words(stock));
	assert_memory_equal(seen_from_elsewhere(stock), stock_words(stock),
			    sizeof(struct stock_words));
	assert_int_equal(atomic_load(&seen_from_elsewhere(stock)->state), STOCK_OPEN);
	free_objects(objects);
	leave(group);
}

static void whoever_has_the_words_can_close_the_stock(void **state)
{
	struct umemcg *group = enter_new();
	void *objects[NR_OBJECTS], *more[NR_OBJECTS];
	struct stock *stock;
	uint64_t before, nr_bytes;

	(void)state;
	need_stocks();
	take_objects(objects);
	free_objects(objects);
	take_objects(objects);
	stock = thread_stock(group);
	before = drain_bytes_below(group->id);
	assert_int_equal(before, usage(group) - NR_OBJECTS * OBJECT);
	nr_bytes = close_from_elsewhere(stock);
	assert_int_equal(nr_bytes, before);
	assert_int_equal(drain_bytes_below(group->id), 0);
	counter_sub(group->id, 0, nr_bytes);
	assert_int_equal(usage(group), NR_OBJECTS * OBJECT);
	/* The next flight settles it: what was listed and charged is listed still. */
	take_objects(more);
	assert_int_equal(usage(group) - drain_bytes_below(group->id), 2 * NR_OBJECTS * OBJECT);
	free_objects(objects);
	free_objects(more);
	umemcg_enter(NULL);
	assert_int_equal(usage(group), drain_bytes_below(group->id));
	leave(group);
}

/* Whether its owner has looked since, or not; nor what it had in hand. */
static void what_was_closed_is_not_given_back_twice(void **state)
{
	struct umemcg *group = enter_new();
	void *objects[NR_OBJECTS];
	struct stock *stock;

	(void)state;
	need_stocks();
	take_objects(objects);
	stock = thread_stock(group);
	/* A byte that was freed, on its way to another word. */
	umemcg_free(objects[0]);
	assert_true(word_add(stock_room(stock), 1));
	stock_words(stock)->in_hand = 1;
	counter_sub(group->id, 0, close_from_elsewhere(stock));
	drain_below(group->id);
	assert_int_equal(usage(group), (NR_OBJECTS - 1) * OBJECT);
	objects[0] = umemcg_malloc(OBJECT);
	drain_below(group->id);
	assert_int_equal(usage(group), NR_OBJECTS * OBJECT);
	free_objects(objects);
	drain_below(group->id);
	assert_int_equal(usage(group), 0);
	leave(group);
}

static void *use_and_end(void *group)
{
	void *objects[NR_OBJECTS];

	umemcg_enter(group);
	take_objects(objects);
	counter_sub(((struct umemcg *)group)->id, 0, close_from_elsewhere(thread_stock(group)));
	free_objects(objects);
	return NULL;
}

/* The heap waits for the next thread, with the blocks that were listed when the stock was closed.
 */
static void a_thread_that_ends_settles_what_was_closed(void **state)
{
	struct umemcg *group = enter_new();

	(void)state;
	need_stocks();
	for (unsigned int i = 0; i < 3; i++) {
		pthread_t thread;

		assert_int_equal(pthread_create(&thread, NULL, use_and_end, group), 0);
		assert_int_equal(pthread_join(thread, NULL), 0);
		assert_int_equal(usage(group), 0);
	}
	assert_int_equal(nr_windows, 2);
	leave(group);
}

static void a_gate_that_is_short_is_closed_at_once(void **state)
{
	stock_word word = -1;
	uint64_t taken = 7;

	(void)state;
	assert_true(word_close(&word, true, &taken));
	assert_int_equal(taken, 0);
	/* The owner comes to put its object back, and finds it closed. */
	word_restore(&word, 1);
	assert_int_equal(word, WORD_CLOSED);
}

static void bytes_that_are_overdrawn_are_waited_for(void **state)
{
	stock_word word = 5;
	uint64_t taken = 7;

	(void)state;
	assert_false(word_subtract(&word, 9));
	assert_false(word_close(&word, false, &taken));
	word_restore(&word, 9);
	assert_true(word_close(&word, false, &taken));
	assert_int_equal(taken, 5);
	assert_false(word_subtract(&word, 2));
	word_restore(&word, 2);
	assert_int_equal(word, WORD_CLOSED);
	/* Closed long ago: what was taken then stands. */
	assert_true(word_close(&word, false, &taken));
	assert_int_equal(taken, 5);
}

/* A row of open words, as of a stock whose owner is this thread. */
static struct stock_words row;

static int open_row(void **state)
{
	(void)state;
	row = (struct stock_words){ .state = STOCK_OPEN };
	for (unsigned int word = 0; word < STOCK_NR_WORDS; word++)
		word_set(&row.words[word], 0);
	word_set(&row.words[WORD_ROOM], STOCK_ROOM_BYTES);
	return 0;
}

static void a_store_that_was_on_its_way_is_taken_too(void **state)
{
	uint64_t nr_bytes = 7;

	(void)state;
	word_set(&row.words[WORD_SPARE], 100);
	closing_take(&row, 0);
	/* Of an instruction of the owner's that had read what was there before. */
	word_set(&row.words[WORD_SPARE], 80);
	assert_false(closing_end(&row, &nr_bytes));
	assert_true(closing_is_needed(&row));
	closing_take(&row, 0);
	assert_true(closing_end(&row, &nr_bytes));
	assert_int_equal(nr_bytes, 80);
}

static void an_overdrawn_room_keeps_the_stock_open(void **state)
{
	uint64_t nr_bytes = 7;

	(void)state;
	word_set(&row.words[WORD_ROOM], 3);
	assert_false(word_subtract(&row.words[WORD_ROOM], 5));
	closing_take(&row, 0);
	assert_false(closing_end(&row, &nr_bytes));
	word_restore(&row.words[WORD_ROOM], 5);
	closing_take(&row, 0);
	assert_true(closing_end(&row, &nr_bytes));
	assert_int_equal(nr_bytes, STOCK_ROOM_BYTES - 3);
}

static void *end_closing(void *ret_bytes)
{
	if (!closing_end(&row, ret_bytes))
		*(uint64_t *)ret_bytes = UINT64_MAX;
	return NULL;
}

static void what_is_being_moved_is_waited_for(void **state)
{
	uint64_t nr_bytes;
	pthread_t thread;

	(void)state;
	atomic_store(&row.moving, 1);
	closing_take(&row, 0);
	assert_int_equal(pthread_create(&thread, NULL, end_closing, &nr_bytes), 0);
	for (unsigned int i = 0; i < 2000; i++)
		sched_yield();
	assert_int_not_equal(atomic_load(&row.state), STOCK_TAKEN);
	row.in_hand = 9;
	atomic_store(&row.moving, 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(nr_bytes, 9);
}

/* The last of the tests: from here on no window is shared. */
static void windows_that_a_child_has_no_memory_for_are_closed_and_private(void **state)
{
	struct umemcg *groups[2];
	void *objects[2];
	unsigned int nr_stocks = 0;
	struct stock *stock;

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		groups[i] = enter_new();
		objects[i] = umemcg_malloc(OBJECT);
	}
	charge_hold();
	stock_note_external();
	for_each_stock(stock) nr_stocks++;
	/* The last one's chunk has others before it, that are in shared memory by then. */
	nr_rows_left = nr_stocks - 1;
	stock_renew_windows();
	charge_release();
	assert_null(window_shared);
	for_each_stock(stock)
	{
		for (unsigned int word = WORD_ROOM; word < STOCK_NR_WORDS; word++)
			assert_true(word_is_closed(word_look(&stock_words(stock)->words[word])));
	}
	for (unsigned int i = 0; i < 2; i++) {
		umemcg_free(objects[i]);
		umemcg_drain(groups[i]);
		assert_int_equal(usage(groups[i]), 0);
		umemcg_enter(NULL);
		assert_int_equal(umemcg_destroy(groups[i]), 0);
	}
}

static int prepare(void **state)
{
	(void)state;
	memory = memfd_create("window", MFD_CLOEXEC);
	if (memory < 0 || ftruncate(memory, NR_WINDOWS * WINDOW_DISTANCE))
		return -1;
	elsewhere = mmap(NULL, NR_WINDOWS * WINDOW_DISTANCE, PROT_READ | PROT_WRITE, MAP_SHARED,
			 memory, 0);
	window_shared = &shared;
	return elsewhere == MAP_FAILED ? -1 : 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_heaps_words_lie_where_others_have_them_mapped),
		cmocka_unit_test(whoever_has_the_words_can_close_the_stock),
		cmocka_unit_test(what_was_closed_is_not_given_back_twice),
		cmocka_unit_test(a_thread_that_ends_settles_what_was_closed),
		cmocka_unit_test(a_gate_that_is_short_is_closed_at_once),
		cmocka_unit_test(bytes_that_are_overdrawn_are_waited_for),
		cmocka_unit_test_setup(a_store_that_was_on_its_way_is_taken_too, open_row),
		cmocka_unit_test_setup(an_overdrawn_room_keeps_the_stock_open, open_row),
		cmocka_unit_test_setup(what_is_being_moved_is_waited_for, open_row),
		cmocka_unit_test(windows_that_a_child_has_no_memory_for_are_closed_and_private),
	};

	return cmocka_run_group_tests(tests, prepare, NULL);
}
