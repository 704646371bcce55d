// SPDX-License-Identifier: Apache-2.0
//
// Corrects a word by its check bits (weft_secded_enc), both as a memory returns them. Combinational. If one bit of
// word and check bits is wrong, data_o is right and fixed_o is high. If two bits are wrong, bad_o is high.
module weft_secded_dec #(
  parameter int unsigned Bits  = 8,
  parameter int unsigned Check = weft_secded_pkg::n_check(Bits) + 1
) (
  input  logic [Bits-1:0]  data_i,
  input  logic [Check-1:0] check_i,
  output logic [Bits-1:0]  data_o,
  output logic             fixed_o,
  output logic             bad_o
);

  // where: the place of the wrong bit, if one bit is wrong; the parity has place 0.
  logic [Check-1:0] want;
  logic [Check-2:0] where;
  logic             odd, none;
  weft_secded_enc #(
    .Bits (Bits),
    .Check(Check)
  ) u_enc (
    .data_i,
    .check_o(want)
  );
  assign where   = want[Check-2:0] ^ check_i[Check-2:0];
  assign odd     = ^data_i ^ ^check_i;
  assign none    = 32'(where) > Bits + Check - 1;   // no bit has that place: more than two are wrong
  assign fixed_o = odd && !none;
  assign bad_o   = odd ? none : where != '0;
  always_comb begin
    for (int unsigned i = 0; i < Bits; i++) data_o[i] = data_i[i] ^ (odd && 32'(where) == weft_secded_pkg::place(i));
  end

  logic unused_parity;
  assign unused_parity = want[Check-1];

endmodule
