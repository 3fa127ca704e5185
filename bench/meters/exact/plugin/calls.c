/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "calls.h"
#include "counters.h"
#include "failure.h"
#include "symbols.h"
#include "tasks.h"

/* Calls that lie deeper are not followed. */
#define NR_FRAMES_MAX 65536
/* Return addresses of one stack lie closer together than those of two. */
#define NR_STACK_BYTES (1u << 20)

struct call_frame {
	uint64_t slot;      /* of its return address; 0 if there is none */
	uint64_t nr_before; /* instructions of the task up to its first */
	uint32_t caller;
	uint32_t callee;
	bool boundary; /* of the kernel: returns on its own side do not pass it */
};

struct call_stack {
	struct call_frame *frames;
	uint32_t nr_frames;
	uint32_t nr_room;
	uint64_t opening; /* of a part, for which the frames hold */
	uint64_t nr_instructions;
};

static bool wanted;
static uint64_t executed;

static struct call_table *table; /* of the open part */
static uint64_t opening;

static struct call_stack *running;
static bool counted; /* the context is that of a task */
static bool undecided;
static uint64_t executed_before; /* what the running stack has not got is the distance from here */

/* A call whose target has not been reached. */
static bool pending;
static uint32_t pending_caller;
static uint64_t pending_slot;

/* Edges of a task of which it is not known yet whether it runs user code. */
static struct call_edge *undecided_edges;
static size_t nr_undecided_edges;

void calls_init(void)
{
	wanted = true;
}

uint64_t *calls_executed(void)
{
	return wanted ? &executed : NULL;
}

struct call_stack *calls_create(void)
{
	return wanted ? allocate(1, sizeof(struct call_stack)) : NULL;
}

void calls_destroy(struct call_stack *stack)
{
	if (!stack)
		return;
	free(stack->frames);
	free(stack);
}

static void book(uint32_t caller, uint32_t callee, uint64_t nr_calls, uint64_t nr_instructions)
{
	struct call_edge edge = { caller, callee, nr_calls, nr_instructions };

	if (!undecided) {
		call_table_add(table, &edge);
		return;
	}
	undecided_edges =
		allocate_next(undecided_edges, nr_undecided_edges, sizeof(*undecided_edges));
	undecided_edges[nr_undecided_edges++] = edge;
}

/* Bring the running task's instructions up to now. */
static void update(void)
{
	if (counted)
		running->nr_instructions += executed - executed_before;
	executed_before = executed;
}

static void pop(void)
{
	const struct call_frame *frame = &running->frames[--running->nr_frames];

	book(frame->caller, frame->callee, 0, running->nr_instructions - frame->nr_before);
}

/* Pops down to a height. */
static void pop_to(uint32_t nr_frames)
{
	update();
	while (running->nr_frames > nr_frames)
		pop();
}

static void push(uint32_t caller, uint32_t callee, uint64_t slot, bool boundary)
{
	update();
	book(caller, callee, 1, 0);
	if (running->nr_frames == NR_FRAMES_MAX)
		return;
	if (running->nr_frames == running->nr_room) {
		running->nr_room = running->nr_room ? 2 * running->nr_room : 64;
		running->frames =
			allocate_more(running->frames, running->nr_room, sizeof(*running->frames));
	}
	running->frames[running->nr_frames++] = (struct call_frame){
		.slot = slot,
		.nr_before = running->nr_instructions,
		.caller = caller,
		.callee = callee,
		.boundary = boundary,
	};
}

/* A stack that has not run since the part was opened is of an earlier one. */
static void refresh(struct call_stack *stack)
{
	if (stack->opening == opening)
		return;
	stack->opening = opening;
	stack->nr_frames = 0;
	stack->nr_instructions = 0;
}

void calls_open(struct call_table *opened)
{
	if (!wanted)
		return;
	table = opened;
	opening++;
	pending = false;
	nr_undecided_edges = 0;
	executed_before = executed;
	refresh(running);
}

static void close_stack(struct call_stack *stack)
{
	struct call_stack *saved = running;

	if (stack->opening != opening)
		return;
	running = stack;
	while (stack->nr_frames)
		pop();
	running = saved;
}

void calls_close(void)
{
	if (!table)
		return;
	update();
	tasks_each_calls(close_stack);
	table = NULL;
}

void calls_context(unsigned int context)
{
	if (table)
		update();
	pending = false;
	undecided = context == COUNT_UNDECIDED;
	counted = context == COUNT_TASK || undecided;
}

void calls_switch(struct call_stack *stack)
{
	if (!wanted)
		return;
	/* From one task to another of the same context nothing was brought up to date. */
	if (table)
		update();
	running = stack;
	pending = false;
	if (table)
		refresh(running);
}

void calls_end(void)
{
	if (table)
		pop_to(0);
}

void calls_decide(bool user)
{
	if (!table)
		return;
	for (size_t i = 0; user && i < nr_undecided_edges; i++)
		call_table_add(table, &undecided_edges[i]);
	nr_undecided_edges = 0;
	if (!user)
		running->nr_frames = 0;
}

void calls_called(uint32_t caller, uint64_t slot)
{
	if (!table || !counted)
		return;
	pending = true;
	pending_caller = caller;
	pending_slot = slot;
}

/* Frames that a longjmp() has left behind lie where the stack grows again. */
static uint32_t nr_living(uint64_t slot)
{
	uint32_t nr = running->nr_frames;

	while (nr) {
		const struct call_frame *frame = &running->frames[nr - 1];

		if (frame->boundary || !frame->slot || frame->slot > slot ||
		    slot - frame->slot >= NR_STACK_BYTES)
			break;
		nr--;
	}
	return nr;
}

/* What stands above the function that calls has returned, by a way that was not seen. */
static uint32_t nr_up_to_caller(uint32_t nr_frames, uint32_t caller)
{
	for (uint32_t nr = nr_frames; nr; nr--) {
		if (running->frames[nr - 1].callee == caller)
			return nr;
		if (running->frames[nr - 1].boundary)
			break;
	}
	return nr_frames;
}

static void entered_by_jump(uint32_t callee)
{
	const struct call_frame *top;

	if (!running->nr_frames)
		return;
	top = &running->frames[running->nr_frames - 1];
	/* Back to one that is on the way already, as in a loop: it goes on. */
	for (uint32_t nr = running->nr_frames; nr; nr--) {
		const struct call_frame *frame = &running->frames[nr - 1];

		if (frame->slot != top->slot)
			break;
		if (frame->callee == callee) {
			pop_to(nr);
			return;
		}
		if (frame->boundary)
			break;
	}
	push(symbol_at(top->callee)->role == ROLE_THUNK ? top->caller : top->callee, callee,
	     top->slot, false);
}

void calls_entered(uint32_t callee)
{
	enum symbol_role role;

	if (!table || !counted)
		return;
	role = symbol_at(callee)->role;
	if (role == ROLE_ENTRY || role == ROLE_EXCEPTION || role == ROLE_INTERRUPT ||
	    (role == ROLE_NEW_TASK && !pending)) {
		push(SYMBOL_USER, callee, 0, true);
	} else if (pending) {
		pop_to(nr_up_to_caller(nr_living(pending_slot), pending_caller));
		push(pending_caller, callee, pending_slot, false);
	} else {
		entered_by_jump(callee);
	}
	pending = false;
}

void calls_returned(uint64_t slot)
{
	uint32_t nr;

	if (!table || !counted)
		return;
	pending = false;
	for (nr = running->nr_frames; nr; nr--) {
		const struct call_frame *frame = &running->frames[nr - 1];

		if (frame->boundary)
			return;
		if (frame->slot == slot)
			break;
	}
	if (!nr)
		return;
	while (nr && running->frames[nr - 1].slot == slot)
		nr--;
	pop_to(nr);
}

void calls_kernel_return(void)
{
	uint32_t nr;

	if (!table || !counted)
		return;
	pending = false;
	for (nr = running->nr_frames; nr; nr--) {
		if (running->frames[nr - 1].boundary)
			break;
	}
	nr = nr ? nr - 1 : 0;
	update();
	/* The instruction itself belongs to what ends; the emulator adds it after the callback. */
	running->nr_instructions++;
	while (running->nr_frames > nr)
		pop();
	executed_before++;
}
