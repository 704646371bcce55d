// SPDX-License-Identifier: Apache-2.0
//
// float8 and fp16 in bits; all combinational. Formats of float8: 0 E4M3FN,
// 1 E5M2, 2 E4M3FNUZ, 3 E5M2FNUZ. Bit 0 says where the point is, bit 1 that
// there is one NaN (80), one zero, no infinity, and that values are half of what
// the same code has in the other format.
//
// Theory: hw/prim/README.md
package weft_float_pkg;

  // Flags of a float8 operand; NOTHING: it makes no product.
  localparam logic [1:0] FINITE = 2'd0, INF = 2'd1, NAN = 2'd2, NOTHING = 2'd3;
  // State of a value beside its number; or of two of them is that of their sum.
  localparam logic [1:0] STATE_FINITE = 2'd0, STATE_PINF = 2'd1, STATE_NINF = 2'd2, STATE_NAN = 2'd3;

  // {flags, exponent, significand}: the value is significand * 2^(exponent - 17),
  // the significand signed, 0 only of zeros (of finite values and infinities).
  function automatic logic [11:0] operand(input logic [7:0] code, input logic [1:0] fmt);
    logic [4:0] field, exponent, significand;
    logic [1:0] flags;
    field       = fmt[0] ? code[6:2] : {1'b0, code[6:3]};
    significand = fmt[0] ? {2'b00, field != '0, code[1:0]} : {1'b0, field != '0, code[2:0]};
    exponent    = (field == '0 ? 5'd1 : field) + (fmt[0] ? 5'd0 : 5'd7) - {4'd0, fmt[1]};
    flags       = FINITE;
    if (fmt[1]) begin
      if (code == 8'h80) flags = NAN;
    end else if (!fmt[0]) begin
      if (code[6:0] == 7'h7f) flags = NAN;
    end else if (field == 5'd31) begin
      flags = code[1:0] == 2'd0 ? INF : NAN;
    end
    operand = {flags, exponent, code[7] ? -significand : significand};
  endfunction

  // The same of a weight: -0 makes no product.
  function automatic logic [11:0] weight(input logic [7:0] code, input logic [1:0] fmt);
    weight = operand(code, fmt);
    if (code == 8'h80 && !fmt[1]) weight[11:10] = NOTHING;
  endfunction

  // Product of two operands: {state that it brings, place, significand}. Its value is
  // significand * 2^(place - 36), that is, bit 8 of the significand shifted left by
  // the place is 2^-28.
  function automatic logic [18:0] product(input logic [11:0] a, input logic [11:0] b, input logic [5:0] log2_scale);
    logic [8:0] significand;
    logic [7:0] place;
    logic       inf, nan;
    // Too small for a multiplier block.
    significand = b[4] ? -(9'($signed(a[4:0])) << 4) : 9'd0;
    for (int i = 0; i < 4; i++) begin
      if (b[i]) significand = significand + (9'($signed(a[4:0])) << i);
    end
    place       = 8'(a[9:5]) + 8'(b[9:5]) + 8'($signed(log2_scale)) + 8'd2;
    inf         = a[11:10] == INF || b[11:10] == INF;
    nan         = a[11:10] == NAN || b[11:10] == NAN || (inf && significand == '0);
    product     = {nan ? STATE_NAN : !inf ? STATE_FINITE : significand[8] ? STATE_NINF : STATE_PINF, place, significand};
    if (a[11:10] == NOTHING || b[11:10] == NOTHING) product = '0;
  endfunction

  // A significand shifted left, in steps of which each is as wide as it must be:
  // less logic than <<, where the sign fills what is above.
  function automatic logic [63:0] shifted(input logic [8:0] p, input logic [5:0] place);
    logic signed [11:0] by3;
    logic signed [23:0] by15;
    case (place[1:0])
      2'd0:    by3 = 12'($signed(p));
      2'd1:    by3 = 12'($signed({p, 1'd0}));
      2'd2:    by3 = 12'($signed({p, 2'd0}));
      default: by3 = {p, 3'd0};
    endcase
    case (place[3:2])
      2'd0:    by15 = 24'(by3);
      2'd1:    by15 = 24'($signed({by3, 4'd0}));
      2'd2:    by15 = 24'($signed({by3, 8'd0}));
      default: by15 = {by3, 12'd0};
    endcase
    case (place[5:4])
      2'd0:    shifted = 64'(by15);
      2'd1:    shifted = 64'($signed({by15, 16'd0}));
      2'd2:    shifted = 64'($signed({by15, 32'd0}));
      default: shifted = {by15[15:0], 48'd0};
    endcase
  endfunction

  // {state, sum} with a product added. hw/array does the same in its own loops.
  function automatic logic [49:0] accumulate(input logic [49:0] sum, input logic [18:0] p);
    // verilator lint_off UNUSEDSIGNAL
    logic signed [63:0] term;   // what is below the half is dropped
    // verilator lint_on UNUSEDSIGNAL
    logic signed [48:0] next;
    logic [1:0]         brings;
    logic               far;
    term   = $signed(p[16:9]) < 0 ? 64'sd0 : 64'($signed(p[8:0])) <<< p[14:9];
    far    = $signed(p[16:9]) > 8'sd55 ? p[8:0] != '0 : $signed(p[16:9]) >= 0 && term[63:55] != {9{term[63]}};
    brings = p[18:17] == STATE_FINITE && far ? (p[8] ? STATE_NINF : STATE_PINF) : p[18:17];
    next   = 49'($signed(sum[47:0])) + 49'($signed(term[55:8])) + $signed({48'd0, term[7]});
    accumulate[47:0]  = next[47:0];
    accumulate[49:48] = sum[49:48] | brings;
    if (sum[49:48] == STATE_FINITE && brings == STATE_FINITE && next[48] != next[47]) begin
      accumulate[49:48] = next[48] ? STATE_NINF : STATE_PINF;
    end
  endfunction

  // To fp16, exactly. NaN is 7e00, of formats that have more than one with its sign.
  function automatic logic [15:0] to_half(input logic [7:0] code, input logic [1:0] fmt);
    logic [14:0] h;
    logic [4:0]  exponent;
    if (fmt[0]) begin
      h = {code[6:0], 8'd0};
      // Up to the first binade of normal numbers halving is a shift.
      if (fmt[1]) h = code[6:3] == '0 ? h >> 1 : h - 15'h0400;
    end else begin
      exponent = code[6:3] != '0 ? {1'b0, code[6:3]} + 5'd8 : code[2] ? 5'd8 : code[1] ? 5'd7 : 5'd6;
      h = {exponent - {4'd0, fmt[1]}, 10'd0};
      if (code[6:3] != '0) h[9:7] = code[2:0];
      else if (code[2])    h[9:8] = code[1:0];
      else if (code[1])    h[9]   = code[0];
      if (code[6:0] == '0) h = '0;
    end
    to_half = {code[7], h};
    if (fmt[1]) begin
      if (code == 8'h80) to_half = 16'h7e00;
    end else if (fmt[0] ? code[6:0] > 7'h7c : code[6:0] == 7'h7f) begin
      to_half = {code[7], 15'h7e00};
    end
  endfunction

  // From fp16 to the nearest, ties to even. What is too large becomes the largest
  // finite value with saturate, else infinite or NaN.
  function automatic logic [7:0] from_half(input logic [15:0] h, input logic [1:0] fmt, input logic saturate);
    logic [15:0] twice;    // FNUZ: of twice the value
    logic [15:0] kept;     // one code is 2^7 or 2^8 here
    logic [10:0] significand;
    logic [10:0] rest;     // what rounding looks at: the half, and below it
    logic [8:0]  code;
    logic [6:0]  largest;
    logic        inf, nan;
    inf = h[14:0] == 15'h7c00;
    nan = h[14:0] > 15'h7c00;
    largest = fmt[1] ? 7'h7f : fmt[0] ? 7'h7b : 7'h7e;
    twice = {1'b0, h[14:0]};
    if (fmt[1]) twice = h[14:10] == '0 ? twice << 1 : twice + 16'h0400;
    significand = {1'b1, twice[9:0]};
    kept = twice;
    rest = {twice[7:0], 3'd0};
    code = {1'b0, twice[15:8]};
    if (!fmt[0]) begin
      if (twice[15:10] > 6'd8) begin
        kept = twice - 16'h2000;
        code = kept[15:7];
        rest = {kept[6:0], 4'd0};
      end else begin
        // Subnormal: bit 0 of the code is 2^-9, that of the significand 2^(exponent - 25).
        case (twice[12:10])
          3'd0:    {code, rest} = twice[15:10] == 6'd8 ? {6'd0, significand[10:8], significand[7:0], 3'd0} : {9'd0, 11'd0};
          3'd7:    {code, rest} = {7'd0, significand[10:9], significand[8:0], 2'd0};
          3'd6:    {code, rest} = {8'd0, significand[10], significand[9:0], 1'd0};
          3'd5:    {code, rest} = {9'd0, significand};
          default: {code, rest} = {9'd0, 11'd0};
        endcase
      end
    end
    if (rest[10] && (rest[9:0] != '0 || code[0])) code = code + 9'd1;
    from_half = {h[15], code[6:0]};
    if (nan || (fmt[1] && inf)) begin
      from_half = fmt[1] ? 8'h80 : {h[15], fmt[0] ? 7'h7e : 7'h7f};
    end else if (inf || code > {2'd0, largest}) begin
      from_half = saturate ? {h[15], largest} : fmt[1] ? 8'h80 : {h[15], fmt[0] ? 7'h7c : 7'h7f};
    end else if (fmt[1] && code[6:0] == '0) begin
      from_half = 8'h00;
    end
  endfunction

  // The finite fp16 in units of 2^-28.
  function automatic logic [47:0] units(input logic [15:0] h);
    logic [47:0] magnitude;
    magnitude = 48'({h[14:10] != '0, h[9:0]}) << ((h[14:10] == '0 ? 6'd1 : {1'b0, h[14:10]}) + 6'd3);
    units = h[15] ? -magnitude : magnitude;
  endfunction

  function automatic logic [1:0] state(input logic [15:0] h);
    state = h[14:10] != 5'd31 ? STATE_FINITE : h[9:0] != '0 ? STATE_NAN : h[15] ? STATE_NINF : STATE_PINF;
  endfunction

  // Patterns of fp16 as signed numbers of the same order, -0 below +0, and back.
  function automatic logic [15:0] order(input logic [15:0] h);
    order = h[15] ? {1'b1, ~h[14:0]} : h;
  endfunction

  // How far a magnitude goes right to become an fp16's significand, but the least
  // step of fp16 is 2^-24: 4.
  function automatic logic [5:0] excess(input logic [47:0] magnitude);
    logic [47:0] m;
    logic [5:0]  top;
    m = magnitude;
    top = '0;
    if (m[47:32] != '0) begin
      top = top + 6'd32;
      m = m >> 32;
    end
    if (m[31:16] != '0) begin
      top = top + 6'd16;
      m = m >> 16;
    end
    if (m[15:8] != '0) begin
      top = top + 6'd8;
      m = m >> 8;
    end
    if (m[7:4] != '0) begin
      top = top + 6'd4;
      m = m >> 4;
    end
    if (m[3:2] != '0) begin
      top = top + 6'd2;
      m = m >> 2;
    end
    top = top + {5'd0, m[1]};
    excess = top > 6'd14 ? top - 6'd10 : 6'd4;
  endfunction

endpackage
