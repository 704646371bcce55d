// Generated from include/spec/config.toml by tools/gen.py; edit that and run `make gen`.
// SPDX-License-Identifier: Apache-2.0
/* verilator lint_off UNUSEDPARAM */
package weft_cfg_pkg;
  // w32: 32x32
  localparam int unsigned VERSION_MAJOR = 1;
  localparam int unsigned VERSION_MINOR = 1;
  localparam int unsigned N = 32;
  localparam int unsigned SP_BYTES = 1048576;
  localparam int unsigned AXI_BITS = 256;
  localparam int unsigned DW_LINE = 256;
  localparam int unsigned DW_ROWS = 2;
  localparam int unsigned LOAD_PORT = 1;
  localparam int unsigned FREE_HALF = 1;
  localparam int unsigned PLAN_AHEAD = 1;
  localparam int unsigned N_WINDOWS = 8;
  localparam int unsigned DRAM_ADDR_BITS = 40;
  localparam int unsigned SP_ADDR_BITS = 20;
  localparam int unsigned SP_REGIONS = 8;
  localparam int unsigned SP_BANKS = 16;
  localparam int unsigned N_UNITS = 4;
  localparam int unsigned ACC_BITS = 48;
  localparam int unsigned DW_TAPS = 9;
  localparam int unsigned CMD_MAX_WORDS = 16;
  localparam int unsigned QUEUE_DEPTH = 4;
  localparam int unsigned LOG2_N = 5;
  localparam int unsigned LOG2_SP_BYTES = 20;
  localparam int unsigned AXI_BYTES = 32;
  localparam int unsigned LOG2_AXI_BYTES = 5;
  localparam logic [31:0] FEATURES_VALUE = 32'h001fff07;
  localparam logic HAS_INT8 = 1'b1;
  localparam logic HAS_INT16 = 1'b1;
  localparam logic HAS_FP8 = 1'b1;
  localparam logic HAS_ALU = 1'b1;
  localparam logic HAS_RAW = 1'b1;
  localparam logic HAS_INT4 = 1'b1;
  localparam logic HAS_EVEN = 1'b1;
  localparam logic HAS_TABLE = 1'b1;
  localparam logic HAS_SUB = 1'b1;
  localparam logic HAS_MUL = 1'b1;
  localparam logic HAS_DWK = 1'b1;
  localparam logic HAS_DWTABLE = 1'b1;
  localparam logic HAS_PAIRS = 1'b1;
  localparam logic HAS_P_SHORT = 1'b1;
  localparam logic HAS_CODED = 1'b1;
  localparam logic HAS_TURNS = 1'b1;
  localparam logic [31:0] CONFIG_VALUE = 32'h08201420;

  // A byte address in the scratchpad, or a distance or a count of bytes there; sums wrap
  typedef logic [SP_ADDR_BITS-1:0] sp_addr_t;
  // A byte address in memory, or a distance or a count of bytes there; sums wrap
  typedef logic [DRAM_ADDR_BITS-1:0] mem_addr_t;
  // A word of the scratchpad, as wide as a beat of the bus
  typedef logic [8*N-1:0] sp_word_t;
  // What a read of the scratchpad returns: the two words from its address on
  typedef logic [16*N-1:0] sp_pair_t;
  // A row is what the N lanes hold for one pixel. One bit for each lane, or for each byte of a word
  typedef logic [N-1:0] row_mask_t;
  // A row of the states of float8 sums: 0 finite, 1 +inf, 2 -inf, 3 NaN
  typedef logic [2*N-1:0] row_state_t;
  // A row of shifts of RESCALE
  typedef logic [6*N-1:0] row_shift_t;
  // A row of operands: int8 in the low half of the row, or int16 or fp16
  typedef logic [16*N-1:0] row_half_t;
  // A row of multipliers of RESCALE, or of results of 32 bits
  typedef logic [32*N-1:0] row_mul_t;
  // A row of sums
  typedef logic [ACC_BITS*N-1:0] row_acc_t;

  // What a client asks the scratchpad to read; granted or not in the same cycle
  typedef struct packed {
    logic req;  // there is a request; the rest counts only then
    logic wide;  // both words are wanted, even if the address is a multiple of N
    sp_addr_t addr;  // of the first byte
  } sp_read_t;

  // What a client asks the scratchpad to write; granted or not in the same cycle
  typedef struct packed {
    logic req;  // there is a request; the rest counts only then
    sp_addr_t addr;  // of byte 0
    row_mask_t mask;  // bytes that are written
    sp_word_t data;
  } sp_write_t;

  // What load asks the scratchpad to write; granted or not in the same cycle
  typedef struct packed {
    logic req;  // there is a request; the rest counts only then
    logic both;  // two words are written whole; addr is a multiple of N
    sp_addr_t addr;  // of byte 0
    row_mask_t mask;  // bytes that are written, of one word
    sp_word_t next;  // of both: the word behind data
    sp_word_t data;
  } sp_load_t;

  // An INCR burst of the memory bus, to read or to write
  typedef struct packed {
    mem_addr_t addr;  // of the first beat, aligned to the bus
    logic [8-1:0] len;  // beats - 1
  } mem_burst_t;

  // A beat of data from the memory bus
  typedef struct packed {
    logic error;  // the bus answered with an error
    logic last;  // of its burst
    sp_word_t data;
  } mem_beat_t;

  // A beat of data to the memory bus
  typedef struct packed {
    logic last;  // of its burst
    row_mask_t strb;  // bytes that are written
    sp_word_t data;
  } mem_write_t;

  // The windows of DMA, as registers hold them; window i at i times its field's width
  typedef struct packed {
    logic [N_WINDOWS-1:0] read;  // loads may use it, and window 0 the fetch of commands
    logic [N_WINDOWS-1:0] write;  // stores may use it
    logic [32*N_WINDOWS-1:0] size;  // bytes
    logic [DRAM_ADDR_BITS*N_WINDOWS-1:0] base;  // address of its first byte
  } windows_t;

  // What a unit tells the command processor
  typedef struct packed {
    logic busy;  // something is under way
    logic done;  // pulse: its oldest command has retired
    logic fault;  // pulse: its oldest command has failed, as code and info say
    logic [8-1:0] code;  // FAULT_*
    logic [32-1:0] info;  // address, offset or field; docs/isa.md
  } unit_state_t;

  // The first fault, as registers show it
  typedef struct packed {
    logic [8-1:0] code;  // FAULT_*
    logic [8-1:0] unit;  // UNIT_*
    logic [24-1:0] index;  // of the command in its stream
    logic [32-1:0] tag;  // of the command
    logic [32-1:0] info;  // address, offset or field
  } fault_t;

  // What the counters count in a cycle
  typedef struct packed {
    logic [N_UNITS-1:0] active;  // units with a command under way
    logic [N_UNITS-1:0] retire;  // units whose oldest command retires
    logic stall_act;  // the array waits for activations
    logic stall_wgt;  // the array waits for weights
    logic stall_post;  // the array waits for the post unit
    logic [4-1:0] conflicts;  // requests that the scratchpad refuses
    logic [LOG2_N+1-1:0] rd_bytes;  // of memory, taken by load
    logic [LOG2_N+1-1:0] wr_bytes;  // of memory, written by store
  } events_t;

  // A row of a load or a store, checked
  typedef struct packed {
    logic last;  // of its command
    logic fault;  // it is not wholly inside, as code and info say
    logic int4;  // two elements a byte of memory
    logic odd;  // of int4: the last byte of memory is half used
    logic coded;  // memory has it coded
    logic [SP_ADDR_BITS-LOG2_N-1:0] words;  // of coded: words in the scratchpad
    logic [8-1:0] centre;  // of coded: added to each byte
    logic [8-1:0] code;  // FAULT_*
    logic [32-1:0] info;  // offset or address of the faulty row
    mem_addr_t addr;  // of its first byte in memory
    sp_addr_t sp;  // of its first byte in the scratchpad
    sp_addr_t bytes;  // in memory
  } dma_row_t;

  // A burst that a row was cut into
  typedef struct packed {
    logic last;  // of its command
    logic fault;  // it stands for a faulty row, and is none
    logic int4;  // two elements a byte of memory
    logic odd;  // of int4: the last byte of memory is half used
    logic coded;  // memory has its row coded
    logic [SP_ADDR_BITS-LOG2_N-1:0] words;  // of coded: words of the row in the scratchpad
    logic [8-1:0] centre;  // of coded: added to each byte
    mem_addr_t addr;  // of its first byte, not aligned
    logic [8-1:0] len;  // beats - 1
    logic [LOG2_N+5-1:0] bytes;  // in memory, 1..16N
    sp_addr_t sp;  // of its first byte in the scratchpad
  } dma_burst_t;
endpackage
/* verilator lint_on UNUSEDPARAM */
