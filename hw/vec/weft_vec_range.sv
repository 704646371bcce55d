// SPDX-License-Identifier: Apache-2.0
//
// Does an access of bytes_i bytes at addr_i touch a byte that the scratchpad
// does not have? Combinational. Addresses are modulo 2^20: in a configuration
// that has all of them, none is bad. bad_addr_o is the first such byte.
module weft_vec_range (
  input  weft_cfg_pkg::sp_addr_t addr_i,
  input  logic [8:0]             bytes_i,  // 1..8N
  output logic                   bad_o,
  output weft_cfg_pkg::sp_addr_t bad_addr_o
);

  localparam int unsigned AddrW = weft_cfg_pkg::SP_ADDR_BITS;

  localparam int unsigned SpBytes = weft_cfg_pkg::SP_BYTES;
  localparam logic        HasAll  = SpBytes == (1 << AddrW);

  logic [20:0] behind;  // first byte that is not used

  assign behind     = {1'b0, addr_i} + {12'd0, bytes_i};
  assign bad_o      = !HasAll && behind > 21'(SpBytes);
  assign bad_addr_o = {1'b0, addr_i} >= 21'(SpBytes) ? addr_i : AddrW'(SpBytes);

`ifdef WEFT_ASSERT
  always_comb begin
    if (bad_o && bytes_i != '0) assert (bad_addr_o >= addr_i && {1'b0, bad_addr_o} < behind && {1'b0, bad_addr_o} >= 21'(SpBytes));
  end
`endif

endmodule
