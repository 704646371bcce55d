// SPDX-License-Identifier: Apache-2.0
//
// Products of two signed numbers of at most 9 bits without a multiplier block, for Yosys'
// techmap on multiplications with the attribute fabric: about 100 LUTs of an ECP5.
//
// Each half of a CCU2C adds two bits and makes one or both of them, as products of two bits: the
// LUT4 is the sum of what its inputs give, LUT2 of A and B what one of the two gives, which is
// the carry where the sum is 0. Rows 0 to 7 of the product are added in pairs, then the sums in
// pairs, then row 8, which counts negatively.
(* techmap_celltype = "$mul" *)
module _50_weft_mul (A, B, Y);
  parameter A_SIGNED = 0;
  parameter B_SIGNED = 0;
  parameter A_WIDTH = 1;
  parameter B_WIDTH = 1;
  parameter Y_WIDTH = 1;
  input [A_WIDTH-1:0] A;
  input [B_WIDTH-1:0] B;
  output [Y_WIDTH-1:0] Y;

  wire _TECHMAP_FAIL_ = !A_SIGNED || !B_SIGNED || A_WIDTH > 9 || B_WIDTH > 9;

  wire [8:0] a, b;
  wire [17:0] p;
  \$pos #(.A_SIGNED(1), .A_WIDTH(A_WIDTH), .Y_WIDTH(9)) A_conv (.A(A), .Y(a));
  \$pos #(.A_SIGNED(1), .A_WIDTH(B_WIDTH), .Y_WIDTH(9)) B_conv (.A(B), .Y(b));
  \$pos #(.A_SIGNED(1), .A_WIDTH(18), .Y_WIDTH(Y_WIDTH)) Y_conv (.A(p), .Y(Y));

  wire [10:0] s0, s1, s2, s3;
  wire [12:0] t0, t1;
  wire [16:0] t2;

  // a*b[j] + 2*a*b[j+1]: bit 0 has one addend only.
  assign {s3[0], s2[0], s1[0], s0[0]} = {4{a[0]}} & {b[6], b[4], b[2], b[0]};
  weft_chain #(.WIDTH(10), .INIT(16'h7888)) u_s0 (.A({{2{a[8]}}, a[8:1]}), .B({10{b[0]}}), .C({a[8], a}), .D({10{b[1]}}), .S(s0[10:1]));
  weft_chain #(.WIDTH(10), .INIT(16'h7888)) u_s1 (.A({{2{a[8]}}, a[8:1]}), .B({10{b[2]}}), .C({a[8], a}), .D({10{b[3]}}), .S(s1[10:1]));
  weft_chain #(.WIDTH(10), .INIT(16'h7888)) u_s2 (.A({{2{a[8]}}, a[8:1]}), .B({10{b[4]}}), .C({a[8], a}), .D({10{b[5]}}), .S(s2[10:1]));
  weft_chain #(.WIDTH(10), .INIT(16'h7888)) u_s3 (.A({{2{a[8]}}, a[8:1]}), .B({10{b[6]}}), .C({a[8], a}), .D({10{b[7]}}), .S(s3[10:1]));

  assign t0[1:0] = s0[1:0];
  assign t1[1:0] = s2[1:0];
  weft_chain #(.WIDTH(11), .INIT(16'h6aaa)) u_t0 (.A({{2{s0[10]}}, s0[10:2]}), .B(s1), .C(11'h7ff), .D(11'h7ff), .S(t0[12:2]));
  weft_chain #(.WIDTH(11), .INIT(16'h6aaa)) u_t1 (.A({{2{s2[10]}}, s2[10:2]}), .B(s3), .C(11'h7ff), .D(11'h7ff), .S(t1[12:2]));
  assign t2[3:0] = t0[3:0];
  weft_chain #(.WIDTH(13), .INIT(16'h6aaa)) u_t2 (.A({{4{t0[12]}}, t0[12:4]}), .B(t1), .C(13'h1fff), .D(13'h1fff), .S(t2[16:4]));

  // t2 - 256*a*b[8] = t2 + 256*~(a*b[8]) + 256
  assign p[7:0] = t2[7:0];
  weft_chain #(.WIDTH(10), .INIT(16'h95aa), .START(4'hf)) u_p (.A({t2[16], t2[16:8]}), .B({a[8], a}), .C({10{b[8]}}), .D(10'h3ff), .S(p[17:8]));
endmodule

// WIDTH halves of CCU2C behind one that makes the first carry, START of its (b, a).
(* techmap_celltype = "weft_chain" *)
module _50_weft_chain (A, B, C, D, S);
  parameter WIDTH = 2;
  parameter [15:0] INIT = 0;
  parameter [3:0] START = 0;
  input [WIDTH-1:0] A, B, C, D;
  output [WIDTH-1:0] S;
  localparam CELLS = (WIDTH + 2) / 2;
  wire [2*CELLS-1:0] a, b, c, d, s;
  wire [CELLS:0] carry;
  assign a = {1'b1, A, 1'b1};
  assign b = {1'b1, B, 1'b1};
  assign c = {1'b1, C, 1'b1};
  assign d = {1'b1, D, 1'b1};
  assign S = s[WIDTH:1];
  genvar i;
  generate
    for (i = 0; i < CELLS; i = i + 1) begin : slice
      CCU2C #(
        .INIT0(i == 0 ? {12'h000, START} : INIT),
        .INIT1(2*i + 1 <= WIDTH ? INIT : 16'h0000),
        .INJECT1_0("NO"),
        .INJECT1_1("NO")
      ) ccu2c_i (
        .CIN(i == 0 ? 1'bx : carry[i]),
        .A0(a[2*i]), .B0(b[2*i]), .C0(c[2*i]), .D0(d[2*i]),
        .A1(a[2*i+1]), .B1(b[2*i+1]), .C1(c[2*i+1]), .D1(d[2*i+1]),
        .S0(s[2*i]), .S1(s[2*i+1]),
        .COUT(carry[i+1])
      );
    end
  endgenerate
endmodule
