// SPDX-License-Identifier: Apache-2.0
//
// Rotates a ring of bytes, or of other lanes: lane i of data_o is lane (i + by_i) mod Bytes of
// data_i. Combinational.
//
// One step per bit of by_i, each a fixed distance under an if: Verilator
// skips the steps that are not needed.
module weft_rotate #(
  parameter int unsigned Bytes = 16, // lanes: a power of two, 4 to 64
  parameter int unsigned Lane  = 8   // bits of a lane
) (
  input  logic [Lane*Bytes-1:0]    data_i,
  input  logic [$clog2(Bytes)-1:0] by_i,
  output logic [Lane*Bytes-1:0]    data_o
);

  localparam int unsigned Bits  = Lane*Bytes;
  localparam int unsigned Least = Bytes > 32 ? Bits/64 : Lane;   // bits of the least step, if there are six
  logic [5:0] by;   // in steps from half a ring down
  assign by = 6'(by_i) << (6 - $clog2(Bytes));

  // The coarse ones first: they move whole machine words.
  always_comb begin
    data_o = data_i;
    if (by_i != '0) begin
      if (by[5]) data_o = {data_o[Bits/2-1:0], data_o[Bits-1:Bits/2]};
      if (by[4]) data_o = {data_o[Bits/4-1:0], data_o[Bits-1:Bits/4]};
      if (Bytes > 4 && by[3]) data_o = {data_o[Bits/8-1:0], data_o[Bits-1:Bits/8]};
      if (Bytes > 8 && by[2]) data_o = {data_o[Bits/16-1:0], data_o[Bits-1:Bits/16]};
      if (Bytes > 16 && by[1]) data_o = {data_o[Bits/32-1:0], data_o[Bits-1:Bits/32]};
      if (Bytes > 32 && by[0]) data_o = {data_o[Least-1:0], data_o[Bits-1:Least]};
    end
  end

`ifdef WEFT_ASSERT
  // The first and the last lane say whether the ring turned, and in which direction.
  always_comb begin
    assert (Bytes >= 4 && Bytes <= 64 && (Bytes & (Bytes - 1)) == 0);
    if (by_i != '0) begin
      assert (data_o[Lane-1:0] == data_i[Lane*by_i +: Lane]);
      assert (data_o[Bits-1 -: Lane] == data_i[Lane*(32'(by_i) - 32'd1) +: Lane]);
    end
  end
`endif

endmodule
