// SPDX-License-Identifier: Apache-2.0
//
// Keeps the write beat that is offered to the bus until the bus takes it, whatever
// happens behind it meanwhile.
//
// A master that is reset forgets its data, and its isolator (weft_axi_isolate) lets go of
// the strobes; AXI wants both unchanged from the cycle in which valid_i rises to the one in
// which ready_i is high, too. valid_i itself stays high that long: the isolator sees to it.
// Combinational in the cycle in which a beat is first offered; from the next cycle on the
// beat comes from registers.
module weft_axi_hold #(
  parameter int unsigned Bytes = 16
) (
  input  logic               clk_i,
  input  logic               rst_ni,

  input  logic               valid_i,
  input  logic               ready_i,
  input  logic [8*Bytes-1:0] data_i,
  input  logic [Bytes-1:0]   strb_i,
  output logic [8*Bytes-1:0] data_o,
  output logic [Bytes-1:0]   strb_o
);

  logic               held_q;   // the beat was offered in the cycle before
  logic [8*Bytes-1:0] data_q;
  logic [Bytes-1:0]   strb_q;
  assign data_o = held_q ? data_q : data_i;
  assign strb_o = held_q ? strb_q : strb_i;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) held_q <= 1'b0;
    else held_q <= valid_i && !ready_i;
  end

  always_ff @(posedge clk_i) begin
    if (valid_i && !held_q) begin
      data_q <= data_i;
      strb_q <= strb_i;
    end
  end

`ifdef WEFT_ASSERT
  logic               old_valid_q;
  logic [8*Bytes-1:0] old_data_q;
  logic [Bytes-1:0]   old_strb_q;
  always_ff @(posedge clk_i) begin
    old_valid_q <= rst_ni && valid_i && !ready_i;
    old_data_q  <= data_o;
    old_strb_q  <= strb_o;
    if (rst_ni && old_valid_q) begin
      assert (valid_i);
      assert (data_o == old_data_q && strb_o == old_strb_q);
    end
  end
`endif

endmodule
