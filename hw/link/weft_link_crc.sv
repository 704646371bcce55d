// SPDX-License-Identifier: Apache-2.0
//
// CRC-32 of IEEE 802.3, one byte: crc_o follows crc_i. Starts with all ones,
// ends with an inversion, both left to the user. Combinational.
module weft_link_crc (
  input  logic [31:0] crc_i,
  input  logic [7:0]  byte_i,
  output logic [31:0] crc_o
);

  // 0x04c11db7 with its bits reversed: the first bit of a byte is bit 0.
  localparam logic [31:0] Poly = 32'hedb88320;

  always_comb begin
    crc_o = crc_i ^ {24'd0, byte_i};
    for (int unsigned i = 0; i < 8; i++) begin
      crc_o = {1'b0, crc_o[31:1]} ^ (crc_o[0] ? Poly : 32'd0);
    end
  end

`ifdef WEFT_ASSERT
  // A byte at once is the byte in a division by hand: the remainder without it, shifted, and
  // what the 8 bits that left it bring, each by itself (the CRC is linear).
  logic [31:0] by_bit, one;
  logic [7:0]  left;
  always_comb begin
    left   = crc_i[7:0] ^ byte_i;
    by_bit = crc_i >> 8;
    one    = '0;
    for (int unsigned b = 0; b < 8; b++) begin
      one = Poly;                       // bit 7 has been divided once, bit 0 eight times
      for (int unsigned i = 7; i > b; i--) one = (one >> 1) ^ (one[0] ? Poly : 32'd0);
      if (left[b]) by_bit = by_bit ^ one;
    end
    assert (crc_o == by_bit);
  end
`endif

endmodule
