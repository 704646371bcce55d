/* SPDX-License-Identifier: Apache-2.0 */
/* One message in, one message out, through the link's two buffers. */
#include "chip.h"

uint32_t msg_in[WEFT_FRAME_MSG_MAX / 4];
uint32_t msg_words;

static uint32_t seq_in;
volatile uint32_t *reply_at;

bool msg_take(void)
{
	if (!(CHIP(WEFT_CHIP_LINK_STATUS) & WEFT_CHIP_LINK_STATUS_RX_VALID_MASK))
		return false;
	const volatile uint32_t *from = &CHIP(WEFT_CHIP_LINK_RX);
	uint32_t n = CHIP(WEFT_CHIP_LINK_RX_LEN) / 4;
	if (n > sizeof(msg_in) / 4)
		n = sizeof(msg_in) / 4;
	copy_words(msg_in, from, n);
	msg_words = n;
	seq_in = CHIP(WEFT_CHIP_LINK_RX_SEQ);
	CHIP(WEFT_CHIP_LINK_RX_DONE) = WEFT_CHIP_LINK_RX_DONE_DONE_MASK;
	return true;
}

uint32_t msg_seq(void)
{
	return seq_in;
}

void reply_begin(uint32_t type, enum weft_msg_error error)
{
	reply_at = &CHIP(WEFT_CHIP_LINK_TX);
	reply_put((type & 0x7fff) | WEFT_MSG_REPLY | (uint32_t)error << 16);
}

void reply_send(uint32_t seq)
{
	CHIP(WEFT_CHIP_LINK_TX_LEN) = (uint32_t)((uintptr_t)reply_at - (uintptr_t)&CHIP(WEFT_CHIP_LINK_TX));
	CHIP(WEFT_CHIP_LINK_TX_SEQ) = seq;
	CHIP(WEFT_CHIP_LINK_TX_SEND) = WEFT_CHIP_LINK_TX_SEND_SEND_MASK;
}
