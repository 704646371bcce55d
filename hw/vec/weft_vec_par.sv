// SPDX-License-Identifier: Apache-2.0
//
// Weights and parameter records of a depthwise command, fetched a block of N
// channels ahead; and the lane parameters that go to the post unit.
//
// Per block 9 weight words, then 16 words of records, or 8 if they are short (p_short), two words a
// cycle (reads are wide). wts_valid_o: weights of the next block are in wts_o (minus the zero
// point, 9 bits, tap t of lane c at 9*(N*t+c)) until wts_take_i. rec_valid_o:
// its records are there; rec_take_i puts them into bias_o, mul_o and shift_o
// in the next cycle. Takes come only with valid. The fetch of what follows
// starts in the cycle behind the take.
//
// With n_ky_i the weights come row by row: per output row the n_kx_i words, taps 0 and on,
// of each kernel row that lies in the input (weft_vec_rows); the records behind the
// block's first. With two_i a pass has two kernel rows. Taps 5 to 9 then have the weights of the second output row, in the order that
// weft_vec_dw states.
//
// scalar_i puts one multiplier and shift into every lane, bias 0.
// bad_o: the next word lies beyond the scratchpad; it is not asked for.
//
// Theory: hw/vec/README.md
module weft_vec_par (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic flush_i,
  input  logic start_i,

  input  weft_cfg_pkg::sp_addr_t w_base_i,
  input  weft_cfg_pkg::sp_addr_t p_base_i,
  input  logic [15:0]            oc_i,
  input  logic [15:0]            oh_i,
  input  logic [15:0]            in_h_i,
  input  logic [15:0]            iy_start_i,
  input  logic [3:0]             stride_y_i,
  input  logic [3:0]             n_ky_i,  // 0: 3x3
  input  logic [3:0]             n_kx_i,
  input  logic                   two_i,
  input  logic [7:0]             w_zp_i,
  input  logic                   short_i,  // records are short
  input  logic                   scalar_i,
  input  logic [31:0]            scalar_mul_i,
  input  logic [5:0]             scalar_shift_i,

  output weft_cfg_pkg::sp_read_t parv_o,
  input  logic                   parv_gnt_i,
  input  weft_cfg_pkg::sp_pair_t parv_rdata_i,

  output logic                          wts_valid_o,
  input  logic                          wts_take_i,
  output logic [90*weft_cfg_pkg::N-1:0] wts_o,

  output logic                     rec_valid_o,
  input  logic                     rec_take_i,
  output weft_cfg_pkg::row_acc_t   bias_o,
  output weft_cfg_pkg::row_mul_t   mul_o,
  output weft_cfg_pkg::row_shift_t shift_o,

  output logic                   bad_o,
  output weft_cfg_pkg::sp_addr_t bad_addr_o
);

  localparam int N        = weft_cfg_pkg::N;
  localparam int unsigned AddrW    = weft_cfg_pkg::SP_ADDR_BITS;
  localparam int Taps     = weft_cfg_pkg::DW_TAPS;
  localparam int unsigned SpBits = weft_cfg_pkg::LOG2_SP_BYTES;
  localparam logic Two    = weft_cfg_pkg::DW_ROWS == 2;

  logic                   run_q;
  logic                   plan_q;            // the first row's place is not known yet
  logic                   rec_q;             // records' turn, else weights'
  logic                   b_q;               // the reads are for the second output row
  logic [2:0]             pair_q;
  logic [15:0]            chans_q;           // channels left, this block included
  logic                   new_q, end_q;      // the row at hand is the first, the last of its block
  logic                   all_q;             // all weights have been asked for
  weft_cfg_pkg::sp_addr_t w_block_q, w_addr_q, p_addr_q;
  logic                   got_q, got_rec_q, got_b_q;  // two words come with this cycle
  logic                   got_last_q;        // the last ones of their kind
  logic [2:0]             got_pair_q;
  logic                   wts_full_q, rec_full_q;
  logic [2:0]             rec_last;          // the number of the records' last read

  logic        by_row, room, range_bad, accept, last_pair, single, row_done, last_block;
  logic [3:0]  kx, ky, b_ky;       // ky, b_ky: of the pass that comes next
  logic [3:0]  b_ky_q;             // of the pass that is being read
  logic        row_end, two, kind_done;

  // Bytes of kernel rows. By additions: no multiplier block.
  function automatic weft_cfg_pkg::sp_addr_t bytes(input logic [3:0] rows, input logic [3:0] cols);
    logic [7:0] words;
    words = (rows[0] ? {4'd0, cols} : 8'd0) + (rows[1] ? {3'd0, cols, 1'd0} : 8'd0)
            + (rows[2] ? {2'd0, cols, 2'd0} : 8'd0) + (rows[3] ? {1'd0, cols, 3'd0} : 8'd0);
    bytes = AddrW'(words) << weft_cfg_pkg::LOG2_N;
  endfunction

  assign by_row = weft_cfg_pkg::HAS_DWK && n_ky_i != '0;
  assign kx     = by_row ? n_kx_i : 4'(Taps);
  assign two    = Two && two_i;

  if (weft_cfg_pkg::HAS_DWK) begin : g_rows
    logic        unused_on, unused_first, unused_last, unused_b_on, unused_b_first, unused_b_last;
    logic [20:0] unused_row;
    weft_vec_rows u_rows (
      .clk_i(clk_i), .start_i(start_i), .next_i(row_done || plan_q), .two_i(two_i), .n_ky_i(n_ky_i), .stride_y_i(stride_y_i),
      .iy_start_i(iy_start_i), .in_h_i(in_h_i), .oh_i(oh_i), .ky_o(ky), .b_ky_o(b_ky), .row_o(unused_row), .on_o(unused_on),
      .first_o(unused_first), .last_o(unused_last), .b_on_o(unused_b_on), .b_first_o(unused_b_first),
      .b_last_o(unused_b_last), .end_o(row_end));
  end else begin : g_no_rows
    logic unused_rows;
    assign unused_rows = ^{oh_i, in_h_i, iy_start_i, stride_y_i, n_kx_i};
    assign ky          = '0;
    assign b_ky        = '0;
    assign row_end     = 1'b1;
  end

  weft_cfg_pkg::sp_addr_t addr;
  assign addr = rec_q ? p_addr_q : w_addr_q;
  // Addresses are multiples of N: a read of two words crosses the end if it begins with the last word.
  logic beyond, last_word;
  assign beyond     = (addr >> SpBits) != '0;
  assign last_word  = SpBits < AddrW && &addr[SpBits-1:weft_cfg_pkg::LOG2_N];
  assign range_bad  = beyond || (last_word && !single);
  assign bad_addr_o = beyond ? addr : AddrW'(weft_cfg_pkg::SP_BYTES);

  assign room        = rec_q ? !rec_full_q : !wts_full_q && !(got_q && !got_rec_q && got_last_q);
  assign parv_o.wide = 1'b1;
  assign parv_o.addr = addr;
  assign bad_o       = run_q && room && range_bad;
  assign parv_o.req  = run_q && room && !range_bad;
  assign accept      = parv_o.req && parv_gnt_i;
  assign single      = !rec_q && last_pair && kx[0];
  assign last_pair   = pair_q == (rec_q ? rec_last : 3'((kx - 4'd1) >> 1));
  assign kind_done   = last_pair && (rec_q || !two || b_q);
  assign row_done    = accept && kind_done && !rec_q;
  assign last_block  = chans_q <= 16'(N);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      run_q      <= 1'b0;
      plan_q     <= 1'b0;
      got_q      <= 1'b0;
      wts_full_q <= 1'b0;
      rec_full_q <= 1'b0;
    end else if (flush_i) begin
      run_q      <= 1'b0;
      plan_q     <= 1'b0;
      got_q      <= 1'b0;
      wts_full_q <= 1'b0;
      rec_full_q <= 1'b0;
    end else begin
      got_q  <= accept;
      plan_q <= start_i && by_row;
      if ((start_i && !by_row) || plan_q) run_q <= 1'b1;
      else if (accept && kind_done && (rec_q ? all_q : end_q && last_block && !new_q)) run_q <= 1'b0;
      if (got_q && !got_rec_q && got_last_q) wts_full_q <= 1'b1;
      else if (wts_take_i) wts_full_q <= 1'b0;
      if (got_q && got_rec_q && got_last_q) rec_full_q <= 1'b1;
      else if (rec_take_i) rec_full_q <= 1'b0;
    end
  end

  // The row that comes next is the one at hand from plan_q or row_done on.
  /* verilator lint_off BLKSEQ */
  weft_cfg_pkg::sp_addr_t block;
  always_ff @(posedge clk_i) begin
    if (start_i) begin
      rec_q     <= 1'b0;
      b_q       <= 1'b0;
      pair_q    <= '0;
      chans_q   <= oc_i;
      new_q     <= 1'b1;
      end_q     <= 1'b1;
      all_q     <= 1'b0;
      w_block_q <= w_base_i;
      w_addr_q  <= w_base_i;
      p_addr_q  <= p_base_i;
    end else if (plan_q) begin
      end_q    <= row_end;
      b_ky_q   <= b_ky;
      w_addr_q <= w_block_q + bytes(ky, kx);
    end else if (accept) begin
      got_rec_q  <= rec_q;
      got_b_q    <= b_q;
      got_pair_q <= pair_q;
      got_last_q <= kind_done;
      pair_q     <= last_pair ? '0 : pair_q + 3'd1;
      if (rec_q) p_addr_q <= p_addr_q + AddrW'(2*N);
      else w_addr_q <= w_addr_q + AddrW'(2*N);
      if (kind_done) rec_q <= !rec_q && new_q;
      if (last_pair && !rec_q && two) begin
        b_q <= !b_q;
        if (!b_q) w_addr_q <= w_block_q + bytes(b_ky_q, kx);
      end
      if (row_done) begin
        new_q    <= end_q;
        end_q    <= row_end;
        b_ky_q   <= b_ky;
        block    = w_block_q;
        if (end_q) begin
          block   = w_block_q + bytes(by_row ? n_ky_i : 4'd1, kx);
          all_q   <= last_block;
          chans_q <= chans_q - 16'(N);
        end
        w_block_q <= block;
        w_addr_q  <= block + bytes(ky, kx);
      end
    end
  end

  /* verilator lint_on BLKSEQ */
  logic [90*N-1:0] wts_q;
  weft_cfg_pkg::row_acc_t   rec_bias;
  weft_cfg_pkg::row_mul_t   rec_mul;
  weft_cfg_pkg::row_shift_t rec_shift;

  assign wts_valid_o = wts_full_q;
  assign wts_o       = wts_q;
  assign rec_valid_o = rec_full_q;

  weft_param_row u_row (
    .clk_i, .is_short_i(short_i), .last_read_o(rec_last), .en_i(got_q && got_rec_q), .read_i(got_pair_q),
    .rdata_i(parv_rdata_i), .bias_o(rec_bias), .mul_o(rec_mul), .shift_o(rec_shift));

  always_ff @(posedge clk_i) begin
    // Taps 5 to 9 have columns 1, 0, 3, 2 and 4 of the second output row, so that each tap always takes the same one of a read's two words.
    if (got_q && !got_rec_q) begin
      for (int t = 0; t < Taps; t++) begin
        if (got_b_q ? t > 4 && got_pair_q == 3'((t - 5) / 2) : got_pair_q == 3'(t / 2)) begin
          for (int c = 0; c < N; c++) begin
            wts_q[9*(N*t + c) +: 9] <= 9'($signed(parv_rdata_i[8*(N*(t%2) + c) +: 8])) - 9'($signed(w_zp_i));
          end
        end
      end
      if (Two && got_b_q && got_pair_q == 3'd2) begin
        for (int c = 0; c < N; c++) wts_q[9*(9*N + c) +: 9] <= 9'($signed(parv_rdata_i[8*c +: 8])) - 9'($signed(w_zp_i));
      end
    end
    if (scalar_i) begin
      for (int c = 0; c < N; c++) begin
        bias_o[48*c +: 48] <= '0;
        mul_o[32*c +: 32]  <= scalar_mul_i;
        shift_o[6*c +: 6]  <= scalar_shift_i;
      end
    end else if (rec_take_i) begin
      bias_o  <= rec_bias;
      mul_o   <= rec_mul;
      shift_o <= rec_shift;
    end
  end

`ifdef WEFT_ASSERT
  always_ff @(posedge clk_i) begin
    if (rst_ni && !flush_i) begin
      assert (!(wts_take_i && !wts_full_q));
      assert (!(rec_take_i && !rec_full_q));
    end
  end
`endif

endmodule
