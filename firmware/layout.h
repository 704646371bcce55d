/* SPDX-License-Identifier: Apache-2.0 */
/* The core's RAM, as boot ROM and firmware share it. Also read by the linker scripts. */
#ifndef WEFT_FIRMWARE_LAYOUT_H
#define WEFT_FIRMWARE_LAYOUT_H

#define RAM_IMAGE       0x10000000   /* firmware: code, data, bss */
#define RAM_IMAGE_BYTES 0xc000
#define RAM_GUARD       0x1000b000   /* nobody may touch this page, below the firmware's stack */
#define RAM_STACK       0x1000c000   /* stack of whoever runs; the ROM's variables below it */
#define RAM_STACK_TOP   0x1000e000
#define RAM_LOG         0x1000e000   /* log ring: survives resets */
#define RAM_LOG_BYTES   0x1000
#define RAM_BOOT_INFO   0x1000f000   /* what the ROM tells the firmware */
#define RAM_BOOT_STATE  0x1000f100   /* what the ROM tells its next start; nobody else's */
#define RAM_CLIENT      0x1000f140   /* whose card memory is, for the firmware's next start */
#define RAM_FREE        0x1000f160   /* nobody's: the RAM test marches here */
#define RAM_END         0x10010000

#define HOST_BASE       0x10000      /* card memory below is the firmware's own: */
#define DRAM_STREAM     0x8000       /* a stream of its own, */
#define DRAM_ZEROS      0x8400       /* and ZEROS_BYTES that are 0 */
#define ZEROS_BYTES     0x400

#endif
