/* SPDX-License-Identifier: MIT */
#include "shared/largest.h"

#include <string.h>

#include "shared/climb.h"
#include "shared/slot.h"
#include "shared/tree.h"

unsigned int largest_find(const struct segment *segment, uint32_t group,
			  struct largest ret[UMEMCG_NR_CONSUMERS])
{
	unsigned int nr = 0;

	for_each_process_row(segment, row)
	{
		const struct shared_process *process = segment_process(segment, row);
		uint32_t its_group = atomic_load_explicit(&process->group, memory_order_relaxed);
		unsigned int place = nr;
		uint64_t nr_bytes;

		if (slot_state(process) != PROCESS_LIVE ||
		    !tree_is_below(segment, its_group, group))
			continue;
		nr_bytes = climb_own(segment, row);
		while (place && ret[place - 1].nr_bytes < nr_bytes)
			place--;
		if (!nr_bytes || place == UMEMCG_NR_CONSUMERS)
			continue;
		nr = min(nr + 1, (unsigned int)UMEMCG_NR_CONSUMERS);
		memmove(&ret[place + 1], &ret[place], (nr - 1 - place) * sizeof(*ret));
		ret[place] = (struct largest){ .process = row, .nr_bytes = nr_bytes };
	}
	return nr;
}

void largest_command(const struct segment *segment, uint32_t process, char command[16])
{
	const struct shared_process *row = segment_process(segment, process);

	memset(command, 0, 16);
	for (unsigned int i = 0; row && i < 15 && row->command[i]; i++) {
		char c = row->command[i];

		command[i] = (unsigned char)c < ' ' || c == 127 ? '?' : c;
	}
}
