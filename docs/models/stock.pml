/* SPDX-License-Identifier: MIT
 * One word of a stock, its owner and a thread that closes it, under total store order (x86).
 *
 * The owner's subtraction is one instruction, so it is never interrupted half way, but it is not
 * locked: its store waits in the owner's store buffer (BUF slots) while others may swap the word in
 * memory. A membarrier waits until that buffer is empty. Who closes records what the word holds,
 * and swaps it for CLOSED if that is still so. Nobody has a lock. Checked: what the owner commits
 * and what was recorded add up to what was there, in every order; and closing always comes to an
 * end while the owner runs (no assertion, no invalid end state).
 *   spin FLAGS -a stock.pml && gcc -O2 -DSAFETY -o pan pan.c && ./pan -m100000
 *   (none)           0 errors
 *   -DMORE           0 errors (more in the word, and more attempts)
 *   -DGATE           0 errors (a word of objects: one at a time, and closed even if it is short)
 *   -DGATE -DMORE    0 errors
 * Errors expected: -DY1 (no membarrier); -DY2 (no second look); -DY3 (a word that is overdrawn by
 *   more than one is closed like a gate's); -DGATE -DY4 (put back by a plain store; nobody touches
 *   an overdrawn word that is no gate's); -DY5 (swapped whatever it holds by now). */
#define BUF 2
#ifdef MORE
#define START 5
#define TRIES 6
#else
#define START 3
#define TRIES 4
#endif
#define CLOSED (-100)
#define IS_CLOSED(v) ((v) < CLOSED/2)
#ifdef GATE
#define SIZES size = 1
#else
#define SIZES if :: size = 1 :: size = 2 fi
#endif
#if defined(GATE) || defined(Y3)
#define MAY_BE_SHORT true
#else
#define MAY_BE_SHORT false
#endif

short word = START;
short buf[BUF];        /* the owner's stores to the word, oldest first */
byte nr_buf;
byte taken;            /* what the closer recorded; whoever comes next reads it */
byte committed;        /* ghost: given to the owner's caller */
byte refused;          /* ghost: went the slow way */
/* What stops the owner from opening the word again is not modelled. */

inline flush_one() { word = buf[0]; buf[0] = buf[1]; nr_buf-- }

/* The processor writes the owner's stores to memory whenever it likes. */
active proctype store_buffer() {
end:
	do
	:: atomic { nr_buf > 0 -> flush_one() }
	od
}

active proctype owner() {
	short v;
	byte n, size;

	do
	:: n < TRIES ->
		n++;
		SIZES;
		/* sub: the load sees one's own youngest store; the result goes to the buffer. */
		atomic {
			nr_buf < BUF ->
			if
			:: nr_buf > 0 -> v = buf[nr_buf-1]
			:: else -> v = word
			fi;
			v = v - size;
			buf[nr_buf] = v;
			nr_buf++;
			if :: v >= 0 -> committed = committed + size :: else fi
		};
		if
		:: v >= 0 -> skip
		:: else ->
#ifdef Y4
			v = (nr_buf > 0 -> buf[nr_buf-1] : word);
			atomic { nr_buf < BUF -> buf[nr_buf] = (IS_CLOSED(v) -> CLOSED : v+size); nr_buf++ };
#else
			/* A locked instruction: empties the buffer first, and goes through memory. */
			do
			:: atomic { nr_buf == 0 -> v = word };
				atomic {
					nr_buf == 0;
					if
					:: word == v -> word = (IS_CLOSED(v) -> CLOSED : v+size); break
					:: else
					fi
				}
			od;
#endif
			refused++
		fi
	:: else -> break
	od
}

active proctype closer() {
	short v;
	byte now;

again:
	v = word;
	if
	:: IS_CLOSED(v) -> goto barrier
	:: !IS_CLOSED(v) && v < 0 && !MAY_BE_SHORT -> goto barrier
	:: else
	fi;
	taken = (v > 0 -> v : 0);
#ifdef Y5
	word = CLOSED;
#else
	atomic { if :: word == v -> word = CLOSED :: else -> goto again fi };
#endif
barrier:
#ifndef Y1
	nr_buf == 0;           /* membarrier */
#endif
#ifndef Y2
	/* Overwritten by a store that was on its way, or left for its owner to put back. */
	if :: !IS_CLOSED(word) -> goto again :: else fi;
#endif
	/* Whatever the owner does from here on, it commits nothing more. */
	assert(committed + taken == START);
	now = committed;
	(nr_buf == 0);
	assert(IS_CLOSED(word) && committed == now && committed + taken == START)
}
