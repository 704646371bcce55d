// SPDX-License-Identifier: Apache-2.0
//
// Commands of one unit: a queue in front of it, the wait counts of its head,
// and a record of those under way.
//
// Words of the command that the decoder puts together come one by one, whatever its unit
// will be, and are kept if push_i follows the last of them; drop_i says that the command
// went elsewhere. The head is read back Banks words a cycle, also while its last words
// still come, into registers that stand until it is issued.
//
// cmd_valid_o rises when the head's four wait counts are met, and stands until
// cmd_ready_i. oldest_* belong to the oldest command issued and not retired, or where
// there is none to the head. A command pushed in one cycle can be issued two cycles later.
module weft_cmd_queue #(
  parameter int unsigned Words = weft_cfg_pkg::CMD_MAX_WORDS, // of the unit's longest command
  parameter bit          Ecc   = 1'b0                         // each byte has check bits in the queue
) (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic clr_i,

  // The command at hand in the decoder
  input  logic          word_we_i,
  input  logic [3:0]    word_n_i,      // which word comes
  input  logic [63:0]   word_i,
  input  logic [4:0]    count_i,       // words that came
  input  logic          push_i,
  input  logic          drop_i,
  output logic          ready_o,
  input  logic [31:0]   tag_i,
  input  logic [23:0]   index_i,

  input  logic [4*32-1:0] retired_i,   // per unit

  output logic               cmd_valid_o,
  input  logic               cmd_ready_i,
  output weft_cmd_pkg::cmd_t cmd_o,
  input  logic               done_i,

  output logic        waiting_o,       // the head's wait counts are not met
  output logic        reading_o,       // something is in the queue and not yet in the head's registers
  output logic        moving_o,        // a row is read back or on its way
  output logic        empty_o,         // nothing in the queue
  output logic        active_o,        // something is issued and not retired
  output logic [31:0] head_header_o,
  output logic [23:0] oldest_index_o,
  output logic [31:0] oldest_tag_o,
  output logic        ecc_fixed_o,     // a word that was read back was corrected
  output logic        ecc_bad_o        // of a word that was read back, a byte has two wrong bits
);

  localparam int unsigned CmdBits = 64 * weft_cfg_pkg::CMD_MAX_WORDS;
  localparam int unsigned Depth   = weft_cfg_pkg::QUEUE_DEPTH;  // waiting
  localparam int unsigned Active  = 8;                          // issued and not retired

  // One ring: retired .. active .. waiting .. being written .. free. The bodies of
  // commands are kept until they are issued, index and tag until they retire.
  localparam int unsigned PtrBits  = 4;
  localparam int unsigned SlotBits = $clog2(Depth) + 1;         // one more than wait is being written
  localparam int unsigned Banks    = 4;                         // words read in a cycle
  localparam int unsigned Rows     = (Words + Banks - 1) / Banks;
  localparam int unsigned RowBits  = 2;                         // of 16 words
  logic [55:0]         name [1 << PtrBits];
  logic [PtrBits-1:0]  wptr_q, iptr_q, rptr_q, n_waiting, n_active;

  logic push, some, head_valid, met, issue, retire;
  assign n_waiting  = wptr_q - iptr_q;
  assign n_active   = iptr_q - rptr_q;
  assign ready_o    = n_waiting != PtrBits'(Depth);
  assign some       = wptr_q != iptr_q;
  assign active_o   = iptr_q != rptr_q;
  assign {oldest_index_o, oldest_tag_o} = name[rptr_q];

  // ---- bodies ------------------------------------------------------------------------

  logic [64*Words-1:0] head_q;
  logic [RowBits:0]    row_q;         // next row of the head to read
  logic                got_q;         // a row was read, it is number got_row_q
  logic [RowBits-1:0]  got_row_q;
  logic                whole_q;       // all rows of the head are in head_q
  logic                read, restart;
  logic [SlotBits-1:0] wslot;
  assign wslot   = wptr_q[SlotBits-1:0] + SlotBits'(push);
  assign read    = !row_q[RowBits] && 32'(row_q) < Rows && (some || push || 32'(count_i) >= Banks * (32'(row_q) + 1));
  assign restart = issue || clr_i || (drop_i && !some);

  /* verilator lint_off UNUSEDSIGNAL */  // of the last row, words that no command has
  logic [64*Banks-1:0] got, right;
  /* verilator lint_on UNUSEDSIGNAL */
  logic [Banks-1:0]    fixed, bad;
  for (genvar b = 0; b < Banks; b++) begin : g_bank
    // What is read has not been written in the same cycle.
    (* ram_style = "block", no_rw_check *)
    logic [63:0] body [1 << (SlotBits + RowBits)];
    always_ff @(posedge clk_i) begin
      if (word_we_i && word_n_i[1:0] == 2'(b)) body[{wslot, word_n_i[3:2]}] <= word_i;
      if (read) got[64*b +: 64] <= body[{iptr_q[SlotBits-1:0], row_q[RowBits-1:0]}];
    end

    if (Ecc) begin : g_ecc
      // Each byte has check bits of its own, as in the scratchpad.
      localparam int unsigned Check = weft_secded_pkg::n_check(8) + 1;
      (* ram_style = "block", no_rw_check *)
      logic [8*Check-1:0] check [1 << (SlotBits + RowBits)];
      logic [8*Check-1:0] check_in, check_got;
      logic [7:0]         byte_fixed, byte_bad;
      logic               is_word;
      for (genvar i = 0; i < 8; i++) begin : g_byte
        weft_secded_enc u_enc (
          .data_i (word_i[8*i +: 8]),
          .check_o(check_in[Check*i +: Check])
        );
        weft_secded_dec u_dec (
          .data_i (got[64*b + 8*i +: 8]),
          .check_i(check_got[Check*i +: Check]),
          .data_o (right[64*b + 8*i +: 8]),
          .fixed_o(byte_fixed[i]),
          .bad_o  (byte_bad[i])
        );
      end
      always_ff @(posedge clk_i) begin
        if (word_we_i && word_n_i[1:0] == 2'(b)) check[{wslot, word_n_i[3:2]}] <= check_in;
        if (read) check_got <= check[{iptr_q[SlotBits-1:0], row_q[RowBits-1:0]}];
      end
      // The last row may have words behind the end of the command, which nobody uses.
      assign is_word  = got_q && (got_row_q == '0 || {1'b0, got_row_q, 2'(b)} < head_q[weft_cmd_pkg::HEADER_N_WORDS_LSB +: 5]);
      assign fixed[b] = is_word && byte_fixed != '0;
      assign bad[b]   = is_word && byte_bad != '0;
    end else begin : g_plain
      assign right[64*b +: 64] = got[64*b +: 64];
      assign fixed[b]          = 1'b0;
      assign bad[b]            = 1'b0;
    end
  end
  assign ecc_fixed_o = fixed != '0;
  assign ecc_bad_o   = bad != '0;

  always_ff @(posedge clk_i) begin
    for (int unsigned w = 0; w < Words; w++) begin
      if (got_q && 32'(got_row_q) == w / Banks) head_q[64*w +: 64] <= right[64*(w % Banks) +: 64];
    end
    got_row_q <= row_q[RowBits-1:0];
  end

  // The header's number of words says which row is the last; it came with the first.
  logic last_row;
  assign last_row = got_row_q == 2'((head_q[weft_cmd_pkg::HEADER_N_WORDS_LSB +: 5] - 5'd1) >> 2) && got_row_q != '0;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      row_q   <= '0;
      got_q   <= 1'b0;
      whole_q <= 1'b0;
    end else if (restart) begin
      row_q   <= '0;
      got_q   <= 1'b0;
      whole_q <= 1'b0;
    end else begin
      if (read) row_q <= row_q + 3'd1;
      got_q <= read;
      if (got_q && last_row) whole_q <= 1'b1;
    end
  end

  // ---- wait counts, pointers -----------------------------------------------------------

  assign head_valid = some && whole_q;
  always_comb begin
    met = 1'b0;
    if (head_valid)
      met = (retired_i[16 +: 16] != '0 || retired_i[0 +: 16] >= head_q[weft_cmd_pkg::HEADER_WAIT_LD_LSB +: 16]) &&
            (retired_i[48 +: 16] != '0 || retired_i[32 +: 16] >= head_q[weft_cmd_pkg::HEADER_WAIT_ST_LSB +: 16]) &&
            (retired_i[80 +: 16] != '0 || retired_i[64 +: 16] >= head_q[weft_cmd_pkg::HEADER_WAIT_CV_LSB +: 16]) &&
            (retired_i[112 +: 16] != '0 || retired_i[96 +: 16] >= head_q[weft_cmd_pkg::HEADER_WAIT_VE_LSB +: 16]);
  end

  assign cmd_valid_o   = met && n_active != PtrBits'(Active);
  assign cmd_o         = CmdBits'(head_q);
  assign waiting_o     = head_valid && !met;
  assign reading_o     = some && !whole_q;
  assign moving_o      = read || got_q;
  assign empty_o       = !some;
  assign head_header_o = head_q[31:0];

  assign push   = push_i && ready_o;
  assign issue  = cmd_valid_o && cmd_ready_i;
  assign retire = done_i && active_o;

  always_ff @(posedge clk_i) begin
    if (push) name[wptr_q] <= {index_i, tag_i};
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      wptr_q <= '0;
      iptr_q <= '0;
      rptr_q <= '0;
    end else if (push || issue || retire || clr_i) begin
      wptr_q <= clr_i ? '0 : wptr_q + PtrBits'(push);
      iptr_q <= clr_i ? '0 : iptr_q + PtrBits'(issue);
      rptr_q <= clr_i ? '0 : rptr_q + PtrBits'(retire);
    end
  end

`ifdef WEFT_ASSERT
  always_ff @(posedge clk_i) begin
    if (rst_ni && done_i && !clr_i) assert (active_o);
    if (rst_ni && !clr_i) begin
      assert (!(push_i && drop_i));
      // What was read back is what was written.
      if (cmd_valid_o) assert (head_q[weft_cmd_pkg::HEADER_TAG_LSB +: 32] == name[iptr_q][31:0]);
    end
  end
`endif

endmodule
