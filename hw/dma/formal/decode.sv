// SPDX-License-Identifier: Apache-2.0
//
// weft_dma_decode with any row, any beats at any time, any contents and any readiness behind it.
module decode (
  input logic                   clk_i,
  input logic                   rst_ni,
  input logic                   clear_i,
  input logic                   start_i,
  input logic [weft_cfg_pkg::SP_ADDR_BITS-weft_cfg_pkg::LOG2_N-1:0] words_i,
  input logic [7:0]             centre_i,
  input logic                   in_valid_i,
  input logic                   in_last_i,
  input weft_cfg_pkg::sp_word_t in_data_i,
  input logic                   out_ready_i
);

  localparam int unsigned Bits = weft_cfg_pkg::SP_ADDR_BITS - weft_cfg_pkg::LOG2_N;

  logic started_q;
  initial started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;

  logic busy, able, whole, in_ready, out_valid, both, last;
  weft_dma_decode u_dut (
    .clk_i, .rst_ni, .clear_i, .start_i, .words_i, .centre_i, .busy_o(busy), .able_o(able), .whole_o(whole),
    .in_valid_i, .in_ready_o(in_ready), .in_last_i, .in_data_i,
    .out_valid_o(out_valid), .out_ready_i, .out_both_o(both), .out_last_o(last), .out_data_o()
  );

  logic            take, end_now, step;
  logic [Bits-1:0] left_q;         // words of the row that have not come out
  logic            running_q;      // a row has begun, and has words left
  logic            whole_q;        // its last beat has come
  logic [3:0]      idle_q;         // cycles in a row in which nothing moved though it could
  assign take    = out_valid && out_ready_i;
  assign end_now = take && left_q == (both ? Bits'(2) : Bits'(1));
  always_ff @(posedge clk_i) begin
    if (!rst_ni || clear_i) running_q <= 1'b0;
    else if (start_i) running_q <= 1'b1;
    else if (end_now) running_q <= 1'b0;
    if (start_i) left_q <= words_i;
    else if (take) left_q <= left_q - (both ? Bits'(2) : Bits'(1));
    if (start_i) whole_q <= 1'b0;
    else if (in_valid_i && in_ready && in_last_i) whole_q <= 1'b1;
    if (!rst_ni || clear_i || start_i || !running_q || step || take || !out_ready_i || (in_valid_i && in_ready) || (!whole_q && !in_valid_i))
      idle_q <= '0;
    else if (idle_q != '1) idle_q <= idle_q + 4'd1;
  end

  always_comb begin
    if (!started_q) reset: assume (!rst_ni);
    if (start_i) one_row: assume (!busy && words_i != '0);
    if (started_q && rst_ni) begin
      busy_while:  assert (busy == running_q);
      all_words:   assert (!busy || left_q != '0);
      two_words:   assert (!out_valid || !both || left_q > Bits'(1));
      marks_last:  assert (!out_valid || last == (left_q <= Bits'(2)));
      odd_one:     assert (!out_valid || both || left_q == Bits'(1));
      all_beats:   assert (!(out_valid && last) || whole_q);
      knows_whole: assert (whole == (busy && whole_q));
      no_more:     assert (!in_ready || (busy && !whole_q));
      goes_on:     assert (idle_q <= 4'd3);
      able_is:     assert (!able || !out_ready_i || step);
      reached:     cover (end_now && !both && whole_q);
      waited:      cover (idle_q == 4'd2);
    end
  end

endmodule
