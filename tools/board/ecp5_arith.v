// SPDX-License-Identifier: Apache-2.0
//
// Adders on an ECP5 for Yosys' techmap, in the fewest LUTs that nextpnr needs for them.
//
// Yosys' own map starts a chain of CCU2C with the carry-in as an input of its first cell and
// takes carries out of the chain's middle. nextpnr has no way from the fabric into a carry or
// back, so it puts a cell in front of each such chain (also for a constant) and one behind each
// carry that is used. Here the first half of the first cell makes the carry itself: out of bit
// 0's operands where carry-in and inversion are constants (bit 0 of the sum is then a plain
// LUT), else out of the carry-in. The last carry leaves as the sum of one half more, which is
// mostly there anyway; the carries between are computed back from the sum.
//
// A half's LUT4 is 0 at C = D = 1 where its INIT says 000x: the carry out is then LUT2 of A and
// B, or 0, whatever comes in.
(* techmap_celltype = "$alu" *)
module _80_weft_alu (A, B, CI, BI, X, Y, CO);
  parameter A_SIGNED = 0;
  parameter B_SIGNED = 0;
  parameter A_WIDTH = 1;
  parameter B_WIDTH = 1;
  parameter Y_WIDTH = 1;
  parameter _TECHMAP_CONSTMSK_CI_ = 0;
  parameter _TECHMAP_CONSTVAL_CI_ = 0;
  parameter _TECHMAP_CONSTMSK_BI_ = 0;
  parameter _TECHMAP_CONSTVAL_BI_ = 0;

  (* force_downto *) input [A_WIDTH-1:0] A;
  (* force_downto *) input [B_WIDTH-1:0] B;
  (* force_downto *) output [Y_WIDTH-1:0] X, Y;
  input CI, BI;
  (* force_downto *) output [Y_WIDTH-1:0] CO;

  wire _TECHMAP_FAIL_ = Y_WIDTH <= 4;  // those are plain LUTs

  (* force_downto *) wire [Y_WIDTH-1:0] AA, BX, BB;
  \$pos #(.A_SIGNED(A_SIGNED), .A_WIDTH(A_WIDTH), .Y_WIDTH(Y_WIDTH)) A_conv (.A(A), .Y(AA));
  \$pos #(.A_SIGNED(B_SIGNED), .A_WIDTH(B_WIDTH), .Y_WIDTH(Y_WIDTH)) B_conv (.A(B), .Y(BX));
  assign BB = BX ^ {Y_WIDTH{BI}};
  assign X = AA ^ BB;

  localparam KNOWN = _TECHMAP_CONSTMSK_CI_ == 1 && _TECHMAP_CONSTMSK_BI_ == 1;
  localparam FIRST = KNOWN ? 1 : 0;   // first bit of the sum that the chain makes
  localparam BITS = Y_WIDTH - FIRST;
  localparam HALVES = BITS + 2;       // the start, the bits, the last carry
  localparam CELLS = (HALVES + 1) / 2;
  // Of (b, a): b as it is added; what bit 0 carries
  localparam [3:0] ADDED = _TECHMAP_CONSTVAL_BI_ ? 4'b0011 : 4'b1100;
  localparam [3:0] START = _TECHMAP_CONSTVAL_CI_ ? 4'b1010 | ADDED : 4'b1010 & ADDED;

  (* force_downto *) wire [2*CELLS-1:0] ha, hb, hc, s;
  (* force_downto *) wire [CELLS:0] carry;
  assign ha = {2'b11, AA[Y_WIDTH-1:FIRST], KNOWN ? AA[0] : CI};
  assign hb = {2'b11, BX[Y_WIDTH-1:FIRST], KNOWN ? BX[0] : 1'b1};
  assign hc = {2'b11, {BITS{BI}}, 1'b1};

  genvar i;
  generate
    for (i = 0; i < CELLS; i = i + 1) begin : slice
      CCU2C #(
        .INIT0(i == 0 ? (KNOWN ? {12'h000, START} : 16'h000a) : 2*i <= BITS ? 16'h96aa : 16'h0000),
        .INIT1(2*i + 1 <= BITS ? 16'h96aa : 16'h0000),
        .INJECT1_0("NO"),
        .INJECT1_1("NO")
      ) ccu2c_i (
        .CIN(i == 0 ? 1'bx : carry[i]),
        .A0(ha[2*i]), .B0(hb[2*i]), .C0(hc[2*i]), .D0(1'b1),
        .A1(ha[2*i+1]), .B1(hb[2*i+1]), .C1(hc[2*i+1]), .D1(1'b1),
        .S0(s[2*i]), .S1(s[2*i+1]),
        .COUT(carry[i+1])
      );
    end
  endgenerate

  assign Y[Y_WIDTH-1:FIRST] = s[BITS:1];
  generate if (KNOWN) assign Y[0] = X[0] ^ CI; endgenerate
  assign CO[Y_WIDTH-1] = s[BITS+1];
  assign CO[Y_WIDTH-2:0] = Y[Y_WIDTH-1:1] ^ X[Y_WIDTH-1:1];
endmodule

// The carries of short adders, one after another: fewer LUTs than a tree of them.
(* techmap_celltype = "$lcu" *)
module _70_weft_lcu (P, G, CI, CO);
  parameter WIDTH = 2;
  (* force_downto *) input [WIDTH-1:0] P, G;
  input CI;
  (* force_downto *) output [WIDTH-1:0] CO;
  wire [WIDTH:0] c;
  assign c[0] = CI;
  assign CO = c[WIDTH:1];
  genvar i;
  generate for (i = 0; i < WIDTH; i = i + 1) begin : g
    assign c[i+1] = G[i] | (P[i] & c[i]);
  end endgenerate
endmodule
