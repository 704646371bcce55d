/* SPDX-License-Identifier: Apache-2.0 */
/* CRC-32 of IEEE 802.3, reflected: polynomial 0xedb88320, four bits at a time. */
#include "chip.h"

static const uint32_t nibble[16] = {
	0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
	0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c, 0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
};

uint32_t crc32_word(uint32_t crc, uint32_t word)
{
	crc = ~crc ^ word;
	for (int i = 0; i < 8; i++)
		crc = crc >> 4 ^ nibble[crc & 15];
	return ~crc;
}

uint32_t crc32_words(uint32_t crc, const uint32_t *words, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		crc = crc32_word(crc, words[i]);
	return crc;
}
