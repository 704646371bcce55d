// SPDX-License-Identifier: Apache-2.0
//
// Reads words of N bytes through the VEC port and hands them on in order.
//
// One address a cycle in, one word a cycle out, three cycles apart; up to four
// are under way, so that a lost arbitration does not stop the consumer at
// once. An address with skip_i makes no access; its word is anything. An address beyond the scratchpad raises bad_o, is never asked for and stays in
// front until flush_i, which forgets everything.
//
// Neither vec_req_o nor addr_ready_o depends on word_ready_i.
//
// Theory: hw/vec/README.md
module weft_vec_rd (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic flush_i,

  input  logic        addr_valid_i,
  output logic        addr_ready_o,
  input  logic [19:0] addr_i,
  input  logic [6:0]  lanes_i,      // bytes of the word that are used
  input  logic        skip_i,
  input  logic [8:0]  tag_i,        // carried along
  output logic        bad_o,
  output logic [19:0] bad_addr_o,

  output logic                         vec_req_o,
  output logic [19:0]                  vec_addr_o,
  input  logic                         vec_gnt_i,
  input  logic [8*weft_cfg_pkg::N-1:0] vec_rdata_i,

  output logic                         word_valid_o,
  input  logic                         word_ready_i,
  output logic [8*weft_cfg_pkg::N-1:0] word_o,       // anything with skip_i
  output logic [8:0]                   tag_o
);

  localparam int unsigned N     = weft_cfg_pkg::N;
  localparam int unsigned Depth = 4;

  logic [8*N-1:0] data_q [Depth];
  logic [8:0]     tag_q  [Depth];
  logic [1:0]     wr_q, rd_q;
  logic [2:0]     used_q;          // accepted addresses whose word has not left
  logic [2:0]     full_q;          // of them, in data_q
  logic           push_q;          // accepted in the cycle before
  logic           push_skip_q;
  logic [8:0]     push_tag_q;

  logic room, range_bad, accept, pop;

  weft_vec_range u_range (.addr_i(addr_i), .lanes_i(lanes_i), .bad_o(range_bad), .bad_addr_o(bad_addr_o));

  assign room         = !used_q[2];
  assign bad_o        = addr_valid_i && !skip_i && range_bad;
  assign vec_req_o    = addr_valid_i && room && !skip_i && !range_bad;
  assign vec_addr_o   = addr_i;
  assign addr_ready_o = room && (skip_i || (vec_gnt_i && !range_bad));
  assign accept       = addr_valid_i && addr_ready_o;

  assign word_valid_o = full_q != '0;
  assign word_o       = data_q[rd_q];
  assign tag_o        = tag_q[rd_q];
  assign pop          = word_valid_o && word_ready_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      wr_q   <= '0;
      rd_q   <= '0;
      used_q <= '0;
      full_q <= '0;
      push_q <= 1'b0;
    end else if (flush_i) begin
      wr_q   <= '0;
      rd_q   <= '0;
      used_q <= '0;
      full_q <= '0;
      push_q <= 1'b0;
    end else begin
      push_q <= accept;
      if (push_q) wr_q <= wr_q + 2'd1;
      if (pop) rd_q <= rd_q + 2'd1;
      if (accept != pop) used_q <= accept ? used_q + 3'd1 : used_q - 3'd1;
      if (push_q != pop) full_q <= push_q ? full_q + 3'd1 : full_q - 3'd1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (accept) begin
      push_skip_q <= skip_i;
      push_tag_q  <= tag_i;
    end
    if (push_q) begin
      tag_q[wr_q] <= push_tag_q;
      if (!push_skip_q) data_q[wr_q] <= vec_rdata_i;
    end
  end

`ifdef WEFT_ASSERT
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (rst_ni && !flush_i) begin
      assert (used_q <= 3'(Depth) && full_q + 3'(push_q) == used_q);
      assert (!(vec_gnt_i && !vec_req_o));
    end
  end
`endif

endmodule
