// SPDX-License-Identifier: Apache-2.0
//
// weft_float_pkg::operand and weight beside the four encodings as their definitions have
// them: bits of the fraction, bias, codes of infinity and NaN. Combinational.
module float8_decode (
  input logic       clk_i,
  input logic [7:0] code_i,
  input logic [1:0] fmt_i     // 0 E4M3FN, 1 E5M2, 2 E4M3FNUZ, 3 E5M2FNUZ
);

  logic [11:0]       operand, weight;
  logic signed [4:0] significand;
  logic signed [7:0] exponent;        // of the significand's last bit
  logic [1:0]        flags;
  assign operand     = weft_float_pkg::operand(code_i, fmt_i);
  assign weight      = weft_float_pkg::weight(code_i, fmt_i);
  assign flags       = operand[11:10];
  assign significand = operand[4:0];
  assign exponent    = 8'($signed({3'd0, operand[9:5]})) - 8'sd17;

  logic signed [7:0] bias, fraction_bits, field;
  logic signed [7:0] want_exponent;
  logic signed [4:0] magnitude;
  logic              nan, inf;
  always_comb begin
    case (fmt_i)
      2'd0:    begin bias = 8'sd7;  fraction_bits = 8'sd3; end
      2'd1:    begin bias = 8'sd15; fraction_bits = 8'sd2; end
      2'd2:    begin bias = 8'sd8;  fraction_bits = 8'sd3; end
      default: begin bias = 8'sd16; fraction_bits = 8'sd2; end
    endcase
    if (fraction_bits == 8'sd3) begin
      field     = $signed({4'd0, code_i[6:3]});
      magnitude = $signed({1'b0, field != 8'sd0, code_i[2:0]});
    end else begin
      field     = $signed({3'd0, code_i[6:2]});
      magnitude = $signed({2'b00, field != 8'sd0, code_i[1:0]});
    end
    want_exponent = (field == 8'sd0 ? 8'sd1 : field) - bias - fraction_bits;
    case (fmt_i)
      2'd0:    begin nan = code_i == 8'h7f || code_i == 8'hff; inf = 1'b0; end
      2'd1:    begin nan = code_i[6:0] > 7'h7c; inf = code_i == 8'h7c || code_i == 8'hfc; end
      default: begin nan = code_i == 8'h80; inf = 1'b0; end
    endcase
  end

  always_comb begin
    special: assert ((flags == weft_float_pkg::NAN) == nan && (flags == weft_float_pkg::INF) == inf &&
                     flags != weft_float_pkg::NOTHING);
    if (!nan) value: assert (exponent == want_exponent && significand == (code_i[7] ? -magnitude : magnitude));
    // A weight of -0 makes no product, any other is as an activation.
    zero: assert (code_i == 8'h80 && !fmt_i[1] ? weight[11:10] == weft_float_pkg::NOTHING : weight == operand);
    reached: cover (fmt_i == 2'd3 && code_i == 8'h83);
  end

endmodule
