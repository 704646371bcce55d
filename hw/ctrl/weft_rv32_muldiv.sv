// SPDX-License-Identifier: Apache-2.0
//
// Multiplier and divider of the control core.
//
// start_i takes the operands; done_o is high in the cycle in which result_o is
// valid: two cycles after start for MUL, MULH, MULHSU, MULHU, 33 for DIV, DIVU,
// REM, REMU (funct3_i). start_i only while idle. Division by zero and overflow
// give what the manual says.
module weft_rv32_muldiv (
  input  logic        clk_i,
  input  logic        rst_ni,

  input  logic        start_i,
  input  logic [2:0]  funct3_i,
  input  logic [31:0] a_i,
  input  logic [31:0] b_i,
  output logic        done_o,
  output logic [31:0] result_o
);

  // funct3: MUL 0, MULH 1, MULHSU 2, MULHU 3, DIV 4, DIVU 5, REM 6, REMU 7.
  logic        busy_q, divide_q, high_q, rem_q;
  logic        neg_q;              // of the quotient or remainder
  logic [31:0] minus_q;            // what signed operands take off the high half
  logic [31:0] a_q, b_q;
  logic [5:0]  count_q;
  logic [63:0] acc_q;              // product; or {remainder, quotient}

  logic a_neg, b_neg, div_signed;
  assign div_signed = !funct3_i[0];
  assign a_neg = a_i[31] && (funct3_i[2] ? div_signed : funct3_i[1:0] != 2'b11);
  assign b_neg = b_i[31] && (funct3_i[2] ? div_signed : !funct3_i[1]);

  // One step of restoring division: shift in a bit, subtract if it fits.
  logic [32:0] part, diff;
  assign part = {acc_q[63:32], acc_q[31]};
  assign diff = part - {1'b0, b_q};

  logic [31:0] half;
  always_comb begin
    half = high_q ? acc_q[63:32] - minus_q : acc_q[31:0];
    if (divide_q) begin
      half = rem_q ? acc_q[63:32] : acc_q[31:0];
      if (neg_q) half = -half;
    end
  end
  assign result_o = half;
  assign done_o   = busy_q && count_q == 6'd0;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      busy_q   <= 1'b0;
      divide_q <= 1'b0;
      high_q   <= 1'b0;
      rem_q    <= 1'b0;
      neg_q    <= 1'b0;
      minus_q  <= '0;
      a_q      <= '0;
      b_q      <= '0;
      count_q  <= '0;
      acc_q    <= '0;
    end else if (start_i) begin
      busy_q   <= 1'b1;
      divide_q <= funct3_i[2];
      high_q   <= funct3_i[1:0] != 2'b00;
      rem_q    <= funct3_i[1];
      // Unsigned product of the bits as they are; two's complement takes the
      // other operand off the high half for each that is negative.
      minus_q  <= (a_neg ? b_i : 32'd0) + (b_neg ? a_i : 32'd0);
      a_q      <= a_i;
      b_q      <= funct3_i[2] && b_neg ? -b_i : b_i;
      // Quotient: all ones when dividing by zero, which the steps give by
      // themselves as long as the sign stays out of it.
      neg_q    <= funct3_i[1] ? a_neg : (a_neg != b_neg) && b_i != 32'd0;
      acc_q    <= {32'd0, a_neg ? -a_i : a_i};
      count_q  <= funct3_i[2] ? 6'd32 : 6'd1;
    end else if (busy_q) begin
      if (count_q == 6'd0) busy_q <= 1'b0;
      else begin
        count_q <= count_q - 6'd1;
        if (!divide_q) acc_q <= 64'(a_q) * 64'(b_q);
        else acc_q <= {diff[32] ? part[31:0] : diff[31:0], acc_q[30:0], !diff[32]};
      end
    end
  end

`ifdef WEFT_ASSERT
  // What the manual says, by the operators of the language.
  logic [31:0]        want_q;
  logic [63:0]        product;
  logic signed [31:0] quotient, remainder;   // of signed operands
  always_comb begin
    product   = '0;
    quotient  = -$signed(a_i);               // by -1, also where that overflows
    remainder = '0;
    if (start_i && b_i != '0 && b_i != '1) begin
      quotient  = $signed(a_i) / $signed(b_i);
      remainder = $signed(a_i) % $signed(b_i);
    end
    if (start_i) begin
      case (funct3_i[1:0])
        2'd1:    product = $signed({{32{a_i[31]}}, a_i}) * $signed({{32{b_i[31]}}, b_i});
        2'd2:    product = $signed({{32{a_i[31]}}, a_i}) * $signed({32'd0, b_i});
        default: product = {32'd0, a_i} * {32'd0, b_i};
      endcase
    end
  end
  always_ff @(posedge clk_i) begin
    if (start_i) begin
      case (funct3_i)
        3'd0:    want_q <= product[31:0];
        3'd4:    want_q <= b_i == '0 ? '1 : quotient;
        3'd5:    want_q <= b_i == '0 ? '1 : a_i / b_i;
        3'd6:    want_q <= b_i == '0 ? a_i : remainder;
        3'd7:    want_q <= b_i == '0 ? a_i : a_i % b_i;
        default: want_q <= product[63:32];
      endcase
    end
  end

  logic [5:0] since_q;      // cycles since start_i
  always_ff @(posedge clk_i) begin
    since_q <= start_i ? 6'd1 : since_q + 6'd1;
    if (rst_ni) begin
      assert (!(start_i && busy_q));
      if (done_o) assert (result_o == want_q);
      if (done_o) assert (since_q == (divide_q ? 6'd33 : 6'd2));
    end
  end
`endif

endmodule
