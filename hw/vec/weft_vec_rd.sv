// SPDX-License-Identifier: Apache-2.0
//
// Reads words of up to 2N bytes through the VEC port and hands them on in order.
//
// One address a cycle in, one word a cycle out, three cycles apart; bytes behind
// the N-th that do not come with an unaligned read cost a second one. Up to four
// words are under way, so that a lost arbitration does not stop the consumer at
// once. An address with skip_i makes no access; its word is anything. An address
// beyond the scratchpad raises bad_o, is never asked for and stays in front until
// flush_i, which forgets everything.
//
// Neither vec_o.req nor addr_ready_o depends on word_ready_i.
//
// Theory: hw/vec/README.md
module weft_vec_rd #(
  parameter int unsigned TagBits = 14
) (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic flush_i,

  input  logic                   addr_valid_i,
  output logic                   addr_ready_o,
  input  weft_cfg_pkg::sp_addr_t addr_i,
  input  logic [6:0]             bytes_i,  // of the word, that are used: 1..2N
  input  logic                   skip_i,
  input  logic [TagBits-1:0]     tag_i,    // carried along
  output logic                   bad_o,
  output weft_cfg_pkg::sp_addr_t bad_addr_o,

  output weft_cfg_pkg::sp_read_t vec_o,
  input  logic                   vec_gnt_i,
  input  weft_cfg_pkg::sp_pair_t vec_rdata_i,

  output logic                    word_valid_o,
  input  logic                    word_ready_i,
  output weft_cfg_pkg::row_half_t word_o,  // anything with skip_i
  output logic [TagBits-1:0]      tag_o
);

  localparam int unsigned N     = weft_cfg_pkg::N;
  localparam int unsigned AddrW = weft_cfg_pkg::SP_ADDR_BITS;
  localparam int unsigned Log2N = weft_cfg_pkg::LOG2_N;
  localparam int unsigned Depth = 4;

  weft_cfg_pkg::row_half_t data_q [Depth];
  logic [TagBits-1:0]      tag_q  [Depth];
  logic [1:0]              wr_q, rd_q;
  logic [2:0]              used_q;      // accepted addresses whose word has not left
  logic [2:0]              full_q;      // of them, in data_q
  logic                    push_q;      // accepted in the cycle before
  logic                    push_skip_q;
  logic                    push_split_q;
  logic [TagBits-1:0]      push_tag_q;
  logic                    second_q;    // the first of two reads was granted
  logic                    low_push_q;  // in the cycle before
  weft_cfg_pkg::sp_word_t  low_q;       // what it brought

  logic room, range_bad, accept, pop, aligned, first;

  weft_vec_range u_range (.addr_i(addr_i), .bytes_i({2'd0, bytes_i}), .bad_o(range_bad), .bad_addr_o(bad_addr_o));

  assign room         = !used_q[2];
  assign bad_o        = addr_valid_i && !skip_i && range_bad;
  assign vec_o.req    = addr_valid_i && room && !skip_i && !range_bad;
  assign vec_o.addr   = second_q ? addr_i + AddrW'(N) : addr_i;
  assign vec_o.wide   = aligned && bytes_i > 7'(N);
  assign aligned      = addr_i[Log2N-1:0] == '0;
  assign first        = !second_q && !aligned && bytes_i > 7'(2*N) - 7'(addr_i[Log2N-1:0]);
  assign addr_ready_o = room && (skip_i || (vec_gnt_i && !range_bad && !first));
  assign accept       = addr_valid_i && addr_ready_o;

  assign word_valid_o = full_q != '0;
  assign word_o       = data_q[rd_q];
  assign tag_o        = tag_q[rd_q];
  assign pop          = word_valid_o && word_ready_i;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      wr_q       <= '0;
      rd_q       <= '0;
      used_q     <= '0;
      full_q     <= '0;
      push_q     <= 1'b0;
      second_q   <= 1'b0;
      low_push_q <= 1'b0;
    end else if (flush_i) begin
      wr_q       <= '0;
      rd_q       <= '0;
      used_q     <= '0;
      full_q     <= '0;
      push_q     <= 1'b0;
      second_q   <= 1'b0;
      low_push_q <= 1'b0;
    end else begin
      push_q     <= accept;
      low_push_q <= vec_o.req && vec_gnt_i && first;
      if (accept) second_q <= 1'b0;
      else if (vec_o.req && vec_gnt_i) second_q <= 1'b1;
      if (push_q) wr_q <= wr_q + 2'd1;
      if (pop) rd_q <= rd_q + 2'd1;
      if (accept != pop) used_q <= accept ? used_q + 3'd1 : used_q - 3'd1;
      if (push_q != pop) full_q <= push_q ? full_q + 3'd1 : full_q - 3'd1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (accept) begin
      push_skip_q  <= skip_i;
      push_split_q <= second_q;
      push_tag_q   <= tag_i;
    end
    if (low_push_q) low_q <= vec_rdata_i[8*N-1:0];
    if (push_q) begin
      tag_q[wr_q] <= push_tag_q;
      if (!push_skip_q) data_q[wr_q] <= push_split_q ? {vec_rdata_i[8*N-1:0], low_q} : vec_rdata_i;
    end
  end

`ifdef WEFT_ASSERT
  always_ff @(posedge clk_i) begin
    if (rst_ni && !flush_i) begin
      assert (used_q <= 3'(Depth) && full_q + 3'(push_q) == used_q);
      assert (!(vec_gnt_i && !vec_o.req));
    end
  end
`endif

endmodule
