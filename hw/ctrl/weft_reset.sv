// SPDX-License-Identifier: Apache-2.0
//
// Resets of the chip: why, and for how long.
//
// rst_ni is power. A request of the others holds rst_chip_no low for 15 cycles (power
// for 16) and is remembered in cause_o; a host's request wins over software's, and that
// over the watchdog's. All outputs come from registers, and everything resets
// with the clock.
module weft_reset (
  input  logic       clk_i,
  input  logic       rst_ni,

  input  logic       watchdog_i,
  input  logic       software_i,
  input  logic       host_i,
  input  logic       npu_reset_i,
  input  logic       link_reset_i,

  output logic [2:0] cause_o,
  output logic       rst_chip_no,
  output logic       rst_npu_no,
  output logic       rst_link_no
);

  logic [3:0] left_q;
  logic       out_q;   // of reset, as rst_chip_no
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      left_q      <= '1;
      cause_o     <= weft_chip_pkg::CAUSE_POWER;
      out_q       <= 1'b0;
      rst_chip_no <= 1'b0;
      rst_npu_no  <= 1'b0;
      rst_link_no <= 1'b0;
    end else begin
      out_q       <= left_q == '0;
      rst_chip_no <= left_q == '0;
      rst_npu_no  <= left_q == '0 && !npu_reset_i;
      rst_link_no <= left_q == '0 && !link_reset_i;
      if (left_q != '0) left_q <= left_q - 4'd1;
      if (host_i) begin
        cause_o <= weft_chip_pkg::CAUSE_HOST;
        left_q  <= '1;
      end else if (out_q && software_i) begin
        cause_o <= weft_chip_pkg::CAUSE_SOFTWARE;
        left_q  <= '1;
      end else if (out_q && watchdog_i) begin
        cause_o <= weft_chip_pkg::CAUSE_WATCHDOG;
        left_q  <= '1;
      end
    end
  end

`ifdef WEFT_ASSERT
  logic       host_q, software_q, watchdog_q;
  logic [4:0] low_q;        // cycles in which rst_chip_no has been low, up to 16
  always_ff @(posedge clk_i) begin
    if (!rst_ni || rst_chip_no) low_q <= '0;
    else if (low_q != 5'd16) low_q <= low_q + 5'd1;
    // One cycle behind what asked for it.
    host_q     <= rst_ni && host_i;
    software_q <= rst_ni && !host_i && rst_chip_no && software_i;
    watchdog_q <= rst_ni && !host_i && rst_chip_no && !software_i && watchdog_i;
    if (rst_ni) begin
      if (host_q) assert (cause_o == weft_chip_pkg::CAUSE_HOST);
      if (software_q) assert (cause_o == weft_chip_pkg::CAUSE_SOFTWARE);
      if (watchdog_q) assert (cause_o == weft_chip_pkg::CAUSE_WATCHDOG);
      if (rst_chip_no) assert (low_q == '0 || low_q >= 5'd15);
      assert (rst_chip_no || (!rst_npu_no && !rst_link_no));              // resets everything
    end
  end
`endif

endmodule
