// SPDX-License-Identifier: Apache-2.0
//
// Bench of blocks of the chip that tests drive by themselves, cycle by cycle: the host link, the
// NPU's registers and counters, resets, timers, and the flash controller of a chip that has only a
// window of its flash. Each block has ports of its own.
module weft_blocks_bench (
  input  logic         clk_i,
  input  logic         rst_ni,

  // weft_link, with its registers and its memory port
  input  logic         in_valid_i,
  output logic         in_ready_o,
  input  logic [7:0]   in_data_i,
  output logic         out_valid_o,
  input  logic         out_ready_i,
  output logic [7:0]   out_data_o,
  output logic         out_last_o,
  input  logic         link_req_i,
  input  logic         link_write_i,
  input  logic [11:0]  link_addr_i,
  input  logic [31:0]  link_wdata_i,
  output logic [31:0]  link_rdata_o,
  input  logic [31:0]  dram_bytes_i,
  output logic         arvalid_o,
  input  logic         arready_i,
  output logic [31:0]  araddr_o,
  output logic [7:0]   arlen_o,
  input  logic         rvalid_i,
  input  logic [127:0] rdata_i,
  output logic         awvalid_o,
  input  logic         awready_i,
  output logic [31:0]  awaddr_o,
  output logic [7:0]   awlen_o,
  output logic         wvalid_o,
  input  logic         wready_i,
  output logic [127:0] wdata_o,
  output logic [15:0]  wstrb_o,
  input  logic         bvalid_i,

  // weft_regs: the counters' events, and interrupts
  input  logic         reg_req_i,
  input  logic         reg_we_i,
  input  logic [11:0]  reg_addr_i,
  input  logic [31:0]  reg_wdata_i,
  output logic [31:0]  reg_rdata_o,
  output logic         irq_o,
  input  logic         done_pulse_i,
  input  logic         fault_pulse_i,
  input  logic         clear_i,
  input  logic         running_i,
  input  logic [3:0]   active_i,
  input  logic [3:0]   retire_i,
  input  logic [2:0]   stalls_i,      // act, wgt, post
  input  logic [3:0]   conflicts_i,
  input  logic [4:0]   rd_bytes_i,
  input  logic [4:0]   wr_bytes_i,

  // weft_reset, and weft_sys behind it
  input  logic         watchdog_i,
  input  logic         software_i,
  input  logic         host_i,
  input  logic         link_reset_i,
  output logic [2:0]   cause_o,
  output logic         rst_chip_no,
  output logic         rst_npu_no,
  output logic         rst_link_no,
  input  logic         sys_req_i,
  input  logic         sys_write_i,
  input  logic [11:0]  sys_addr_i,
  input  logic [31:0]  sys_wdata_i,
  output logic [31:0]  sys_rdata_o,
  output logic         irq_timer_o,

  // weft_flash, whose window is the second half of 4 MiB
  input  logic         flash_req_i,
  input  logic [11:0]  flash_addr_i,
  input  logic [31:0]  flash_wdata_i,
  output logic         flash_ready_o,
  output logic         spi_cs_no,
  output logic         spi_sck_o,
  output logic         spi_mosi_o
);

  /* verilator lint_off PINCONNECTEMPTY */
  weft_link u_link (
    .clk_i,
    .rst_power_ni(rst_ni),
    .rst_ni,
    .rst_link_ni(rst_ni),
    .in_valid_i,
    .in_ready_o,
    .in_data_i,
    .out_valid_o,
    .out_ready_i,
    .out_data_o,
    .out_last_o,
    .reg_req_i  (link_req_i),
    .reg_write_i(link_write_i),
    .reg_addr_i (link_addr_i),
    .reg_wdata_i(link_wdata_i),
    .reg_rdata_o(link_rdata_o),
    .dram_bytes_i,
    .rx_valid_o (),
    .tx_busy_o  (),
    .error_o    (),
    .busy_o     (),
    .m_arvalid_o(arvalid_o),
    .m_arready_i(arready_i),
    .m_araddr_o (araddr_o),
    .m_arlen_o  (arlen_o),
    .m_rvalid_i (rvalid_i),
    .m_rdata_i  (rdata_i),
    .m_rerror_i (1'b0),
    .m_awvalid_o(awvalid_o),
    .m_awready_i(awready_i),
    .m_awaddr_o (awaddr_o),
    .m_awlen_o  (awlen_o),
    .m_wvalid_o (wvalid_o),
    .m_wready_i (wready_i),
    .m_wdata_o  (wdata_o),
    .m_wstrb_o  (wstrb_o),
    .m_bvalid_i (bvalid_i),
    .m_berror_i (1'b0)
  );

  weft_cfg_pkg::events_t events;
  assign events.active     = active_i;
  assign events.retire     = retire_i;
  assign events.stall_act  = stalls_i[0];
  assign events.stall_wgt  = stalls_i[1];
  assign events.stall_post = stalls_i[2];
  assign events.conflicts  = conflicts_i;
  assign events.rd_bytes   = rd_bytes_i;
  assign events.wr_bytes   = wr_bytes_i;

  weft_regs u_regs (
    .clk_i,
    .rst_ni,
    .reg_req_i,
    .reg_we_i,
    .reg_addr_i,
    .reg_wdata_i,
    .reg_rdata_o,
    .irq_o,
    .start_o       (),
    .reset_o       (),
    .busy_i        (1'b0),
    .done_i        (1'b0),
    .fault_i       (1'b0),
    .done_pulse_i,
    .fault_pulse_i,
    .clear_i,
    .running_i,
    .first_fault_i ('0),
    .retired_i     ('0),
    .stream_off_o  (),
    .stream_words_o(),
    .win_o         (),
    .events_i      (events),
    .ecc_fixed_i   ('0)
  );

  weft_reset u_reset (
    .clk_i,
    .rst_ni,
    .watchdog_i,
    .software_i,
    .host_i,
    .npu_reset_i(1'b0),
    .link_reset_i,
    .cause_o,
    .rst_chip_no,
    .rst_npu_no,
    .rst_link_no
  );

  weft_sys u_sys (
    .clk_i,
    .rst_power_ni  (rst_ni),
    .rst_ni        (rst_chip_no),
    .reg_req_i     (sys_req_i),
    .reg_write_i   (sys_write_i),
    .reg_addr_i    (sys_addr_i),
    .reg_wdata_i   (sys_wdata_i),
    .reg_rdata_o   (sys_rdata_o),
    .dram_bytes_i,
    .clock_khz_i   (32'd0),
    .reset_cause_i (cause_o),
    .strap_i       (1'b0),
    .npu_reset_o   (),
    .want_reset_o  (),
    .bite_o        (),
    .link_rx_i     (1'b0),
    .link_tx_i     (1'b0),
    .npu_irq_i     (1'b0),
    .link_reset_i,
    .irq_timer_o,
    .irq_external_o()
  );

  weft_flash #(
    .Base  (32'h20_0000),
    .Window(32'h20_0000)
  ) u_flash (
    .clk_i,
    .rst_ni,
    .reg_req_i  (flash_req_i),
    .reg_write_i(1'b1),
    .reg_addr_i (flash_addr_i),
    .reg_wdata_i(flash_wdata_i),
    .reg_rdata_o(),
    .reg_ready_o(flash_ready_o),
    .spi_cs_no,
    .spi_sck_o,
    .spi_mosi_o,
    .spi_miso_i (1'b0)
  );
  /* verilator lint_on PINCONNECTEMPTY */

endmodule
