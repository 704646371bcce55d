/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All that can be said; docs/bringup.md has a section for each.
 */
#include "userlib/diag/diag.h"

static const struct weft_diag_message messages[] = {
	{ "DIAG-ID-1", "link", "a card does not answer" },
	{ "DIAG-ID-2", "registers", "not the device that was expected" },
	{ "DIAG-REG-1", "registers", "a register reads a wrong value after a reset" },
	{ "DIAG-REG-2", "registers", "a bit of a register is stuck" },
	{ "DIAG-REG-3", "registers", "two bits of a register are connected" },
	{ "DIAG-REG-4", "registers", "a register does not keep what is written" },
	{ "DIAG-REG-5", "registers", "writing one register changes another" },
	{ "DIAG-RUN-1", "command", "the command processor does not get to END" },
	{ "DIAG-RUN-2", "dma", "a load does not end" },
	{ "DIAG-RUN-3", "dma", "a store does not end" },
	{ "DIAG-RUN-4", "array", "a convolution does not end" },
	{ "DIAG-RUN-5", "vector", "a command of the vector engine does not end" },
	{ "DIAG-RUN-6", "post", "what passes the post unit does not end" },
	{ "DIAG-DMA-1", "dma", "a data line of bus reads" },
	{ "DIAG-DMA-2", "dma", "a data line of bus writes" },
	{ "DIAG-DMA-3", "dma", "a data line between DMA and scratchpad" },
	{ "DIAG-DMA-4", "dma", "plain copies come back wrong" },
	{ "DIAG-DMA-5", "dma", "strided loads go wrong" },
	{ "DIAG-DMA-6", "dma", "strided stores go wrong" },
	{ "DIAG-DMA-7", "dma", "both directions at once go wrong" },
	{ "DIAG-DMA-8", "dma", "several banks of the scratchpad at once" },
	{ "DIAG-SP-1", "scratchpad", "a data line of a bank is stuck" },
	{ "DIAG-SP-2", "scratchpad", "two data lines of a bank are connected" },
	{ "DIAG-SP-3", "scratchpad", "several data lines of a bank are wrong" },
	{ "DIAG-SP-4", "scratchpad", "an address line of a bank is stuck" },
	{ "DIAG-SP-5", "scratchpad", "addresses of a bank go wrong" },
	{ "DIAG-SP-6", "scratchpad", "several rows of a bank are wrong" },
	{ "DIAG-SP-7", "scratchpad", "a cell is stuck" },
	{ "DIAG-SP-8", "scratchpad", "two cells of a word are connected" },
	{ "DIAG-SP-9", "scratchpad", "a word is wrong" },
	{ "DIAG-SP-10", "scratchpad", "two address lines of a bank are connected" },
	{ "DIAG-ARRAY-1", "array", "a bit of a PE's sum" },
	{ "DIAG-ARRAY-2", "array", "a bit of a PE's activation" },
	{ "DIAG-ARRAY-3", "array", "a bit of a PE's weight" },
	{ "DIAG-ARRAY-4", "array", "a PE's sums" },
	{ "DIAG-ARRAY-5", "array", "a bit of a skew buffer" },
	{ "DIAG-ARRAY-6", "array", "a row or column from one PE on" },
	{ "DIAG-ARRAY-7", "array", "some PEs of a row or column" },
	{ "DIAG-ARRAY-8", "array", "many PEs" },
};

const struct weft_diag_message *weft_diag_messages(size_t *n)
{
	*n = sizeof(messages) / sizeof(messages[0]);
	return messages;
}
