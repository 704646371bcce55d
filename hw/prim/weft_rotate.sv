// SPDX-License-Identifier: Apache-2.0
//
// Rotates a ring of bytes: lane i of data_o is lane (i + by_i) mod Bytes of
// data_i. Combinational.
//
// One stage per bit of by_i, each a fixed distance under an if: Verilator
// skips the stages that are not needed.
module weft_rotate #(
  parameter int unsigned Bytes = 16  // a power of two, at least 2
) (
  input  logic [8*Bytes-1:0]       data_i,
  input  logic [$clog2(Bytes)-1:0] by_i,
  output logic [8*Bytes-1:0]       data_o
);

  localparam int unsigned Stages = $clog2(Bytes);

  // The coarse ones first: they move whole machine words.
  for (genvar s = 0; s < Stages; s++) begin : g_stage
    localparam int unsigned Bits = 8 << (Stages - 1 - s);
    logic [8*Bytes-1:0] in, out;
    if (s == 0) begin : g_first
      assign in = data_i;
    end else begin : g_next
      assign in = g_stage[s-1].out;
    end
    always_comb begin
      out = in;
      if (by_i[Stages-1-s]) out = {in[Bits-1:0], in[8*Bytes-1:Bits]};
    end
  end
  assign data_o = g_stage[Stages-1].out;

endmodule
