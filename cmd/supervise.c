/* SPDX-License-Identifier: MIT */
/* The supervisor of `umemcg run', with a view of the tree that is its thread's alone. */
#include <errno.h>

#include "supervise.h"
#include "supervisor.h"
#include "umemcg-tree.h"

static struct supervisor *supervisor;
static struct umemcg_tree *tree;

int supervise_start(const char *tree_name, const char *group, uint64_t process_max,
		    const char **ret_value)
{
	int r = supervisor_create(&supervisor);

	if (r)
		return r;
	r = umemcg_tree_open(tree_name, 0, &tree);
	if (!r)
		r = supervisor_start(supervisor, tree, group, process_max);
	if (r) {
		supervise_stop();
		return r;
	}
	*ret_value = supervisor_name(supervisor);
	return 0;
}

void supervise_stop(void)
{
	supervisor_destroy(supervisor);
	supervisor = NULL;
	umemcg_tree_close(tree);
	tree = NULL;
}
