/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 32-bit words in byte streams, little-endian whatever the host is: what goes
 * over the link, and what lies in files.
 */
#ifndef WEFT_LE_H
#define WEFT_LE_H

#include <stdint.h>

static inline uint32_t get32(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline void put32(uint8_t *p, uint32_t v)
{
	for (int i = 0; i < 4; i++)
		p[i] = (uint8_t)(v >> 8 * i);
}

#endif
