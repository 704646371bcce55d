/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of a program: all of its tables are freed here.
 */
#include <stdlib.h>

#include "userlib/compile/program.h"

/*
 * Free a program and all that it owns: tables, constants, words, reasons, and its own graph if it was read
 * from a file. A graph that it only borrows is left alone. NULL is allowed.
 */
void weft_program_free(weft_program *p)
{
	if (!p)
		return;
	for (int i = 0; p->ops && i < p->n_ops; i++)
		free(p->ops[i].reason);
	free(p->consts);
	free(p->words);
	free(p->steps);
	free(p->tensors);
	free(p->ops);
	free(p->cmds);
	free(p->recs);
	free(p->scales);
	free(p->packs);
	weft_graph_free(p->own_graph);
	free(p);
}
