// Generated from include/spec/chip.toml by tools/gen.py; edit that and run `make gen`.
// SPDX-License-Identifier: Apache-2.0
/* verilator lint_off UNUSEDPARAM */
package weft_chip_pkg;
  localparam logic [31:0] ID_VALUE = 32'h50484357;
  localparam logic [31:0] VERSION_VALUE = 32'h10001;

  localparam logic [31:0] MCAUSE_FETCH_MISALIGNED = 32'h0;  // jump to an address that is no multiple of 4
  localparam logic [31:0] MCAUSE_FETCH_FAULT = 32'h1;  // instruction outside ROM, RAM and card memory, or refused by memory protection
  localparam logic [31:0] MCAUSE_ILLEGAL = 32'h2;  // unknown instruction or CSR
  localparam logic [31:0] MCAUSE_BREAKPOINT = 32'h3;  // ebreak
  localparam logic [31:0] MCAUSE_LOAD_MISALIGNED = 32'h4;  // load from an address that is no multiple of its size
  localparam logic [31:0] MCAUSE_LOAD_FAULT = 32'h5;  // load where nothing answers, of less than 32 bits from a register, or refused by memory protection
  localparam logic [31:0] MCAUSE_STORE_MISALIGNED = 32'h6;  // store to an address that is no multiple of its size
  localparam logic [31:0] MCAUSE_STORE_FAULT = 32'h7;  // store where nothing answers, into the ROM, of less than 32 bits to a register, or refused by memory protection
  localparam logic [31:0] MCAUSE_ECALL = 32'hb;  // ecall
  localparam logic [31:0] MCAUSE_TIMER_IRQ = 32'h80000007;  // timer interrupt
  localparam logic [31:0] MCAUSE_EXTERNAL_IRQ = 32'h8000000b;  // external interrupt: see irq_pending

  // Boot ROM; stores fault
  localparam logic [31:0] ROM_BASE = 32'h0;
  localparam logic [31:0] ROM_SIZE = 32'h4000;
  // RAM of the core; bytes can be written; keeps its contents through every reset but power
  localparam logic [31:0] RAM_BASE = 32'h10000000;
  localparam logic [31:0] RAM_SIZE = 32'h10000;
  // Registers of the NPU (registers.md); whole words only. While sys_control.npu_reset is 1 they read 0 and ignore writes
  localparam logic [31:0] NPU_BASE = 32'h20000000;
  localparam logic [31:0] NPU_SIZE = 32'h400;
  // Registers below; whole words only. A hole reads 0 and ignores writes
  localparam logic [31:0] CHIP_BASE = 32'h30000000;
  localparam logic [31:0] CHIP_SIZE = 32'h1000;
  // Card memory, sys_dram_bytes of it; the core's path is slow and uncached
  localparam logic [31:0] DRAM_BASE = 32'h80000000;
  localparam logic [31:0] DRAM_SIZE = 32'h40000000;

  localparam int unsigned ADDR_W = 12;
  // Payload of the message that arrived, while link_status.rx_valid (ro)
  localparam logic [11:0] LINK_RX_ADDR = 12'h800;
  localparam int unsigned LINK_RX_BYTES = 512;
  // Payload of the message to send; not to be written while link_status.tx_busy. Reads 0 (wo)
  localparam logic [11:0] LINK_TX_ADDR = 12'ha00;
  localparam int unsigned LINK_TX_BYTES = 512;

  localparam logic [31:0] KICK_VALUE = 32'h4b49434b;  // the only value that wdt_kick takes
  localparam logic [31:0] BOOT_PERIOD = 32'h200000;  // cycles that the boot ROM gives the watchdog

  // Reads 0x50484357, 'WCHP' (ro)
  localparam logic [11:0] SYS_ID_ADDR = 12'h0;

  // Version of the chip around the NPU; firmware of another major is not booted (ro)
  localparam logic [11:0] SYS_VERSION_ADDR = 12'h4;
  localparam int unsigned SYS_VERSION_MINOR_LSB = 0;
  localparam int unsigned SYS_VERSION_MINOR_W = 16;
  localparam int unsigned SYS_VERSION_MAJOR_LSB = 16;
  localparam int unsigned SYS_VERSION_MAJOR_W = 16;

  // Bytes of card memory, a multiple of 64 KiB, at most map.dram.size (ro)
  localparam logic [11:0] SYS_DRAM_BYTES_ADDR = 12'h8;

  // Clock of core, NPU and timer, kHz (ro)
  localparam logic [11:0] SYS_CLOCK_KHZ_ADDR = 12'hc;

  // Why the core started last: enum weft_chip_cause (ro)
  localparam logic [11:0] SYS_RESET_CAUSE_ADDR = 12'h10;
  localparam int unsigned SYS_RESET_CAUSE_CAUSE_LSB = 0;
  localparam int unsigned SYS_RESET_CAUSE_CAUSE_W = 3;

  // npu_reset: hold the NPU in reset. Bus transactions that it had under way are finished or thrown away by the chip; 16 cycles after the 1 was written it may be taken back (rw)
  localparam logic [11:0] SYS_CONTROL_ADDR = 12'h14;
  localparam logic [31:0] SYS_CONTROL_RESET = 32'h0;
  localparam int unsigned SYS_CONTROL_NPU_RESET_LSB = 0;
  localparam int unsigned SYS_CONTROL_NPU_RESET_W = 1;

  // Reset core, NPU, link and registers; cause software (w1s)
  localparam logic [11:0] SYS_RESET_ADDR = 12'h18;
  localparam int unsigned SYS_RESET_CHIP_LSB = 0;
  localparam int unsigned SYS_RESET_CHIP_W = 1;

  // rescue: the board's button is held now; the boot ROM then starts no image, and answers itself (ro)
  localparam logic [11:0] SYS_STRAP_ADDR = 12'h1c;
  localparam int unsigned SYS_STRAP_RESCUE_LSB = 0;
  localparam int unsigned SYS_STRAP_RESCUE_W = 1;

  // Free for software; 0 after power (rw)
  localparam logic [11:0] SYS_SCRATCH_ADDR = 12'h20;
  localparam int unsigned SYS_SCRATCH_COUNT = 4;
  localparam int unsigned SYS_SCRATCH_STRIDE = 4;
  localparam logic [31:0] SYS_SCRATCH_RESET = 32'h0;

  // External interrupt while (irq_pending & irq_enable) is not 0. Levels: link_rx (rx_valid), link_tx (not tx_busy), npu (its interrupt). Latched until 1 is written: wdt (a quarter of the watchdog's period is left), link_reset (the link was reset by the host) (w1c)
  localparam logic [11:0] IRQ_PENDING_ADDR = 12'h100;
  localparam int unsigned IRQ_PENDING_LINK_RX_LSB = 0;
  localparam int unsigned IRQ_PENDING_LINK_RX_W = 1;
  localparam int unsigned IRQ_PENDING_LINK_TX_LSB = 1;
  localparam int unsigned IRQ_PENDING_LINK_TX_W = 1;
  localparam int unsigned IRQ_PENDING_NPU_LSB = 2;
  localparam int unsigned IRQ_PENDING_NPU_W = 1;
  localparam int unsigned IRQ_PENDING_WDT_LSB = 3;
  localparam int unsigned IRQ_PENDING_WDT_W = 1;
  localparam int unsigned IRQ_PENDING_LINK_RESET_LSB = 4;
  localparam int unsigned IRQ_PENDING_LINK_RESET_W = 1;

  // Which of irq_pending interrupt (rw)
  localparam logic [11:0] IRQ_ENABLE_ADDR = 12'h104;
  localparam logic [31:0] IRQ_ENABLE_RESET = 32'h0;
  localparam int unsigned IRQ_ENABLE_LINK_RX_LSB = 0;
  localparam int unsigned IRQ_ENABLE_LINK_RX_W = 1;
  localparam int unsigned IRQ_ENABLE_LINK_TX_LSB = 1;
  localparam int unsigned IRQ_ENABLE_LINK_TX_W = 1;
  localparam int unsigned IRQ_ENABLE_NPU_LSB = 2;
  localparam int unsigned IRQ_ENABLE_NPU_W = 1;
  localparam int unsigned IRQ_ENABLE_WDT_LSB = 3;
  localparam int unsigned IRQ_ENABLE_WDT_W = 1;
  localparam int unsigned IRQ_ENABLE_LINK_RESET_LSB = 4;
  localparam int unsigned IRQ_ENABLE_LINK_RESET_W = 1;

  // Cycles since reset, low half. Read hi, lo, hi until both hi agree (ro)
  localparam logic [11:0] TIMER_LO_ADDR = 12'h200;

  // High half (ro)
  localparam logic [11:0] TIMER_HI_ADDR = 12'h204;

  // Timer interrupt (mip.MTIP) while the 64-bit time is at or beyond the 64-bit comparison value (rw)
  localparam logic [11:0] TIMER_CMP_LO_ADDR = 12'h208;
  localparam logic [31:0] TIMER_CMP_LO_RESET = 32'hffffffff;

  // High half (rw)
  localparam logic [11:0] TIMER_CMP_HI_ADDR = 12'h20c;
  localparam logic [31:0] TIMER_CMP_HI_RESET = 32'hffffffff;

  // Cycles from a kick to the bite. Once enabled, writes are ignored (rw)
  localparam logic [11:0] WDT_PERIOD_ADDR = 12'h300;
  localparam logic [31:0] WDT_PERIOD_RESET = 32'hffffffff;

  // enable: writing 1 starts it with a kick; stays 1 until the next reset (rw)
  localparam logic [11:0] WDT_CONTROL_ADDR = 12'h304;
  localparam logic [31:0] WDT_CONTROL_RESET = 32'h0;
  localparam int unsigned WDT_CONTROL_ENABLE_LSB = 0;
  localparam int unsigned WDT_CONTROL_ENABLE_W = 1;

  // Writing KICK_VALUE starts the period again; anything else is ignored. The bite resets core, NPU, link and registers, cause watchdog (w1s)
  localparam logic [11:0] WDT_KICK_ADDR = 12'h308;

  // Cycles until the bite; all ones while not enabled (ro)
  localparam logic [11:0] WDT_LEFT_ADDR = 12'h30c;

  // cs: the flash chip is selected (its CS# pin is low) (rw)
  localparam logic [11:0] FLASH_CONTROL_ADDR = 12'h400;
  localparam logic [31:0] FLASH_CONTROL_RESET = 32'h0;
  localparam int unsigned FLASH_CONTROL_CS_LSB = 0;
  localparam int unsigned FLASH_CONTROL_CS_W = 1;

  // Writing shifts bits 7:0 out, bit 7 first, while 8 bits shift in; reading waits until that is done and gives them. SPI mode 0 at half the clock. Any access to a flash register waits for a shift under way (rw)
  localparam logic [11:0] FLASH_BYTE_ADDR = 12'h404;
  localparam logic [31:0] FLASH_BYTE_RESET = 32'h0;
  localparam int unsigned FLASH_BYTE_DATA_LSB = 0;
  localparam int unsigned FLASH_BYTE_DATA_W = 8;

  // The same with four bytes, bits 7:0 first out and first in (rw)
  localparam logic [11:0] FLASH_WORD_ADDR = 12'h408;
  localparam logic [31:0] FLASH_WORD_RESET = 32'h0;

  // lock: writing 1 locks flash.locked_bytes from address 0 on; stays 1 until the next reset. From then on the first write to flash_byte or flash_word after one to flash_control must be of a command that reads (READ, READ_STATUS, JEDEC_ID) or WRITE_ENABLE, or flash_word with PROGRAM or SECTOR_ERASE and an address beyond, modulo the chip's window of the flash. That is flash.bytes, or less if a board keeps its bitstream in the same flash. Another one deselects the flash and shifts nothing (rw)
  localparam logic [11:0] FLASH_LOCK_ADDR = 12'h40c;
  localparam logic [31:0] FLASH_LOCK_RESET = 32'h0;
  localparam int unsigned FLASH_LOCK_LOCK_LSB = 0;
  localparam int unsigned FLASH_LOCK_LOCK_W = 1;

  // rx_valid: a message is in link_rx. tx_busy: link_tx is being sent, or waits for it. error: a broken frame header came; everything is discarded until the host resets the link (ro)
  localparam logic [11:0] LINK_STATUS_ADDR = 12'h500;
  localparam int unsigned LINK_STATUS_RX_VALID_LSB = 0;
  localparam int unsigned LINK_STATUS_RX_VALID_W = 1;
  localparam int unsigned LINK_STATUS_TX_BUSY_LSB = 1;
  localparam int unsigned LINK_STATUS_TX_BUSY_W = 1;
  localparam int unsigned LINK_STATUS_ERROR_LSB = 2;
  localparam int unsigned LINK_STATUS_ERROR_W = 1;

  // Payload bytes of the message, a multiple of 4 (ro)
  localparam logic [11:0] LINK_RX_LEN_ADDR = 12'h504;

  // Its sequence number (ro)
  localparam logic [11:0] LINK_RX_SEQ_ADDR = 12'h508;

  // done: the buffer is free for the next message (w1s)
  localparam logic [11:0] LINK_RX_DONE_ADDR = 12'h50c;
  localparam int unsigned LINK_RX_DONE_DONE_LSB = 0;
  localparam int unsigned LINK_RX_DONE_DONE_W = 1;

  // Payload bytes to send, 4..512, a multiple of 4 (rw)
  localparam logic [11:0] LINK_TX_LEN_ADDR = 12'h510;
  localparam logic [31:0] LINK_TX_LEN_RESET = 32'h0;

  // Sequence number to send (rw)
  localparam logic [11:0] LINK_TX_SEQ_ADDR = 12'h514;
  localparam logic [31:0] LINK_TX_SEQ_RESET = 32'h0;

  // send: the message goes out; tx_busy from now on (w1s)
  localparam logic [11:0] LINK_TX_SEND_ADDR = 12'h518;
  localparam int unsigned LINK_TX_SEND_SEND_LSB = 0;
  localparam int unsigned LINK_TX_SEND_SEND_W = 1;

  // First byte of card memory that WRITE and READ may touch (rw)
  localparam logic [11:0] LINK_FENCE_BASE_ADDR = 12'h520;
  localparam logic [31:0] LINK_FENCE_BASE_RESET = 32'h0;

  // First byte behind it (rw)
  localparam logic [11:0] LINK_FENCE_LIMIT_ADDR = 12'h524;
  localparam logic [31:0] LINK_FENCE_LIMIT_RESET = 32'h0;

  // Whether they may at all (rw)
  localparam logic [11:0] LINK_FENCE_PERM_ADDR = 12'h528;
  localparam logic [31:0] LINK_FENCE_PERM_RESET = 32'h0;
  localparam int unsigned LINK_FENCE_PERM_READ_LSB = 0;
  localparam int unsigned LINK_FENCE_PERM_READ_W = 1;
  localparam int unsigned LINK_FENCE_PERM_WRITE_LSB = 1;
  localparam int unsigned LINK_FENCE_PERM_WRITE_W = 1;

  // block: the highest 64 KiB of card memory that a WRITE went to, if any is 1. Writing anything sets any and block to 0. counts: 1; chips without this register answer 0 (rw)
  localparam logic [11:0] LINK_WRITTEN_ADDR = 12'h52c;
  localparam logic [31:0] LINK_WRITTEN_RESET = 32'h0;
  localparam int unsigned LINK_WRITTEN_BLOCK_LSB = 0;
  localparam int unsigned LINK_WRITTEN_BLOCK_W = 16;
  localparam int unsigned LINK_WRITTEN_ANY_LSB = 30;
  localparam int unsigned LINK_WRITTEN_ANY_W = 1;
  localparam int unsigned LINK_WRITTEN_COUNTS_LSB = 31;
  localparam int unsigned LINK_WRITTEN_COUNTS_W = 1;

  // Frames with a good header that came (ro)
  localparam logic [11:0] LINK_FRAMES_IN_ADDR = 12'h540;

  // Frames sent (ro)
  localparam logic [11:0] LINK_FRAMES_OUT_ADDR = 12'h544;

  // Frames with a broken header: magic or CRC (ro)
  localparam logic [11:0] LINK_HEADER_ERRORS_ADDR = 12'h548;

  // Frames with a broken payload CRC (ro)
  localparam logic [11:0] LINK_PAYLOAD_ERRORS_ADDR = 12'h54c;

  // WRITE and READ outside the fence, unknown types, bad lengths (ro)
  localparam logic [11:0] LINK_REFUSED_ADDR = 12'h550;

  localparam logic [2:0] CAUSE_POWER = 3'h0;  // power was applied
  localparam logic [2:0] CAUSE_WATCHDOG = 3'h1;  // the watchdog bit
  localparam logic [2:0] CAUSE_SOFTWARE = 3'h2;  // sys_reset
  localparam logic [2:0] CAUSE_HOST = 3'h3;  // the host asked for it over USB

  localparam logic [31:0] FLASH_BYTES = 32'h400000;
  localparam logic [31:0] FLASH_LOCKED_BYTES = 32'h10000;
  localparam logic [7:0] FLASH_CMD_WRITE_STATUS = 8'h1;  // not used
  localparam logic [7:0] FLASH_CMD_PROGRAM = 8'h2;  // 3 address bytes, 1..256 data bytes within a page
  localparam logic [7:0] FLASH_CMD_READ = 8'h3;  // 3 address bytes, then data as long as selected
  localparam logic [7:0] FLASH_CMD_READ_STATUS = 8'h5;  // bit 0: busy, bit 1: write enabled
  localparam logic [7:0] FLASH_CMD_WRITE_ENABLE = 8'h6;  // before each program and erase
  localparam logic [7:0] FLASH_CMD_SECTOR_ERASE = 8'h20;  // 3 address bytes
  localparam logic [7:0] FLASH_CMD_HALF_ERASE = 8'h52;  // 32 KiB; not used
  localparam logic [7:0] FLASH_CMD_BLOCK_ERASE = 8'hd8;  // 64 KiB; not used
  localparam logic [7:0] FLASH_CMD_CHIP_ERASE = 8'hc7;  // all of it; not used
  localparam logic [7:0] FLASH_CMD_JEDEC_ID = 8'h9f;  // three bytes, the high one first; the simulated flash answers jedec_id
endpackage
/* verilator lint_on UNUSEDPARAM */
