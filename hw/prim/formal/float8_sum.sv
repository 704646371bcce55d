// SPDX-License-Identifier: Apache-2.0
//
// weft_float_pkg::product and accumulate beside exact arithmetic in 144 bits. Operands are
// any flags, exponents and significands that fit (of them prim/float8_decode says what codes
// have). A product's value is significand * 2^(a.exponent + b.exponent + log2_scale - 34);
// it is counted in units of 2^-28, rounded half up. Combinational.
module float8_sum (
  input logic        clk_i,
  input logic [11:0] a_i,
  input logic [11:0] b_i,
  input logic [5:0]  log2_scale_i,
  input logic [49:0] sum_i
);

  logic [49:0] next;
  assign next = weft_float_pkg::accumulate(sum_i, weft_float_pkg::product(a_i, b_i, log2_scale_i));

  logic signed [9:0]   significand;
  logic signed [9:0]   power;        // of two by which it is multiplied, in units of 2^-28
  logic signed [143:0] exact;        // in units of 2^-68
  logic [6:0]          left;         // a shift count has no sign
  logic signed [143:0] units, total;
  logic                nothing, nan, inf, minus, far;
  logic [1:0]          brings, want_state;
  always_comb begin
    significand = 10'($signed(a_i[4:0])) * 10'($signed(b_i[4:0]));
    power   = $signed({5'd0, a_i[9:5]}) + $signed({5'd0, b_i[9:5]}) + 10'($signed(log2_scale_i)) - 10'sd6;
    // Units of 2^-68 hold what -38, the least power, makes of a significand.
    left    = 7'(power + 10'sd40);
    exact   = 144'(significand) <<< left;
    units   = (exact + (144'sd1 <<< 39)) >>> 40;
    minus   = significand < 10'sd0;
    nothing = a_i[11:10] == weft_float_pkg::NOTHING || b_i[11:10] == weft_float_pkg::NOTHING;
    inf     = a_i[11:10] == weft_float_pkg::INF || b_i[11:10] == weft_float_pkg::INF;
    nan     = a_i[11:10] == weft_float_pkg::NAN || b_i[11:10] == weft_float_pkg::NAN || (inf && significand == 10'sd0);
    far     = units >= (144'sd1 <<< 47) || units < -(144'sd1 <<< 47);
    brings  = weft_float_pkg::STATE_FINITE;
    if (nan) brings = weft_float_pkg::STATE_NAN;
    else if (inf || far) brings = minus ? weft_float_pkg::STATE_NINF : weft_float_pkg::STATE_PINF;
    if (nothing) begin
      brings = weft_float_pkg::STATE_FINITE;
      units  = '0;
    end
    total      = 144'($signed(sum_i[47:0])) + units;
    want_state = sum_i[49:48] | brings;
    if (want_state == weft_float_pkg::STATE_FINITE && total >= (144'sd1 <<< 47)) want_state = weft_float_pkg::STATE_PINF;
    if (want_state == weft_float_pkg::STATE_FINITE && total < -(144'sd1 <<< 47)) want_state = weft_float_pkg::STATE_NINF;
  end

  always_comb begin
    // What weft_float_pkg::operand makes: 4 bits and a sign.
    significands: assume (a_i[4:0] != 5'h10 && b_i[4:0] != 5'h10);
    state: assert (next[49:48] == want_state);
    if (want_state == weft_float_pkg::STATE_FINITE) sum: assert (next[47:0] == total[47:0]);
    halves:  cover (want_state == weft_float_pkg::STATE_FINITE && significand == -10'sd15 && power == -10'sd3);
    leaves:  cover (want_state == weft_float_pkg::STATE_PINF && !far && !inf);
  end

endmodule
