// SPDX-License-Identifier: Apache-2.0
//
// Crossing of levels into the domain of clk_i: each bit by itself through two registers. A
// level shorter than a cycle of clk_i may be lost, and bits that change together arrive in
// any order.
//
// One of the two crossings between clocks of this project; the other is weft_usb_cross_bytes.
module weft_usb_cross_level #(
  parameter int unsigned Width = 1
) (
  input  logic             clk_i,
  input  logic [Width-1:0] d_i,
  output logic [Width-1:0] q_o
);

  (* async_reg *) logic [Width-1:0] first_q, second_q;
  assign q_o = second_q;
  always_ff @(posedge clk_i) begin
    first_q  <= d_i;
    second_q <= first_q;
  end

endmodule
