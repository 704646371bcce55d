// SPDX-License-Identifier: Apache-2.0
//
// Line buffer: one read and one write port, a word each a cycle. rdata_o holds
// what was read last. Read and write never meet at one address in one cycle.
module weft_vec_line #(
  parameter int unsigned Bits  = 128,
  parameter int unsigned Depth = 256
) (
  input  logic clk_i,

  input  logic                     re_i,
  input  logic [$clog2(Depth)-1:0] raddr_i,
  output logic [Bits-1:0]          rdata_o,

  input  logic                     we_i,
  input  logic [$clog2(Depth)-1:0] waddr_i,
  input  logic [Bits-1:0]          wdata_i
);

  logic [Bits-1:0] mem [Depth];

  always_ff @(posedge clk_i) begin
    if (re_i) rdata_o <= mem[raddr_i];
    if (we_i) mem[waddr_i] <= wdata_i;
  end

`ifdef WEFT_ASSERT
  always_ff @(posedge clk_i) assert (!(re_i && we_i && raddr_i == waddr_i));
`endif

endmodule
