// SPDX-License-Identifier: Apache-2.0
//
// Does a unit need the next edge of its clock? While busy_i is high, and for Behind
// cycles, 1 to 7, in which what trails behind settles.
module weft_rest #(
  parameter logic [2:0] Behind = 3'd7
) (
  input  logic clk_i,    // the unit's
  input  logic rst_ni,
  input  logic busy_i,
  output logic need_o
);

  logic [2:0] left_q;
  assign need_o = busy_i || left_q != '0;

  always_ff @(posedge clk_i) begin
    if (!rst_ni || busy_i) left_q <= Behind;
    else if (left_q != '0) left_q <= left_q - 3'd1;
  end

`ifdef WEFT_ASSERT
  // Below 1 nothing would settle behind busy_i.
  logic [2:0] quiet_q;     // cycles since busy_i was high, up to Behind
  always_ff @(posedge clk_i) begin
    if (!rst_ni || busy_i) quiet_q <= '0;
    else if (quiet_q != Behind) quiet_q <= quiet_q + 3'd1;
    assert (Behind != 3'd0);
    if (busy_i) assert (need_o);
    if (rst_ni && !busy_i) assert (need_o == (quiet_q != Behind));
  end
`endif

endmodule
