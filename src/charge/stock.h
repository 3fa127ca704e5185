/* SPDX-License-Identifier: MIT */
/*
 * The stock: what one thread has charged ahead to one owner.
 *
 * Its words say what the thread may still do without asking anybody: how many listed objects of
 * a size class it may hand out (gate), how many bytes of freed objects it may keep (room), how many
 * charged bytes it has besides (spare). A negative word is closed.
 *
 * The words lie in the stock's window (charge/window.h), and nothing else of it is anybody's but
 * the owning thread's. The protocol by which that thread changes its words, and other threads close
 * them, stands in charge/word.h.
 *
 * Opening, merging and charging are the owner's, while it is in flight (charge/flight.h); closing
 * is done in exclusive mode, when no owner below is in flight. So both never happen at once.
 * What is open already the owner may also move from word to word out of flight; it says so in
 * `moving`, and who closes waits for that, and takes what was in hand.
 */
#ifndef UMEMCG_CHARGE_STOCK_H
#define UMEMCG_CHARGE_STOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "charge/flight.h"
#include "charge/window.h"
#include "charge/word.h"

/* The greatest batch of a gate, of the room, and of the spare. */
#if CONFIG_STOCK_BYTES > 0
#define STOCK_BATCH_BYTES ((uint64_t)CONFIG_STOCK_BYTES)
#else
#define STOCK_BATCH_BYTES ((uint64_t)64 << 10)
#endif

/*
 * The greatest amount that one stock can hold: the gates together, the room, and the spare, plus
 * what crosses each border.
 */
#define STOCK_GATES_BYTES (8 * STOCK_BATCH_BYTES)
#define STOCK_ROOM_BYTES  (2 * STOCK_BATCH_BYTES)
#define STOCK_SPARE_BYTES (2 * STOCK_BATCH_BYTES)
#define STOCK_MAX_BYTES   (STOCK_GATES_BYTES + STOCK_ROOM_BYTES + STOCK_SPARE_BYTES)

/* What the first refill charges ahead; those after it more and more, up to a batch. */
#define STOCK_FIRST_AHEAD_BYTES min((uint64_t)4096, STOCK_BATCH_BYTES)

struct stock_gate {
	void *objects; /* the heap's list; its owner thread alone touches it */
};

/* What only the slow path looks at. A list is of one page's blocks, so 16 bits count it. */
struct stock_slow_gate {
	uint16_t nr_parked; /* listed objects that are not charged */
	uint16_t nr_opened; /* objects that the last refill charged ahead */
};

/* The row of a chunk begins with it. */
struct stock {
	_Atomic uint32_t owner; /* whose; 0 while unbound. Set by the owner thread in flight */
	uint32_t unlimited;     /* accounting is off: never asks, never charges */
	uint32_t nr_gate_bytes; /* charged ahead in gates, at most */
	uint32_t untold_gate;   /* plus 1: has a new list of one that nothing knows of yet; or 0 */
	uint64_t nr_ahead;      /* bytes that the next flight charges ahead */
	struct flight *flight;  /* the thread's; never changes */
	struct stock *next;     /* of the flight's list; never changes */
	struct stock *next_taken; /* of those being closed together; theirs who close */
	int64_t external_at_fork; /* its word, when the process was about to fork */
	struct stock_gate gates[STOCK_NR_GATES];
	struct stock_slow_gate slow_gates[STOCK_NR_GATES];
};

_Static_assert(offsetof(struct stock, slow_gates) <= WINDOW_ROW_BYTES / 2,
	       "see struct stock_words");

static always_inline struct stock_words *stock_words(const struct stock *stock)
{
	return (struct stock_words *)((char *)stock + WINDOW_DISTANCE);
}

static always_inline stock_word *stock_external(const struct stock *stock)
{
	return &stock_words(stock)->words[WORD_EXTERNAL];
}

static always_inline stock_word *stock_room(const struct stock *stock)
{
	return &stock_words(stock)->words[WORD_ROOM];
}

static always_inline stock_word *stock_spare(const struct stock *stock)
{
	return &stock_words(stock)->words[WORD_SPARE];
}

static always_inline stock_word *stock_ready(const struct stock *stock, unsigned int gate)
{
	return &stock_words(stock)->words[WORD_GATES + gate];
}

/* The same for who has the gate: words and lists lie in the same order, word after word. */
static always_inline stock_word *stock_gate_ready(const struct stock_gate *gate)
{
	return (stock_word *)((char *)gate + WINDOW_DISTANCE +
			      offsetof(struct stock_words, words[WORD_GATES]) -
			      offsetof(struct stock, gates));
}

_Static_assert(sizeof(struct stock_gate) == sizeof(stock_word), "see stock_gate_ready()");

/* Bytes that an object of a gate is charged; the heap fills it in before the first stock. */
extern hidden uint32_t stock_gate_bytes[STOCK_NR_GATES];

/**
 * stock_take_object - may the thread hand out the first object of a gate's list?
 *
 * True commits it: the list is not empty and the object is charged. Two instructions. False is to
 * be followed by stock_refill() or stock_undo_take(), out of the fast path's way.
 */
static always_inline bool stock_take_object(struct stock_gate *gate)
{
	if (!CONFIG_MEMCG)
		return likely(gate->objects != NULL);
	return word_subtract(stock_gate_ready(gate), 1);
}

static inline void stock_undo_take(struct stock *stock, unsigned int gate)
{
	if (CONFIG_MEMCG)
		word_restore(stock_ready(stock, gate), 1);
}

/**
 * stock_keep_bytes - as stock_put_bytes(), but false is to be followed by stock_undo_keep()
 */
static always_inline bool stock_keep_bytes(struct stock *stock, uint64_t nr_bytes)
{
	return !CONFIG_MEMCG || word_subtract(stock_room(stock), (int64_t)nr_bytes);
}

static inline void stock_undo_keep(struct stock *stock, uint64_t nr_bytes)
{
	if (CONFIG_MEMCG)
		word_restore(stock_room(stock), (int64_t)nr_bytes);
}

/** stock_put_bytes - may the thread keep the bytes of an object that it freed? True commits it. */
static always_inline bool stock_put_bytes(struct stock *stock, uint64_t nr_bytes)
{
	if (!CONFIG_MEMCG)
		return true;
	return word_try_subtract(stock_room(stock), (int64_t)nr_bytes);
}

/**
 * stock_init - make a stock of a thread known to drains, unbound and closed
 *
 * In a row of zeros of a chunk that has its window, never given back: a stock is rebound instead.
 */
void stock_init(struct stock *stock, struct flight *flight);

/** stock_init_closed - for a stock that only sends its thread the slow way; drains do not see it */
void stock_init_closed(struct stock *stock);

/** stock_bind - begin to serve an owner; 0 for one that is not counted: it never asks */
void stock_bind(struct stock *stock, uint32_t owner);

/**
 * stock_unbind - give everything back and serve nobody
 *
 * The gates' lists stay, and are known when it is bound again; nothing of them is charged.
 */
void stock_unbind(struct stock *stock);

/**
 * stock_list - put new objects on a gate's empty list, for the stock_refill() that follows
 *
 * A fork child whose thread was lost takes one object more than the stock knows of for one that is
 * charged, and was about to be handed out. So it is noted before if it is no more than new.
 */
static inline void stock_list(struct stock *stock, unsigned int gate, void *first, uint32_t nr)
{
	stock->untold_gate = nr == 1 ? gate + 1 : 0;
	atomic_signal_fence(memory_order_seq_cst);
	stock->gates[gate].objects = first;
}

/* The part of stock_refill() for owners that are counted. */
int stock_refill_counted(struct stock *stock, unsigned int gate, uint32_t nr_new);

/**
 * stock_refill - charge one object of a gate for the caller, and open the gate for more
 * @nr_new: objects that the caller has just put on the gate's list, fewer than 2^16; 0 if it was
 *          not empty
 *
 * Follows a stock_take_object() that failed, in place of stock_undo_take(). The list is not empty;
 * the caller hands out its first object.
 *
 * Return: 0; 1: the same, and it took a flight, so that usage may have grown; -ENOMEM: nothing is
 * charged, the objects stay listed.
 */
static inline int stock_refill(struct stock *stock, unsigned int gate, uint32_t nr_new)
{
	if (!CONFIG_MEMCG || !stock->unlimited)
		return stock_refill_counted(stock, gate, nr_new);
	/* The gate is short by the caller's object, which this makes good. No drain knows it. */
	word_add(stock_ready(stock, gate), nr_new);
	return 0;
}

/** stock_charge - charge bytes for the caller, from the stock or else exactly; 0 or -ENOMEM */
int stock_charge(struct stock *stock, uint64_t nr_bytes);

/** stock_uncharge - give bytes back, to the stock or else to the books */
void stock_uncharge(struct stock *stock, uint64_t nr_bytes);

/**
 * stock_forget_gate - the heap has taken all objects off a gate's list without handing them out
 *
 * For a view that gives its objects back: their charge goes to the spare. Call it in the owner
 * thread, with the whole list: afterwards the gate holds nothing and nothing is parked.
 */
void stock_forget_gate(struct stock *stock, unsigned int gate);

static inline uint32_t stock_owner(const struct stock *stock)
{
	/* relaxed: for the owner thread, and who was led to the stock by stock_owner_below(). */
	return atomic_load_explicit(&stock->owner, memory_order_relaxed);
}

/** stock_owner_below - its owner if that is charged at @counter or below, else 0 */
uint32_t stock_owner_below(const struct stock *stock, uint32_t counter);

/**
 * stock_note_external - before a fork of a process with shared windows: explicit charges that its
 * threads know of
 * stock_renew_windows - in the child, first of all: windows of its own, with everything closed
 *
 * If there are no chunks for them the child's windows are private, and its stocks stay closed.
 */
void stock_note_external(void);
void stock_renew_windows(void);

static inline struct stock *stock_first(const struct flight *flight)
{
	/* Acquire pairs with stock_init(). */
	return atomic_load_explicit(&flight->stocks, memory_order_acquire);
}

#define for_each_stock(stock)                                                                      \
	for (struct flight *flight_ = flight_first(); flight_; flight_ = flight_->next)            \
		for ((stock) = stock_first(flight_); (stock); (stock) = (stock)->next)

#endif
