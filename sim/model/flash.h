/* SPDX-License-Identifier: Apache-2.0 */
/* A SPI NOR flash at the level of its commands: bytes in and out while selected. */
#ifndef WEFT_SIM_MODEL_FLASH_H
#define WEFT_SIM_MODEL_FLASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct flash {
	uint8_t *data;         /* WEFT_FLASH_BYTES */
	bool selected, write_enabled;
	unsigned n;            /* bytes since it was selected */
	uint8_t cmd;
	uint32_t addr;
	uint8_t page[256];     /* program: bytes by their place in the page */
	bool given[256];
	unsigned busy;         /* status reads that still say busy */
	uint32_t id;           /* the three bytes of its answer to JEDEC_ID, the first one on top */
	int64_t cut;           /* power fails in the middle of this many-th operation from now; -1: never */
	bool lost_power;
};

void flash_init(struct flash *f, uint8_t *data);
/* Power-on: nothing selected, nothing enabled. */
void flash_power(struct flash *f);
void flash_select(struct flash *f, bool selected);
uint8_t flash_byte(struct flash *f, uint8_t out);

#endif
