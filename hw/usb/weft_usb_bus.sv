// SPDX-License-Identifier: Apache-2.0
//
// What the lines say at rest: reset and suspend (USB 2.0, 7.1.7.5 and 7.1.7.6).
//
// SE0 for ResetCycles is a reset, which lasts as long as SE0 does. J for SuspendCycles
// suspends, and anything else than J ends that. Our own packets count as activity.
module weft_usb_bus #(
  parameter int unsigned ResetCycles   = 144,      // 3 us at 48 MHz; between 2.5 us and 10 ms
  parameter int unsigned SuspendCycles = 144_000   // 3 ms
) (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic [1:0] line_state_i,   // D-, D+
  input  logic       tx_busy_i,
  output logic       reset_o,
  output logic       suspend_o
);

  localparam logic [1:0] Se0 = 2'b00;
  localparam logic [1:0] J   = 2'b01;

  logic [17:0] still_q;    // cycles in this state
  logic [1:0]  state_q;
  always_ff @(posedge clk_i) begin
    state_q <= line_state_i;
    if (!rst_ni) begin
      still_q   <= '0;
      reset_o   <= 1'b0;
      suspend_o <= 1'b0;
    end else begin
      if (line_state_i != state_q || tx_busy_i) still_q <= '0;
      else if (still_q != '1) still_q <= still_q + 18'd1;
      reset_o   <= state_q == Se0 && line_state_i == Se0 && (reset_o || still_q >= 18'(ResetCycles));
      suspend_o <= state_q == J && line_state_i == J && !tx_busy_i && (suspend_o || still_q >= 18'(SuspendCycles));
    end
  end

`ifdef WEFT_ASSERT
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      assert (!(reset_o && suspend_o));
      if (reset_o) assert (still_q >= 18'(ResetCycles) || state_q != Se0 || tx_busy_i || still_q == '0);
      if (suspend_o) assert (state_q == J || line_state_i != J || still_q == '0);
    end
  end
`endif

endmodule
