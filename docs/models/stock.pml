/* SPDX-License-Identifier: MIT
 * One word of a stock, its owner and a thread that closes it, under total store order (x86).
 *
 * The owner's subtraction is one instruction, so it is never interrupted half way, but it is not
 * locked: its store waits in the owner's store buffer (BUF slots) while others may exchange the
 * word in memory. A membarrier waits until that buffer is empty. Checked: what the owner commits
 * and what closing takes add up to what was there, in every order; and closing always comes to an
 * end while the owner runs (no assertion, no invalid end state).
 *   spin FLAGS -a stock.pml && gcc -O2 -DSAFETY -o pan pan.c && ./pan -m100000
 *   (none)           0 errors
 *   -DMORE           0 errors (more in the word, and more attempts)
 * Errors expected: -DY1 (no membarrier); -DY2 (no second look); -DY3 (a negative number taken for
 *   closed); -DY4 (restored without the lock). */
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

short word = START;
short buf[BUF];        /* the owner's stores to the word, oldest first */
byte nr_buf;
bool locked;
byte committed;        /* ghost: given to the owner's caller */
byte refused;          /* ghost: went the slow way */
bool thawed;           /* what stops the owner from opening the word again is not modelled */

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
		if :: size = 1 :: size = 2 fi;
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
			/* A locked instruction: empties the buffer first. */
			atomic { !locked && nr_buf == 0 -> locked = true };
			v = word;
			atomic { buf[0] = (IS_CLOSED(v) -> CLOSED : v+size); nr_buf = 1 };
			/* The unlocking store follows in order, so it is seen after the word. */
			atomic { nr_buf == 0 -> locked = false };
#endif
			refused++
		fi
	:: else -> break
	od
}

active proctype closer() {
	short taken, now;

again:
	atomic { !locked -> locked = true };
	atomic { taken = word; if :: !IS_CLOSED(word) -> word = CLOSED :: else fi };
#ifndef Y1
	nr_buf == 0;           /* membarrier */
#endif
	do
	:: now = word;
		if
#ifndef Y2
		:: !IS_CLOSED(now) ->
			atomic { taken = word; word = CLOSED };
#ifndef Y1
			nr_buf == 0
#endif
#endif
		:: else -> break
		fi
	od;
	if
#ifndef Y3
	:: taken < 0 && !IS_CLOSED(taken) ->
		word = taken;
		locked = false;
		goto again
#endif
	:: else
	fi;
	locked = false;
	/* Whatever the owner does from here on, it commits nothing more. */
	if :: taken < 0 -> taken = 0 :: else fi;
	assert(committed + taken == START);
	now = committed;
	(nr_buf == 0);
	assert(IS_CLOSED(word) && committed == now && committed + taken == START)
}
