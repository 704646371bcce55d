// SPDX-License-Identifier: Apache-2.0
//
// For Yosys' techmap, in front of alumacc: signed comparisons as unsigned ones with both signs
// turned. Those take the last carry of a chain, signed ones also the one before it.
(* techmap_celltype = "$lt $le $gt $ge" *)
module _90_weft_compare (A, B, Y);
  parameter A_SIGNED = 0;
  parameter B_SIGNED = 0;
  parameter A_WIDTH = 1;
  parameter B_WIDTH = 1;
  parameter Y_WIDTH = 1;
  parameter _TECHMAP_CELLTYPE_ = "";
  input [A_WIDTH-1:0] A;
  input [B_WIDTH-1:0] B;
  output [Y_WIDTH-1:0] Y;

  wire _TECHMAP_FAIL_ = !A_SIGNED || !B_SIGNED;

  localparam WIDTH = A_WIDTH > B_WIDTH ? A_WIDTH : B_WIDTH;
  wire [WIDTH-1:0] a, b, ua, ub;
  \$pos #(.A_SIGNED(1), .A_WIDTH(A_WIDTH), .Y_WIDTH(WIDTH)) A_conv (.A(A), .Y(a));
  \$pos #(.A_SIGNED(1), .A_WIDTH(B_WIDTH), .Y_WIDTH(WIDTH)) B_conv (.A(B), .Y(b));
  assign ua = a ^ (1 << (WIDTH - 1));
  assign ub = b ^ (1 << (WIDTH - 1));
  generate
    if (_TECHMAP_CELLTYPE_ == "$lt") assign Y = ua < ub;
    if (_TECHMAP_CELLTYPE_ == "$le") assign Y = ua <= ub;
    if (_TECHMAP_CELLTYPE_ == "$gt") assign Y = ua > ub;
    if (_TECHMAP_CELLTYPE_ == "$ge") assign Y = ua >= ub;
  endgenerate
endmodule
