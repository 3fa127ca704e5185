/* SPDX-License-Identifier: MIT */
/*
 * Marks for the exact meter of `umemcg bench`: no-ops that a program executes to say where what is
 * to be counted begins and ends. They do nothing elsewhere and cost an instruction each, which is
 * not counted. The meter finds them by their bytes, so they need no library and no privilege.
 *
 *	UMEMCG_MARK(1);			what follows is counted as part 1
 *	for (...) {
 *		work();
 *		UMEMCG_MARK_ITERATION();	one operation of part 1 is over
 *	}
 *	UMEMCG_MARK(0);			what follows is not counted
 *
 * A part may be entered more than once; its counts add up. x86-64 only.
 */
#ifndef UMEMCG_MARKS_H
#define UMEMCG_MARKS_H

/* Parts of a program of one's own: 1 to UMEMCG_MARK_MAX. Above lie those of the lab's own guest. */
#define UMEMCG_MARK_MAX 255

#define UMEMCG_MARK_ITERATION_ID 0xffff

/* nopl 0x4d43<id>(%rax): no register and no memory is read or written. */
#define UMEMCG_MARK(id)                                                                            \
	__asm__ volatile(".byte 0x0f, 0x1f, 0x80\n\t.short %c0\n\t.byte 0x43, 0x4d"                \
			 :                                                                         \
			 : "i"(id)                                                                 \
			 : "memory")

#define UMEMCG_MARK_ITERATION() UMEMCG_MARK(UMEMCG_MARK_ITERATION_ID)

#endif
