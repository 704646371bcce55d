// SPDX-License-Identifier: Apache-2.0
//
// USB device at full speed on two pins and a pull-up: weft_usb behind the soft PHY. Wiring.
//
// D+ is pulled up from the end of the power reset on.
module weft_usb_fs (
  input  logic         clk_usb_i,     // 48 MHz
  input  logic         clk_i,
  input  logic         rst_ni,
  input  logic [127:0] serial_i,

  input  logic         dp_i,
  input  logic         dn_i,
  output logic         dp_o,
  output logic         dn_o,
  output logic         oe_o,
  output logic         pull_up_o,
  output logic         suspend_o,
  output logic         configured_o,

  output logic         in_valid_o,
  input  logic         in_ready_i,
  output logic [7:0]   in_data_o,
  input  logic         out_valid_i,
  output logic         out_ready_o,
  input  logic [7:0]   out_data_i,
  input  logic         out_last_i,
  output logic         link_reset_o,
  output logic         chip_reset_o,
  input  logic         link_error_i,
  input  logic         link_full_i,
  input  logic         core_sleep_i
);

  logic       rst_usb_n, rx_active, rx_valid, rx_error, tx_valid, tx_ready, tx_busy;
  logic [7:0] rx_data, tx_data;
  logic [1:0] line_state;
  assign pull_up_o = rst_usb_n;

  weft_usb_fs_phy u_phy (
    .clk_i       (clk_usb_i),
    .rst_ni      (rst_usb_n),
    .dp_i,
    .dn_i,
    .dp_o,
    .dn_o,
    .oe_o,
    .rx_active_o (rx_active),
    .rx_valid_o  (rx_valid),
    .rx_data_o   (rx_data),
    .rx_error_o  (rx_error),
    .tx_valid_i  (tx_valid),
    .tx_ready_o  (tx_ready),
    .tx_data_i   (tx_data),
    .tx_busy_o   (tx_busy),
    .line_state_o(line_state)
  );

  weft_usb u_usb (
    .clk_usb_i,
    .clk_i,
    .rst_ni,
    .serial_i,
    .rx_active_i (rx_active),
    .rx_valid_i  (rx_valid),
    .rx_data_i   (rx_data),
    .rx_error_i  (rx_error),
    .tx_valid_o  (tx_valid),
    .tx_ready_i  (tx_ready),
    .tx_data_o   (tx_data),
    .tx_busy_i   (tx_busy),
    .line_state_i(line_state),
    .high_speed_i(1'b0),
    .rst_usb_no  (rst_usb_n),
    .suspend_o,
    .configured_o,
    .in_valid_o,
    .in_ready_i,
    .in_data_o,
    .out_valid_i,
    .out_ready_o,
    .out_data_i,
    .out_last_i,
    .link_reset_o,
    .chip_reset_o,
    .link_error_i,
    .link_full_i,
    .core_sleep_i
  );

endmodule
