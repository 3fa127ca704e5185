/* SPDX-License-Identifier: MIT */
#include "charge/stock.h"

#include <errno.h>

#include "charge/barrier.h"
#include "charge/charge.h"
#include "charge/counter.h"
#include "charge/owner.h"

/* A refill serves that many objects, however large, if the bytes are there. */
#define GATE_MIN_OBJECTS 16u

uint32_t stock_gate_bytes[STOCK_NR_GATES];

/*
 * The owner thread reads and sets its words with relaxed operations: while it is in flight nobody
 * closes them, and when it lands, flight_end() releases them to whoever closes next.
 */
static int64_t get(const stock_word *word)
{
	return atomic_load_explicit(word, memory_order_relaxed);
}

static void set(stock_word *word, int64_t value)
{
	atomic_store_explicit(word, value, memory_order_relaxed);
}

static uint32_t owner_of(const struct stock *stock)
{
	return atomic_load_explicit(&stock->owner, memory_order_relaxed);
}

static bool use_reserve(const struct stock *stock)
{
	return stock->flight->reserve_depth > 0;
}

uint32_t stock_owner_below(const struct stock *stock, uint32_t counter)
{
	/* Acquire pairs with stock_bind(). */
	uint32_t owner = atomic_load_explicit(&stock->owner, memory_order_acquire);

	return owner && counter_is_below(owner_counter(owner), counter) ? owner : 0;
}

/* For a stock that nobody but the caller can be looking at. */
static void close_quietly(struct stock *stock)
{
	set(&stock->room, WORD_CLOSED);
	set(&stock->spare, WORD_CLOSED);
	set(&stock->external, WORD_CLOSED);
	for (unsigned int gate = 0; gate < STOCK_NR_GATES; gate++)
		set(&stock->gates[gate].nr_ready, WORD_CLOSED);
}

void stock_init_closed(struct stock *stock)
{
	close_quietly(stock);
}

void stock_init(struct stock *stock, struct flight *flight)
{
	struct stock *first = atomic_load_explicit(&flight->stocks, memory_order_relaxed);

	close_quietly(stock);
	stock->flight = flight;
	stock->next = first;
	/* Only the thread pushes. Release pairs with the acquire of whoever walks the list. */
	atomic_store_explicit(&flight->stocks, stock, memory_order_release);
}

/* Of a stock that never asks all listed objects are ready. */
static void unpark_all(struct stock *stock, unsigned int gate)
{
	set(&stock->gates[gate].nr_ready, stock->slow_gates[gate].nr_parked);
	stock->slow_gates[gate].nr_parked = 0;
}

/* The gate is to be closed. Return: objects that were charged, and are only listed from now on. */
static uint64_t park_all(struct stock *stock, unsigned int gate)
{
	uint64_t nr_ready = max(get(&stock->gates[gate].nr_ready), (int64_t)0);

	stock->slow_gates[gate].nr_parked += nr_ready;
	stock->slow_gates[gate].nr_opened = 0;
	return nr_ready;
}

void stock_bind(struct stock *stock, uint32_t owner)
{
	if (!owner) {
		stock->unlimited = 1;
		set(&stock->room, WORD_UNLIMITED);
		set(&stock->spare, WORD_UNLIMITED);
		for (unsigned int gate = 0; gate < STOCK_NR_GATES; gate++)
			unpark_all(stock, gate);
		return;
	}
	stock->unlimited = 0;
	stock->nr_ahead = STOCK_FIRST_AHEAD_BYTES;
	set(&stock->external, 0);
	/* Closed and empty, so nothing of it can be taken before a flight opens it. */
	atomic_store_explicit(&stock->owner, owner, memory_order_release);
}

/*
 * In flight, and no refusal is remembered above: the words may serve again. All gates are opened,
 * empty, so that the first refill of each of the others can do without a flight.
 */
static void open_words(struct stock *stock)
{
	if (get(&stock->room) >= 0)
		return;
	stock->is_open = true;
	set(&stock->spare, 0);
	set(&stock->room, STOCK_ROOM_BYTES);
	for (unsigned int gate = 0; gate < STOCK_NR_GATES; gate++)
		set(&stock->gates[gate].nr_ready, 0);
}

static void give_back(struct stock *stock, uint32_t counter, uint64_t nr_bytes)
{
	if (!nr_bytes)
		return;
	owner_uncharge_gone(owner_of(stock), nr_bytes);
	counter_sub(counter, 0, nr_bytes);
}

/* In flight: the bytes of freed objects join the spare ones; what is too much goes back. */
static void merge_room(struct stock *stock, uint32_t counter)
{
	int64_t room = get(&stock->room), spare;

	if (room < 0)
		return;
	spare = get(&stock->spare) + ((int64_t)STOCK_ROOM_BYTES - room);
	set(&stock->room, STOCK_ROOM_BYTES);
	if (spare > (int64_t)STOCK_SPARE_BYTES) {
		give_back(stock, counter, spare - STOCK_SPARE_BYTES / 2);
		spare = STOCK_SPARE_BYTES / 2;
	}
	set(&stock->spare, spare);
}

void stock_unbind(struct stock *stock)
{
	uint64_t nr_bytes = 0;
	uint32_t counter;
	int64_t external;

	if (stock->unlimited || !owner_of(stock)) {
		for (unsigned int gate = 0; gate < STOCK_NR_GATES; gate++)
			park_all(stock, gate);
		stock->unlimited = 0;
		close_quietly(stock);
		return;
	}
	counter = flight_begin(stock->flight, owner_of(stock));
	merge_room(stock, counter);
	if (get(&stock->spare) > 0)
		nr_bytes += get(&stock->spare);
	for (unsigned int gate = 0; gate < STOCK_NR_GATES; gate++)
		nr_bytes += park_all(stock, gate) * stock_gate_bytes[gate];
	external = get(&stock->external);
	if (external > 0)
		atomic_fetch_add_explicit(&counter_row(counter)->external, external,
					  memory_order_relaxed);
	stock->is_open = false;
	stock->nr_gate_bytes = 0;
	close_quietly(stock);
	give_back(stock, counter, nr_bytes);
	atomic_store_explicit(&stock->owner, 0, memory_order_release);
	flight_end(stock->flight);
}

void stock_forget_gate(struct stock *stock, unsigned int gate)
{
	int64_t nr_ready;

	if (stock->unlimited || !owner_of(stock)) {
		stock->slow_gates[gate].nr_parked = 0;
		if (stock->unlimited)
			set(&stock->gates[gate].nr_ready, 0);
		return;
	}
	flight_begin(stock->flight, owner_of(stock));
	stock->slow_gates[gate].nr_parked = 0;
	nr_ready = get(&stock->gates[gate].nr_ready);
	if (nr_ready > 0) {
		set(&stock->spare, get(&stock->spare) + nr_ready * stock_gate_bytes[gate]);
		set(&stock->gates[gate].nr_ready, 0);
	}
	flight_end(stock->flight);
}

/*
 * How much may be charged ahead now: never more than a batch, and a small part of what is left
 * when the limit is near, so that the threads' stocks together cannot be most of it.
 */
static uint64_t batch_bytes(uint32_t counter, bool with_reserve, uint64_t nr_bytes)
{
	uint64_t headroom = counter_headroom(counter, with_reserve);

	if (headroom <= nr_bytes)
		return 0;
	return min(STOCK_BATCH_BYTES, (headroom - nr_bytes) / (4 * flight_nr()));
}

/*
 * In flight: while a refusal is remembered above, whatever is given back must be seen there; and
 * without the barrier that closing needs, nothing is ever opened.
 */
static bool must_stay_closed(uint32_t counter)
{
	return counter_refused(counter, UINT64_MAX) || !barrier_is_available();
}

/* What one refill of a gate may charge, the caller's object included. */
static uint64_t gate_max_bytes(uint64_t each)
{
	return max(STOCK_BATCH_BYTES / 4, GATE_MIN_OBJECTS * each);
}

/* In flight: charge as many parked objects as the spare bytes pay for, one of them the caller's. */
static void serve_gate(struct stock *stock, unsigned int gate)
{
	struct stock_slow_gate *slow = &stock->slow_gates[gate];
	uint64_t each = stock_gate_bytes[gate];
	uint64_t left = STOCK_GATES_BYTES - min(STOCK_GATES_BYTES, (uint64_t)stock->nr_gate_bytes);
	uint64_t nr_bytes = min((uint64_t)get(&stock->spare), gate_max_bytes(each));
	uint64_t nr_objects = min(min(nr_bytes, left + each) / each, (uint64_t)slow->nr_parked);

	set(&stock->spare, get(&stock->spare) - (int64_t)(nr_objects * each));
	slow->nr_parked -= nr_objects;
	slow->nr_opened = nr_objects - 1;
	stock->nr_gate_bytes += slow->nr_opened * each;
	set(&stock->gates[gate].nr_ready, slow->nr_opened);
}

/*
 * In flight: charge one object, and bytes ahead for the refills that follow: twice as many each
 * time, up to a batch. The spare bytes pay their part.
 *
 * Return: 0, or the level that is full.
 */
static uint32_t refill_gate(struct stock *stock, unsigned int gate, uint32_t counter)
{
	uint64_t each = stock_gate_bytes[gate];
	/* A closed spare is negative, and pays nothing. */
	uint64_t spare = max(get(&stock->spare), (int64_t)0);
	bool stay_closed = must_stay_closed(counter);
	uint64_t ahead = 0, missing;
	uint32_t at;

	if (spare >= each) {
		serve_gate(stock, gate);
		return 0;
	}
	if (!stay_closed)
		ahead = min(stock->nr_ahead, batch_bytes(counter, use_reserve(stock), each));
	missing = each - spare;
	at = counter_try_add(counter, 0, missing + ahead, use_reserve(stock));
	if (at && ahead) {
		ahead = 0;
		at = counter_try_add(counter, 0, missing, use_reserve(stock));
	}
	if (at)
		return at;
	owner_charge_gone(owner_of(stock), missing + ahead);
	if (stay_closed) {
		stock->slow_gates[gate].nr_parked--;
		return 0;
	}
	open_words(stock);
	set(&stock->spare, (int64_t)(each + ahead));
	stock->nr_ahead = min(2 * stock->nr_ahead, STOCK_BATCH_BYTES);
	serve_gate(stock, gate);
	return 0;
}

/* In order with the words: plain stores are, others are sequentially consistent. */
static void set_moving(struct stock *stock, uint32_t moving)
{
	atomic_signal_fence(memory_order_seq_cst);
	/* Partner: wait_for_move(), after the barrier. */
	atomic_store_explicit(&stock->moving, moving,
			      FAST_PATH_IS_PLAIN ? memory_order_release : memory_order_seq_cst);
	atomic_signal_fence(memory_order_seq_cst);
}

enum move { MOVED, NOTHING_MOVED, SPARE_WAS_CLOSED, ROOM_WAS_CLOSED };

/*
 * While `moving` is set: the bytes of freed objects, and spare ones, pay for listed objects, as
 * many as they can. What is not a word is looked at only once the words were seen open.
 */
static always_inline enum move move_to_gate(struct stock *stock, unsigned int gate, uint32_t nr_new)
{
	struct stock_slow_gate *slow = &stock->slow_gates[gate];
	int64_t room = get(&stock->room), spare = get(&stock->spare);
	uint64_t each = stock_gate_bytes[gate], freed, nr_bytes, gate_bytes;
	uint32_t nr_listed, nr_objects;
	int64_t from_room;

	/* Short by the caller's object is open. A gate that is closed is opened in flight. */
	if (get(&stock->gates[gate].nr_ready) < -1 || room < 0 || spare < 0)
		return NOTHING_MOVED;
	freed = STOCK_ROOM_BYTES - room;
	nr_listed = slow->nr_parked + nr_new;
	nr_bytes = min(freed + spare, gate_max_bytes(each));
	nr_objects = nr_listed;
	if (nr_objects * each > nr_bytes)
		nr_objects = nr_bytes / each;
	nr_bytes = nr_objects * each;
	gate_bytes = stock->nr_gate_bytes - slow->nr_opened * each + nr_bytes;
	if (!nr_objects || gate_bytes > STOCK_GATES_BYTES)
		return NOTHING_MOVED;
	from_room = min(freed, nr_bytes);
	if (!word_subtract(&stock->spare, (int64_t)nr_bytes - from_room))
		return SPARE_WAS_CLOSED;
	/* If one of these is closed meanwhile, whoever did that waits for us, and takes this. */
	if (!word_add(&stock->room, from_room)) {
		stock->in_hand = nr_bytes - from_room;
		return ROOM_WAS_CLOSED;
	}
	if (!word_add(&stock->gates[gate].nr_ready, nr_objects)) {
		stock->in_hand = nr_bytes;
		return NOTHING_MOVED;
	}
	slow->nr_parked = nr_listed - nr_objects;
	slow->nr_opened = nr_objects;
	stock->nr_gate_bytes = gate_bytes;
	return MOVED;
}

/* The gate is as it was before the object was asked for. */
static noinline int refill_in_flight(struct stock *stock, unsigned int gate, uint32_t nr_new)
{
	uint64_t each = stock_gate_bytes[gate];

	stock_undo_take(stock, gate);
	for (;;) {
		uint32_t counter = flight_begin(stock->flight, owner_of(stock));
		uint32_t at = use_reserve(stock) ? 0 : counter_refused(counter, each);
		bool decided = at != 0;

		stock->slow_gates[gate].nr_parked += nr_new;
		nr_new = 0;
		/* What the last refill opened is used up, or was closed. */
		stock->nr_gate_bytes -= stock->slow_gates[gate].nr_opened * each;
		stock->slow_gates[gate].nr_opened = 0;
		merge_room(stock, counter);
		if (!at)
			at = refill_gate(stock, gate, counter);
		flight_end(stock->flight);
		if (!at)
			return 0;
		if (!decided && !charge_decide(stock->flight, owner_of(stock), each, at, &at)) {
			stock->slow_gates[gate].nr_parked--;
			return 0;
		}
		if (!charge_ops.refused ||
		    !charge_ops.refused(stock->flight, at, owner_of(stock), each))
			return -ENOMEM;
	}
}

/* The same, when a word was closed under a move, which left its own number in it. */
static noinline int refill_after_closing(struct stock *stock, stock_word *word, unsigned int gate,
					 uint32_t nr_new)
{
	word_restore(stock, word, 0);
	return refill_in_flight(stock, gate, nr_new);
}

/* More listed than was freed, or a word that is to be opened. */
static noinline int refill_slowly(struct stock *stock, unsigned int gate, uint32_t nr_new)
{
	enum move move;

	set_moving(stock, 1);
	move = move_to_gate(stock, gate, nr_new);
	set_moving(stock, 0);
	if (move == MOVED)
		return 0;
	if (unlikely(move == ROOM_WAS_CLOSED))
		return refill_after_closing(stock, &stock->room, gate, nr_new);
	if (unlikely(move == SPARE_WAS_CLOSED))
		return refill_after_closing(stock, &stock->spare, gate, nr_new);
	return refill_in_flight(stock, gate, nr_new);
}

/* The usual move, in as few instructions as it takes: what was freed pays for all that is listed.
 */
static always_inline enum move move_all(struct stock *stock, unsigned int gate, uint32_t nr_new)
{
	struct stock_slow_gate *slow = &stock->slow_gates[gate];
	uint64_t each = stock_gate_bytes[gate], nr_bytes = nr_new * each;
	int64_t room = get(&stock->room);
	uint64_t gate_bytes;

	if (get(&stock->gates[gate].nr_ready) < -1 || room < 0 ||
	    nr_bytes > (uint64_t)(STOCK_ROOM_BYTES - room))
		return NOTHING_MOVED;
	gate_bytes = stock->nr_gate_bytes - slow->nr_opened * each + nr_bytes;
	if (slow->nr_parked || !nr_new || gate_bytes > STOCK_GATES_BYTES)
		return NOTHING_MOVED;
	if (!word_add(&stock->room, nr_bytes))
		return ROOM_WAS_CLOSED;
	if (!word_add(&stock->gates[gate].nr_ready, nr_new)) {
		stock->in_hand = nr_bytes;
		return NOTHING_MOVED;
	}
	slow->nr_opened = nr_new;
	stock->nr_gate_bytes = gate_bytes;
	return MOVED;
}

int stock_refill_counted(struct stock *stock, unsigned int gate, uint32_t nr_new)
{
	enum move move;

	set_moving(stock, 1);
	move = move_all(stock, gate, nr_new);
	set_moving(stock, 0);
	if (likely(move == MOVED))
		return 0;
	if (unlikely(move == ROOM_WAS_CLOSED))
		return refill_after_closing(stock, &stock->room, gate, nr_new);
	return refill_slowly(stock, gate, nr_new);
}

/* In flight: as refill_gate(), for bytes. */
static uint32_t charge_from_books(struct stock *stock, uint64_t nr_bytes, uint32_t counter,
				  bool stay_closed)
{
	uint64_t ahead = 0;
	uint32_t at;

	if (!stay_closed && nr_bytes <= STOCK_BATCH_BYTES)
		ahead = batch_bytes(counter, use_reserve(stock), nr_bytes);
	at = counter_try_add(counter, 0, nr_bytes + ahead, use_reserve(stock));
	if (at && ahead) {
		ahead = 0;
		at = counter_try_add(counter, 0, nr_bytes, use_reserve(stock));
	}
	if (at)
		return at;
	owner_charge_gone(owner_of(stock), nr_bytes + ahead);
	if (!stay_closed) {
		open_words(stock);
		set(&stock->spare, get(&stock->spare) + ahead);
	}
	return 0;
}

int stock_charge(struct stock *stock, uint64_t nr_bytes)
{
	if (stock->unlimited)
		return 0;
	for (;;) {
		uint32_t counter = flight_begin(stock->flight, owner_of(stock));
		uint32_t at = use_reserve(stock) ? 0 : counter_refused(counter, nr_bytes);
		bool decided = at != 0;

		merge_room(stock, counter);
		if (!at) {
			int64_t spare = get(&stock->spare);

			if (spare >= 0 && (uint64_t)spare >= nr_bytes)
				set(&stock->spare, spare - nr_bytes);
			else
				at = charge_from_books(stock, nr_bytes, counter,
						       must_stay_closed(counter));
		}
		flight_end(stock->flight);
		if (!at ||
		    (!decided && !charge_decide(stock->flight, owner_of(stock), nr_bytes, at, &at)))
			return 0;
		if (!charge_ops.refused ||
		    !charge_ops.refused(stock->flight, at, owner_of(stock), nr_bytes))
			return -ENOMEM;
	}
}

void stock_uncharge(struct stock *stock, uint64_t nr_bytes)
{
	uint32_t counter;

	if (stock->unlimited)
		return;
	counter = flight_try_begin(stock->flight, owner_of(stock));
	/* A thread that only frees opens its stock here; not for a group that is gone. */
	if (counter && get(&stock->room) < 0 && !owner_is_gone(owner_of(stock)) &&
	    !must_stay_closed(counter))
		open_words(stock);
	if (!counter || get(&stock->room) < 0) {
		/* To stay closed, or being decided upon: a free neither waits nor opens then. */
		if (counter)
			flight_end(stock->flight);
		owner_uncharge(stock->flight, owner_of(stock), nr_bytes);
		return;
	}
	merge_room(stock, counter);
	if (nr_bytes <= STOCK_ROOM_BYTES)
		set(&stock->room, STOCK_ROOM_BYTES - (int64_t)nr_bytes);
	else
		give_back(stock, counter, nr_bytes);
	flight_end(stock->flight);
}
