// SPDX-License-Identifier: Apache-2.0
//
// Bench of the USB device at full speed, at its pins.
module weft_usb_bench (
  input  logic         clk_usb_i,
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

  weft_usb_fs u_dut (.*);

endmodule
