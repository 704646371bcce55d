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

endmodule
