// SPDX-License-Identifier: Apache-2.0
//
// The chip on a ULX3S (LFE5U-85F): 25 MHz from the board's oscillator, its 32 MiB SDRAM as
// card memory, its SPI flash for the bitstream and for firmware. Pins: ulx3s.lpf.
//
// The host is at the board's connector US2, whose lines the FPGA drives itself (hw/usb).
//
// The vendor's primitives are in weft_prim_clock_usb (48 MHz) and weft_prim_flash_clock (the way to
// the flash's clock pin).
module weft_ulx3s #(
  parameter RomFile = "build/firmware/boot.hex"
) (
  input  logic        clk_25mhz,
  input  logic        btn_fire,       // held while the board starts: the boot ROM answers, no image is started
  output logic [7:0]  led,

  output logic        sdram_clk,
  output logic        sdram_cke,
  output logic        sdram_csn,
  output logic        sdram_rasn,
  output logic        sdram_casn,
  output logic        sdram_wen,
  output logic [1:0]  sdram_ba,
  output logic [12:0] sdram_a,
  output logic [1:0]  sdram_dqm,
  inout  wire  [15:0] sdram_d,

  output logic        flash_csn,
  output logic        flash_mosi,
  input  logic        flash_miso,
  output logic        flash_wpn,
  output logic        flash_holdn,

  inout  wire         usb_fpga_bd_dp,
  inout  wire         usb_fpga_bd_dn,
  output logic        usb_fpga_pu_dp
);

  localparam int unsigned Bytes = weft_cfg_pkg::N;

  // The bitstream begins at byte 0 of the flash and is shorter than 2 MiB. The layout of docs/chip.md lies behind it.
  localparam int unsigned FlashBase   = 32'h20_0000;
  localparam int unsigned FlashWindow = 32'h20_0000;

  logic clk;
  assign clk = clk_25mhz;

  // ---- clock of the USB device, power-on reset ------------------------------------------

  logic clk_usb, locked, locked_q;
  weft_prim_clock_usb u_clock_usb (
    .clk_25mhz_i(clk),
    .clk_48mhz_o(clk_usb),
    .locked_o   (locked)
  );
  weft_usb_cross_level #(
    .Width(1)
  ) u_locked (
    .clk_i(clk),
    .d_i  (locked),
    .q_o  (locked_q)
  );

  logic [15:0] power_q = '0;   // 2.6 ms; configuration sets it to zero
  logic        rst_n;
  assign rst_n = power_q == '1;
  always_ff @(posedge clk) begin
    if (!rst_n && locked_q) power_q <= power_q + 16'd1;
  end

  // ---- the host's two byte streams, and its requests ----------------------------------

  logic       in_valid, in_ready, out_valid, out_ready, out_last;
  logic [7:0] in_data, out_data;
  logic       link_reset, chip_reset, link_error, link_full, core_sleep;

  logic       dp, dn, oe, unused_suspend, unused_configured;
  assign usb_fpga_bd_dp = oe ? dp : 'z;
  assign usb_fpga_bd_dn = oe ? dn : 'z;
  weft_usb_fs u_usb (
    .clk_usb_i   (clk_usb),
    .clk_i       (clk),
    .rst_ni      (rst_n),
    .serial_i    ("S3XLU"),       // the first character is the lowest byte
    .dp_i        (usb_fpga_bd_dp),
    .dn_i        (usb_fpga_bd_dn),
    .dp_o        (dp),
    .dn_o        (dn),
    .oe_o        (oe),
    .pull_up_o   (usb_fpga_pu_dp),
    .suspend_o   (unused_suspend),
    .configured_o(unused_configured),
    .in_valid_o  (in_valid),
    .in_ready_i  (in_ready),
    .in_data_o   (in_data),
    .out_valid_i (out_valid),
    .out_ready_o (out_ready),
    .out_data_i  (out_data),
    .out_last_i  (out_last),
    .link_reset_o(link_reset),
    .chip_reset_o(chip_reset),
    .link_error_i(link_error),
    .link_full_i (link_full),
    .core_sleep_i(core_sleep)
  );

  // ---- chip ------------------------------------------------------------------------

  weft_cfg_pkg::mem_addr_t araddr, awaddr;
  logic [7:0]              arlen, awlen;
  logic                    arvalid, arready, rvalid, rready, rlast;
  logic                    awvalid, awready, wvalid, wready, unused_wlast, bvalid, bready;
  logic [8*Bytes-1:0]      rdata, wdata;
  logic [Bytes-1:0]        wstrb;
  logic [1:0]              rresp, bresp;
  logic                    spi_sck, idle, unused_quiet;
  weft_chip #(
    .RomFile    (RomFile),
    .FlashBase  (FlashBase),
    .FlashWindow(FlashWindow)
  ) u_chip (
    .clk_i       (clk),
    .clk_npu_i   (clk),
    .rst_ni      (rst_n),
    .dram_bytes_i(32'h0200_0000),
    .clock_khz_i (32'd25000),
    .in_valid_i  (in_valid),
    .in_ready_o  (in_ready),
    .in_data_i   (in_data),
    .out_valid_o (out_valid),
    .out_ready_i (out_ready),
    .out_data_o  (out_data),
    .out_last_o  (out_last),
    .link_reset_i(link_reset),
    .chip_reset_i(chip_reset),
    .strap_i     (btn_fire),
    .link_error_o(link_error),
    .link_full_o (link_full),
    .core_sleep_o(core_sleep),
    .idle_o      (idle),
    .npu_quiet_o (unused_quiet),
    .spi_cs_no   (flash_csn),
    .spi_sck_o   (spi_sck),
    .spi_mosi_o  (flash_mosi),
    .spi_miso_i  (flash_miso),
    .m_araddr_o  (araddr),
    .m_arlen_o   (arlen),
    .m_arvalid_o (arvalid),
    .m_arready_i (arready),
    .m_rdata_i   (rdata),
    .m_rresp_i   (rresp),
    .m_rlast_i   (rlast),
    .m_rvalid_i  (rvalid),
    .m_rready_o  (rready),
    .m_awaddr_o  (awaddr),
    .m_awlen_o   (awlen),
    .m_awvalid_o (awvalid),
    .m_awready_i (awready),
    .m_wdata_o   (wdata),
    .m_wstrb_o   (wstrb),
    .m_wlast_o   (unused_wlast),
    .m_wvalid_o  (wvalid),
    .m_wready_i  (wready),
    .m_bresp_i   (bresp),
    .m_bvalid_i  (bvalid),
    .m_bready_o  (bready)
  );

  assign flash_wpn   = 1'b1;
  assign flash_holdn = 1'b1;
  weft_prim_flash_clock u_clock_flash (
    .clk_i(spi_sck)
  );

  assign led = {rst_n, idle, core_sleep, link_error, link_full, !flash_csn, out_valid, in_valid};

  // ---- card memory -------------------------------------------------------------------

  logic [3:0]  cmd_n;
  logic [15:0] d_o;
  logic        d_oe;
  assign {sdram_csn, sdram_rasn, sdram_casn, sdram_wen} = cmd_n;
  assign sdram_d = d_oe ? d_o : 'z;
  weft_sdram #(
    .Bytes(Bytes)
  ) u_sdram (
    .clk_i       (clk),
    .rst_ni      (rst_n),
    .araddr_i    (araddr),
    .arlen_i     (arlen),
    .arvalid_i   (arvalid),
    .arready_o   (arready),
    .rdata_o     (rdata),
    .rresp_o     (rresp),
    .rlast_o     (rlast),
    .rvalid_o    (rvalid),
    .rready_i    (rready),
    .awaddr_i    (awaddr),
    .awlen_i     (awlen),
    .awvalid_i   (awvalid),
    .awready_o   (awready),
    .wdata_i     (wdata),
    .wstrb_i     (wstrb),
    .wvalid_i    (wvalid),
    .wready_o    (wready),
    .bresp_o     (bresp),
    .bvalid_o    (bvalid),
    .bready_i    (bready),
    .sdram_clk_o (sdram_clk),
    .sdram_cke_o (sdram_cke),
    .sdram_cmd_no(cmd_n),
    .sdram_ba_o  (sdram_ba),
    .sdram_a_o   (sdram_a),
    .sdram_dqm_o (sdram_dqm),
    .sdram_d_o   (d_o),
    .sdram_oe_o  (d_oe),
    .sdram_d_i   (sdram_d)
  );

  logic unused;
  assign unused = &{1'b0, unused_wlast, unused_quiet, unused_suspend, unused_configured};

endmodule
