/* SPDX-License-Identifier: MIT */
/*
 * Gates that ran empty, or were closed: what was freed since, or is charged now, pays for the
 * objects that are listed.
 */
#include <errno.h>

#include "charge/charge.h"
#include "charge/counter.h"
#include "charge/open.h"
#include "charge/overage.h"
#include "charge/owner.h"
#include "charge/settle.h"
#include "charge/stock.h"

/* A refill serves that many objects, however large, if the bytes are there. */
#define GATE_MIN_OBJECTS 16u

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
	uint64_t nr_bytes = min((uint64_t)word_get(stock_spare(stock)), gate_max_bytes(each));
	uint64_t nr_objects = min(min(nr_bytes, left + each) / each, (uint64_t)slow->nr_parked);

	word_set(stock_spare(stock), word_get(stock_spare(stock)) - (int64_t)(nr_objects * each));
	slow->nr_parked -= nr_objects;
	slow->nr_opened = nr_objects - 1;
	stock->nr_gate_bytes += slow->nr_opened * each;
	word_set(stock_ready(stock, gate), slow->nr_opened);
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
	uint64_t spare = max(word_get(stock_spare(stock)), (int64_t)0);
	bool stay_closed = stock_must_stay_closed(counter);
	uint64_t ahead = 0, missing;
	uint32_t at;

	if (spare >= each) {
		serve_gate(stock, gate);
		return 0;
	}
	if (!stay_closed)
		ahead = min(stock->nr_ahead,
			    stock_ahead_bytes(counter, stock_use_reserve(stock), each));
	missing = each - spare;
	at = counter_try_add(counter, 0, missing + ahead, stock_use_reserve(stock));
	if (at && ahead) {
		ahead = 0;
		at = counter_try_add(counter, 0, missing, stock_use_reserve(stock));
	}
	if (at)
		return at;
	owner_charge_gone(stock_owner(stock), missing + ahead);
	overage_note(stock->flight, counter, missing + ahead);
	if (stay_closed) {
		stock->slow_gates[gate].nr_parked--;
		return 0;
	}
	stock_open(stock);
	word_set(stock_spare(stock), (int64_t)(each + ahead));
	stock->nr_ahead = min(2 * stock->nr_ahead, STOCK_BATCH_BYTES);
	serve_gate(stock, gate);
	return 0;
}

/* In order with the words: plain stores are, others are sequentially consistent. */
static void set_moving(struct stock *stock, uint32_t moving)
{
	atomic_signal_fence(memory_order_seq_cst);
	/* Partner: wait_for_move(), after the barrier. */
	atomic_store_explicit(&stock_words(stock)->moving, moving,
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
	int64_t room = word_get(stock_room(stock)), spare = word_get(stock_spare(stock));
	uint64_t each = stock_gate_bytes[gate], freed, nr_bytes, gate_bytes;
	uint32_t nr_listed, nr_objects;
	int64_t from_room;

	/* Short by the caller's object is open. A gate that is closed is opened in flight. */
	if (word_get(stock_ready(stock, gate)) < -1 || room < 0 || spare < 0)
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
	if (!word_subtract(stock_spare(stock), (int64_t)nr_bytes - from_room))
		return SPARE_WAS_CLOSED;
	/* If one of these is closed meanwhile, whoever did that waits for us, and takes this. */
	if (!word_add(stock_room(stock), from_room)) {
		stock_words(stock)->in_hand = nr_bytes - from_room;
		return ROOM_WAS_CLOSED;
	}
	if (!word_add(stock_ready(stock, gate), nr_objects)) {
		stock_words(stock)->in_hand = nr_bytes;
		return NOTHING_MOVED;
	}
	stock->untold_gate = 0;
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
		uint32_t counter = stock_take_off(stock);
		uint32_t at = stock_use_reserve(stock) ? 0 : counter_refused(counter, each);
		bool decided = at != 0;

		stock->slow_gates[gate].nr_parked += nr_new;
		stock->untold_gate = 0;
		nr_new = 0;
		/* What the last refill opened is used up, or was closed. */
		stock->nr_gate_bytes -= stock->slow_gates[gate].nr_opened * each;
		stock->slow_gates[gate].nr_opened = 0;
		stock_merge_room(stock, counter);
		if (!at)
			at = refill_gate(stock, gate, counter);
		flight_end(stock->flight);
		if (!at)
			return 1;
		if (!decided && !charge_decide(stock->flight, stock_owner(stock), each, at, &at)) {
			stock->slow_gates[gate].nr_parked--;
			return 1;
		}
		if (decided && !charge_is_refused(at, each))
			continue;
		charge_refused(stock->flight, at, stock_owner(stock), each);
		return -ENOMEM;
	}
}

/* The same, when a word was closed under a move, which left its own number in it. */
static noinline int refill_after_closing(struct stock *stock, stock_word *word, unsigned int gate,
					 uint32_t nr_new)
{
	word_restore(word, 0);
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
		return refill_after_closing(stock, stock_room(stock), gate, nr_new);
	if (unlikely(move == SPARE_WAS_CLOSED))
		return refill_after_closing(stock, stock_spare(stock), gate, nr_new);
	return refill_in_flight(stock, gate, nr_new);
}

/* The usual move, in as few instructions as it takes: what was freed pays for all that is listed.
 */
static always_inline enum move move_all(struct stock *stock, unsigned int gate, uint32_t nr_new)
{
	struct stock_slow_gate *slow = &stock->slow_gates[gate];
	uint64_t each = stock_gate_bytes[gate], nr_bytes = nr_new * each;
	int64_t room = word_get(stock_room(stock));
	uint64_t gate_bytes;

	if (word_get(stock_ready(stock, gate)) < -1 || room < 0 ||
	    nr_bytes > (uint64_t)(STOCK_ROOM_BYTES - room))
		return NOTHING_MOVED;
	gate_bytes = stock->nr_gate_bytes - slow->nr_opened * each + nr_bytes;
	if (slow->nr_parked || !nr_new || gate_bytes > STOCK_GATES_BYTES)
		return NOTHING_MOVED;
	if (!word_add(stock_room(stock), nr_bytes))
		return ROOM_WAS_CLOSED;
	if (!word_add(stock_ready(stock, gate), nr_new)) {
		stock_words(stock)->in_hand = nr_bytes;
		return NOTHING_MOVED;
	}
	stock->untold_gate = 0;
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
		return refill_after_closing(stock, stock_room(stock), gate, nr_new);
	return refill_slowly(stock, gate, nr_new);
}
