// SPDX-License-Identifier: Apache-2.0
//
// Full-speed soft PHY: two lines on one side, packets as bytes on the other.
//
// The interface to the packet layer is that of every PHY here: rx_active_i is high while a
// packet comes, with a byte in each cycle of rx_valid and trouble in any cycle of rx_error;
// tx_valid is high for the whole packet, whose bytes go with tx_ready; tx_busy until it is
// over on the lines. Never both ways at once.
module weft_usb_fs_phy (
  input  logic       clk_i,    // 48 MHz
  input  logic       rst_ni,

  input  logic       dp_i,
  input  logic       dn_i,
  output logic       dp_o,
  output logic       dn_o,
  output logic       oe_o,

  output logic       rx_active_o,
  output logic       rx_valid_o,
  output logic [7:0] rx_data_o,
  output logic       rx_error_o,
  input  logic       tx_valid_i,
  output logic       tx_ready_o,
  input  logic [7:0] tx_data_i,
  output logic       tx_busy_o,
  output logic [1:0] line_state_o
);

  weft_usb_fs_rx u_rx (
    .clk_i,
    .rst_ni,
    .dp_i,
    .dn_i,
    .hold_i      (tx_valid_i || tx_busy_o),
    .active_o    (rx_active_o),
    .valid_o     (rx_valid_o),
    .data_o      (rx_data_o),
    .error_o     (rx_error_o),
    .line_state_o
  );

  weft_usb_fs_tx u_tx (
    .clk_i,
    .rst_ni,
    .valid_i(tx_valid_i),
    .ready_o(tx_ready_o),
    .data_i (tx_data_i),
    .busy_o (tx_busy_o),
    .dp_o,
    .dn_o,
    .oe_o
  );

`ifdef WEFT_ASSERT
  always_ff @(posedge clk_i) begin
    if (rst_ni && tx_busy_o) assert (!rx_valid_o);        // never both ways at once
  end
`endif

endmodule
