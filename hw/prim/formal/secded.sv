// SPDX-License-Identifier: Apache-2.0
//
// weft_secded_enc followed by weft_secded_dec, for a byte. Between the two, none, one, or two bits change of the
// byte and its check bits, any of them.
module secded (
  input logic        clk_i,
  input logic        rst_ni,
  input logic [7:0]  byte_i,
  input logic [3:0]  byte_a_i,   // numbers of the two bits that change; from 8 on check bits
  input logic [3:0]  byte_b_i,
  input logic        one_i,      // only the first of them changes
  input logic        none_i      // neither changes
);

  logic started_q;
  initial started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;

  logic [4:0]  byte_check;
  logic [12:0] byte_flip;
  logic [7:0]  byte_data;
  logic        byte_fixed, byte_bad;

  assign byte_flip = none_i ? '0 : (13'd1 << byte_a_i) ^ (one_i ? '0 : 13'd1 << byte_b_i);

  weft_secded_enc u_byte (
    .data_i (byte_i),
    .check_o(byte_check)
  );
  weft_secded_dec u_byte_dec (
    .data_i (byte_i ^ byte_flip[7:0]),
    .check_i(byte_check ^ byte_flip[12:8]),
    .data_o (byte_data),
    .fixed_o(byte_fixed),
    .bad_o  (byte_bad)
  );

  logic two;
  assign two = !none_i && !one_i;

  always_comb begin
    if (!started_q) reset: assume (!rst_ni);
    if (started_q && byte_a_i < 4'd13 && byte_b_i < 4'd13 && byte_a_i != byte_b_i) begin
      byte_right: assert (two || byte_data == byte_i);
      byte_said:  assert (byte_fixed == (!none_i && one_i) && byte_bad == two);
      byte_clear: assert (byte_i != '0 || byte_check == '0);
      reached:    cover (two && byte_bad && byte_i == 8'h5a);
    end
  end

endmodule
