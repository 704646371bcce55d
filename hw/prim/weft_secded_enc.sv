// SPDX-License-Identifier: Apache-2.0
//
// Computes the check bits of a word, as weft_secded_dec takes them. Combinational. The check bits of 0 are 0.
module weft_secded_enc #(
  parameter int unsigned Bits  = 8,  // of data, 4 to 64
  parameter int unsigned Check = weft_secded_pkg::n_check(Bits) + 1
) (
  input  logic [Bits-1:0]  data_i,
  output logic [Check-1:0] check_o   // the highest bit is the parity of the data and the other check bits
);

  logic [Check-2:0] places;
  always_comb begin
    places = '0;
    for (int unsigned i = 0; i < Bits; i++) begin
      if (data_i[i]) places = places ^ (Check-1)'(weft_secded_pkg::place(i));
    end
  end
  assign check_o = {^data_i ^ ^places, places};

endmodule
