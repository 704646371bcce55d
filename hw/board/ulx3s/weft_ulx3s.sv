// SPDX-License-Identifier: Apache-2.0
//
// The chip on a ULX3S (LFE5U-85F): 25 MHz from the board's oscillator for
// everything, its 32 MiB SDRAM as card memory, its SPI flash for firmware, and
// an FX2LP board on header J1 as USB bridge. Pins: ulx3s.lpf.
//
// The only vendor primitive is USRMCLK, the way to the flash's clock pin.
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

  output logic        fx2_ifclk,
  inout  wire  [7:0]  fx2_fd,
  output logic [1:0]  fx2_fifoadr,
  output logic        fx2_sloe_n,
  output logic        fx2_slrd_n,
  output logic        fx2_slwr_n,
  output logic        fx2_pktend_n,
  input  logic        fx2_flag_empty_n,
  input  logic        fx2_flag_full_n,
  input  logic        fx2_link_reset,  // each rising edge: one request
  input  logic        fx2_chip_reset,
  output logic        fx2_link_error,
  output logic        fx2_link_full,
  output logic        fx2_core_sleep
);

  localparam int unsigned Bytes = weft_cfg_pkg::N;

  logic clk;
  assign clk       = clk_25mhz;
  assign fx2_ifclk = clk;

  // ---- power-on reset, inputs without a clock -----------------------------------

  logic [15:0] power_q = '0;   // 2.6 ms; configuration sets it to zero
  logic        rst_n;
  assign rst_n = power_q == '1;
  always_ff @(posedge clk) begin
    if (!rst_n) power_q <= power_q + 16'd1;
  end

  logic [2:0] link_q, chip_q;
  logic       link_reset, chip_reset;
  assign link_reset = link_q[1] && !link_q[2];
  assign chip_reset = chip_q[1] && !chip_q[2];
  always_ff @(posedge clk) begin
    if (!rst_n) begin
      link_q <= '0;
      chip_q <= '0;
    end else begin
      link_q <= {link_q[1:0], fx2_link_reset};
      chip_q <= {chip_q[1:0], fx2_chip_reset};
    end
  end

  // ---- USB bridge ----------------------------------------------------------------

  logic       in_valid, in_ready, out_valid, out_ready, out_last, fd_oe;
  logic [7:0] in_data, out_data, fd_o;
  assign fx2_fd = fd_oe ? fd_o : 'z;
  weft_fx2 u_fx2 (
    .clk_i        (clk),
    .rst_ni       (rst_n),
    .fd_i         (fx2_fd),
    .fd_o         (fd_o),
    .fd_oe_o      (fd_oe),
    .fifoadr_o    (fx2_fifoadr),
    .sloe_no      (fx2_sloe_n),
    .slrd_no      (fx2_slrd_n),
    .slwr_no      (fx2_slwr_n),
    .pktend_no    (fx2_pktend_n),
    .flag_empty_ni(fx2_flag_empty_n),
    .flag_full_ni (fx2_flag_full_n),
    .in_valid_o   (in_valid),
    .in_ready_i   (in_ready),
    .in_data_o    (in_data),
    .out_valid_i  (out_valid),
    .out_ready_o  (out_ready),
    .out_data_i   (out_data),
    .out_last_i   (out_last)
  );

  // ---- chip ------------------------------------------------------------------------

  weft_cfg_pkg::mem_addr_t araddr, awaddr;
  logic [7:0]              arlen, awlen;
  logic                    arvalid, arready, rvalid, rready, rlast;
  logic                    awvalid, awready, wvalid, wready, unused_wlast, bvalid, bready;
  logic [8*Bytes-1:0]      rdata, wdata;
  logic [Bytes-1:0]        wstrb;
  logic                    spi_sck, idle, unused_quiet;
  weft_chip #(
    .RomFile(RomFile)
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
    .link_error_o(fx2_link_error),
    .link_full_o (fx2_link_full),
    .core_sleep_o(fx2_core_sleep),
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
    .m_rresp_i   (2'b00),
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
    .m_bresp_i   (2'b00),
    .m_bvalid_i  (bvalid),
    .m_bready_o  (bready)
  );

  assign flash_wpn   = 1'b1;
  assign flash_holdn = 1'b1;
  USRMCLK u_flash_clock (
    .USRMCLKI (spi_sck),
    .USRMCLKTS(1'b0)
  );

  assign led = {rst_n, idle, fx2_core_sleep, fx2_link_error, fx2_link_full, !flash_csn, out_valid, in_valid};

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
    .araddr_i    (araddr[24:0]),
    .arlen_i     (arlen),
    .arvalid_i   (arvalid),
    .arready_o   (arready),
    .rdata_o     (rdata),
    .rlast_o     (rlast),
    .rvalid_o    (rvalid),
    .rready_i    (rready),
    .awaddr_i    (awaddr[24:0]),
    .awlen_i     (awlen),
    .awvalid_i   (awvalid),
    .awready_o   (awready),
    .wdata_i     (wdata),
    .wstrb_i     (wstrb),
    .wvalid_i    (wvalid),
    .wready_o    (wready),
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
  assign unused = &{1'b0, araddr[39:25], awaddr[39:25], unused_wlast, unused_quiet};

endmodule
