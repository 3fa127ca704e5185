/* SPDX-License-Identifier: MIT
 * The owner of a stock moves bytes from one word to another, out of flight, while a thread closes
 * both, under total store order (x86).
 *
 * Four places in memory: the words FROM and TO, whether the owner is moving, and what it has in hand.
 * Its stores wait in its store buffer, in order; a membarrier waits until that is empty. Checked:
 * whenever closing has ended, what it took is all that there was; no byte is lost on the way from
 * word to word, or taken twice.
 *   spin FLAGS -a move.pml && gcc -O2 -DSAFETY -o pan pan.c && ./pan -m100000
 *   (none)           0 errors
 *   -DMOVES=3        0 errors
 * Errors expected: -DZ1 (closing does not wait for the move); -DZ2 (no membarrier before it looks);
 *   -DZ3 (what is in hand is forgotten). */
#ifndef MOVES
#define MOVES 2
#endif
#define BUF 3
#define START 3
#define CLOSED (-100)
#define IS_CLOSED(v) ((v) < CLOSED/2)
#define FROM 0
#define TO 1
#define MOVING 2
#define HAND 3

short mem[4];          /* FROM holds START at first */
short val[BUF];        /* the owner's stores on their way, oldest first */
byte addr[BUF];
byte nr_buf;

/* What the owner reads: its own youngest store to the place, else memory. */
inline load(a, v) {
	v = mem[a];
	if :: nr_buf > 0 && addr[0] == a -> v = val[0] :: else fi;
	if :: nr_buf > 1 && addr[1] == a -> v = val[1] :: else fi;
	if :: nr_buf > 2 && addr[2] == a -> v = val[2] :: else fi
}
inline store(a, v) { addr[nr_buf] = a; val[nr_buf] = v; nr_buf++ }
/* One instruction that adds; n is what it leaves. */
inline add(a, n, v) { load(a, v); v = v + n; store(a, v) }

proctype store_buffer() {
end:
	do
	:: atomic { nr_buf > 0 ->
		mem[addr[0]] = val[0];
		addr[0] = addr[1]; val[0] = val[1]; addr[1] = addr[2]; val[1] = val[2]; nr_buf-- }
	od
}

proctype owner() {
	short v;
	byte n;

	do
	:: n < MOVES ->
		n++;
		atomic { nr_buf < BUF -> store(MOVING, 1) };
		atomic { load(FROM, v) };
		if
		:: v >= 1 ->
			atomic { nr_buf < BUF -> add(FROM, -1, v) };
			if
			:: v < 0 ->        /* closed meanwhile: nothing was taken */
				atomic { nr_buf < BUF -> store(MOVING, 0) };
				break
			:: else ->
				atomic { nr_buf < BUF -> add(TO, 1, v) };
				if
				:: v < 0 ->
					atomic { nr_buf < BUF -> store(HAND, 1) };
					atomic { nr_buf < BUF -> store(MOVING, 0) };
					break
				:: else -> skip
				fi
			fi
		:: else -> skip
		fi;
		atomic { nr_buf < BUF -> store(MOVING, 0) }
	:: else -> break
	od
}

inline membarrier() {
#ifndef Z2
	nr_buf == 0
#else
	skip
#endif
}

/* Record, and swap if that is still so. */
inline close(w, taken) {
	do
	:: now = mem[w];
		if
		:: !IS_CLOSED(now) -> taken = now
		:: else -> break
		fi;
		atomic { if :: mem[w] == now -> mem[w] = CLOSED; break :: else fi }
	od
}

proctype closer() {
	short from, to, now, hand;

again:
	close(FROM, from);
	close(TO, to);
	membarrier();
	if :: !IS_CLOSED(mem[FROM]) || !IS_CLOSED(mem[TO]) -> goto again :: else fi;
#ifndef Z1
	mem[MOVING] == 0;
#endif
#ifndef Z3
	hand = mem[HAND];
#endif
	assert(from + to + hand == START);
	/* And nothing opens again, whatever the owner still does. */
	nr_buf == 0;
	assert(IS_CLOSED(mem[FROM]) && IS_CLOSED(mem[TO]))
}


init { atomic { mem[FROM] = START; run store_buffer(); run owner(); run closer() } }
