// SPDX-License-Identifier: Apache-2.0
//
// One byte of the CRC-16 of data packets (USB 2.0, 8.3.5.2), bits as they go over the line:
// polynomial 0x8005 reflected, begins with ones, is sent inverted. Over a packet with its
// CRC it comes to 0xb001. Combinational.
module weft_usb_crc16 (
  input  logic [15:0] crc_i,
  input  logic [7:0]  byte_i,
  output logic [15:0] crc_o
);

  logic [15:0] crc;
  always_comb begin
    crc = crc_i ^ {8'd0, byte_i};
    for (int unsigned i = 0; i < 8; i++) crc = crc[0] ? {1'b0, crc[15:1]} ^ 16'ha001 : {1'b0, crc[15:1]};
    crc_o = crc;
  end

endmodule
