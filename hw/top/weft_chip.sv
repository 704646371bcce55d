// SPDX-License-Identifier: Apache-2.0
//
// The chip: NPU, control core, host link, flash controller, resets. Wiring, the
// core's address decoder, and a hook for tests.
//
// One clock. clk_npu_i is clk_i too; it may be stopped while npu_quiet_o is
// high, which is a few cycles after the NPU's last activity and until the core
// touches its registers (a simulator does). rst_ni is power. The host link is two byte streams with
// valid/ready and two sideband pulses (link_reset_i, chip_reset_i) of at least
// one cycle; out_last_o marks the last byte of a frame. One AXI4 master port,
// single ID, bursts of at most 16 beats that stay within 4 KiB; address 0 is the
// first byte of card memory. idle_o: the core waits for an interrupt, the NPU
// does nothing, and without a byte from outside nothing will change but time.
module weft_chip #(
  parameter              RomFile     = "",     // boot ROM, $readmemh
  parameter bit          Lazy        = 1'b0,   // of the NPU
  parameter int unsigned FlashBase   = 0,      // of the window that the chip has of the flash, a multiple of its size
  parameter int unsigned FlashWindow = weft_chip_pkg::FLASH_BYTES   // its bytes, a power of two
) (
  input  logic clk_i,
  input  logic clk_npu_i,
  input  logic rst_ni,

  input  logic [31:0] dram_bytes_i,
  input  logic [31:0] clock_khz_i,

  input  logic       in_valid_i,
  output logic       in_ready_o,
  input  logic [7:0] in_data_i,
  output logic       out_valid_o,
  input  logic       out_ready_i,
  output logic [7:0] out_data_o,
  output logic       out_last_o,
  input  logic       link_reset_i,
  input  logic       chip_reset_i,
  input  logic       strap_i,         // the board's button: no image is started while it is held
  output logic       link_error_o,
  output logic       link_full_o,     // firmware has not taken the last message
  output logic       core_sleep_o,
  output logic       idle_o,
  output logic       npu_quiet_o,

  output logic       spi_cs_no,
  output logic       spi_sck_o,
  output logic       spi_mosi_o,
  input  logic       spi_miso_i,

  output weft_cfg_pkg::mem_addr_t m_araddr_o,
  output logic [7:0]              m_arlen_o,
  output logic                    m_arvalid_o,
  input  logic                    m_arready_i,
  input  weft_cfg_pkg::sp_word_t  m_rdata_i,
  input  logic [1:0]              m_rresp_i,
  input  logic                    m_rlast_i,
  input  logic                    m_rvalid_i,
  output logic                    m_rready_o,

  output weft_cfg_pkg::mem_addr_t m_awaddr_o,
  output logic [7:0]              m_awlen_o,
  output logic                    m_awvalid_o,
  input  logic                    m_awready_i,
  output weft_cfg_pkg::sp_word_t  m_wdata_o,
  output weft_cfg_pkg::row_mask_t m_wstrb_o,
  output logic                    m_wlast_o,
  output logic                    m_wvalid_o,
  input  logic                    m_wready_i,
  input  logic [1:0]              m_bresp_i,
  input  logic                    m_bvalid_i,
  output logic                    m_bready_o
);

  localparam int unsigned Bytes = weft_cfg_pkg::N;
  localparam int unsigned MemW  = weft_cfg_pkg::DRAM_ADDR_BITS;

  // Clients of the memory port, first come first in the arbiter's order.
  localparam int unsigned Core = 0;
  localparam int unsigned Link = 1;
  localparam int unsigned Npu  = 2;

  // ---- resets ---------------------------------------------------------------------

  logic       rst_chip_n, rst_npu_n, rst_link_n, npu_reset, want_reset, bite;
  logic [2:0] cause;
  weft_reset u_reset (
    .clk_i,
    .rst_ni,
    .watchdog_i  (bite),
    .software_i  (want_reset),
    .host_i      (chip_reset_i),
    .npu_reset_i (npu_reset),
    .link_reset_i,
    .cause_o     (cause),
    .rst_chip_no (rst_chip_n),
    .rst_npu_no  (rst_npu_n),
    .rst_link_no (rst_link_n)
  );

  // ---- control core and its bus -------------------------------------------------------

  logic        bus_valid, bus_write, bus_ready, bus_error, irq_timer, irq_external;
  logic [31:0] bus_addr, bus_wdata, bus_rdata;
  logic [3:0]  bus_mask;
  weft_ctrl #(
    .RomBytes(weft_chip_pkg::ROM_SIZE),
    .RamBytes(weft_chip_pkg::RAM_SIZE),
    .RomFile (RomFile)
  ) u_ctrl (
    .clk_i,
    .rst_ni        (rst_chip_n),
    .bus_valid_o   (bus_valid),
    .bus_addr_o    (bus_addr),
    .bus_write_o   (bus_write),
    .bus_mask_o    (bus_mask),
    .bus_wdata_o   (bus_wdata),
    .bus_ready_i   (bus_ready),
    .bus_error_i   (bus_error),
    .bus_rdata_i   (bus_rdata),
    .irq_timer_i   (irq_timer),
    .irq_external_i(irq_external),
    .sleep_o       (core_sleep_o)
  );

  logic at_npu, at_chip, at_dram, words, reg_req, at_flash, at_link;
  assign words    = bus_mask == 4'b1111;
  assign at_npu   = bus_addr[31:28] == weft_chip_pkg::NPU_BASE[31:28] && bus_addr[27:0] < weft_chip_pkg::NPU_SIZE[27:0];
  assign at_chip  = bus_addr[31:28] == weft_chip_pkg::CHIP_BASE[31:28] && bus_addr[27:0] < weft_chip_pkg::CHIP_SIZE[27:0];
  assign at_dram  = bus_addr[31] && {1'b0, bus_addr[30:0]} < dram_bytes_i;
  assign reg_req  = bus_valid && at_chip && words;
  assign at_flash = bus_addr[11:8] == weft_chip_pkg::FLASH_CONTROL_ADDR[11:8];
  assign at_link  = bus_addr[11] || bus_addr[11:8] == weft_chip_pkg::LINK_STATUS_ADDR[11:8];

  logic        mem_ready, mem_error, flash_ready;
  logic [31:0] mem_rdata, npu_rdata, flash_rdata, link_rdata, sys_rdata;
  always_comb begin
    bus_ready = 1'b1;
    bus_error = 1'b0;
    bus_rdata = sys_rdata;
    if (at_dram) begin
      bus_ready = mem_ready;
      bus_error = mem_error;
      bus_rdata = mem_rdata;
    end else if (at_npu && words) bus_rdata = rst_npu_n ? npu_rdata : '0;
    else if (at_chip && words) begin
      if (at_flash) begin
        bus_ready = flash_ready;
        bus_rdata = flash_rdata;
      end
      if (at_link) bus_rdata = link_rdata;
    end else bus_error = 1'b1;
  end

  logic link_rx_valid, link_tx_busy, npu_irq;
  weft_sys u_sys (
    .clk_i,
    .rst_power_ni  (rst_ni),
    .rst_ni        (rst_chip_n),
    .reg_req_i     (reg_req),
    .reg_write_i   (bus_write),
    .reg_addr_i    (bus_addr[11:0]),
    .reg_wdata_i   (bus_wdata),
    .reg_rdata_o   (sys_rdata),
    .dram_bytes_i,
    .clock_khz_i,
    .reset_cause_i (cause),
    .strap_i,
    .npu_reset_o   (npu_reset),
    .want_reset_o  (want_reset),
    .bite_o        (bite),
    .link_rx_i     (link_rx_valid),
    .link_tx_i     (!link_tx_busy),
    .npu_irq_i     (npu_irq && rst_npu_n),
    .link_reset_i,
    .irq_timer_o   (irq_timer),
    .irq_external_o(irq_external)
  );

  weft_flash #(
    .Base  (FlashBase),
    .Window(FlashWindow)
  ) u_flash (
    .clk_i,
    .rst_ni     (rst_chip_n),
    .reg_req_i  (reg_req && at_flash),
    .reg_write_i(bus_write),
    .reg_addr_i (bus_addr[11:0]),
    .reg_wdata_i(bus_wdata),
    .reg_rdata_o(flash_rdata),
    .reg_ready_o(flash_ready),
    .spi_cs_no,
    .spi_sck_o,
    .spi_mosi_o,
    .spi_miso_i
  );

  // ---- masters -------------------------------------------------------------------------
  //
  // Three of each signal: what a client shows (c_), what its isolator passes (s_).

  logic [2:0]         c_arvalid, c_arready, c_rvalid, c_rready, c_awvalid, c_awready;
  logic [2:0]         c_wvalid, c_wready, c_bvalid, c_bready;
  logic [2:0]         s_arvalid, s_arready, s_rvalid, s_rready, s_awvalid, s_awready;
  logic [2:0]         s_wvalid, s_wready, s_wlast, s_bvalid, s_bready;
  logic [119:0]       araddr, awaddr;
  logic [23:0]        arlen, awlen;
  logic [8*Bytes-1:0] core_wdata, link_wdata, npu_wdata;
  logic [3*Bytes-1:0] c_wstrb, s_wstrb;
  logic [2:0]         isolate, busy;
  logic               r_error, b_error;
  assign r_error = m_rresp_i[1];
  assign b_error = m_bresp_i[1];

  logic [31:0] core_addr;
  weft_ctrl_mem #(
    .Bytes(Bytes)
  ) u_mem (
    .clk_i,
    .rst_ni     (rst_chip_n),
    .valid_i    (bus_valid && at_dram),
    .write_i    (bus_write),
    .addr_i     ({1'b0, bus_addr[30:0]}),
    .mask_i     (bus_mask),
    .wdata_i    (bus_wdata),
    .ready_o    (mem_ready),
    .error_o    (mem_error),
    .rdata_o    (mem_rdata),
    .m_arvalid_o(c_arvalid[Core]),
    .m_arready_i(c_arready[Core]),
    .m_addr_o   (core_addr),
    .m_rvalid_i (c_rvalid[Core]),
    .m_rdata_i,
    .m_rerror_i (r_error),
    .m_awvalid_o(c_awvalid[Core]),
    .m_awready_i(c_awready[Core]),
    .m_wvalid_o (c_wvalid[Core]),
    .m_wready_i (c_wready[Core]),
    .m_wdata_o  (core_wdata),
    .m_wstrb_o  (c_wstrb[Core*Bytes+:Bytes]),
    .m_bvalid_i (c_bvalid[Core]),
    .m_berror_i (b_error)
  );
  assign c_rready[Core] = 1'b1;
  assign c_bready[Core] = 1'b1;
  assign araddr[MemW*Core+:MemW] = {8'd0, core_addr};
  assign awaddr[MemW*Core+:MemW] = {8'd0, core_addr};
  assign arlen[8*Core+:8]    = '0;
  assign awlen[8*Core+:8]    = '0;
  assign isolate[Core]       = !rst_chip_n;

  logic        link_busy, in_ready, out_valid;
  logic [31:0] link_araddr, link_awaddr;
  weft_link #(
    .Bytes(Bytes)
  ) u_link (
    .clk_i,
    .rst_power_ni(rst_ni),
    .rst_ni      (rst_chip_n),
    .rst_link_ni (rst_link_n),
    .in_valid_i  (in_valid_i && rst_link_n),
    .in_ready_o  (in_ready),
    .in_data_i,
    .out_valid_o (out_valid),
    .out_ready_i,
    .out_data_o,
    .out_last_o,
    .reg_req_i   (reg_req && at_link),
    .reg_write_i (bus_write),
    .reg_addr_i  (bus_addr[11:0]),
    .reg_wdata_i (bus_wdata),
    .reg_rdata_o (link_rdata),
    .dram_bytes_i,
    .rx_valid_o  (link_rx_valid),
    .tx_busy_o   (link_tx_busy),
    .error_o     (link_error_o),
    .busy_o      (link_busy),
    .m_arvalid_o (c_arvalid[Link]),
    .m_arready_i (c_arready[Link]),
    .m_araddr_o  (link_araddr),
    .m_arlen_o   (arlen[8*Link+:8]),
    .m_rvalid_i  (c_rvalid[Link]),
    .m_rdata_i,
    .m_rerror_i  (r_error),
    .m_awvalid_o (c_awvalid[Link]),
    .m_awready_i (c_awready[Link]),
    .m_awaddr_o  (link_awaddr),
    .m_awlen_o   (awlen[8*Link+:8]),
    .m_wvalid_o  (c_wvalid[Link]),
    .m_wready_i  (c_wready[Link]),
    .m_wdata_o   (link_wdata),
    .m_wstrb_o   (c_wstrb[Link*Bytes+:Bytes]),
    .m_bvalid_i  (c_bvalid[Link]),
    .m_berror_i  (b_error)
  );

  assign in_ready_o  = in_ready && rst_link_n;
  assign out_valid_o = out_valid && rst_link_n;
  assign link_full_o = link_rx_valid;
  assign c_rready[Link] = 1'b1;
  assign c_bready[Link] = 1'b1;
  assign araddr[MemW*Link+:MemW] = {8'd0, link_araddr};
  assign awaddr[MemW*Link+:MemW] = {8'd0, link_awaddr};
  assign isolate[Link]       = !rst_link_n;

  logic       npu_busy, npu_arvalid, npu_stuck;
  logic [3:0] unused_retire;
  logic [6:0] unused_need;
  logic       unused_npu_wlast;
  weft_npu #(
    .Lazy(Lazy)
  ) u_npu (
    .clk_i       (clk_npu_i),
    .rst_ni      (rst_npu_n),
    .clk_cp_i    (clk_npu_i),
    .clk_ld_i    (clk_npu_i),
    .clk_st_i    (clk_npu_i),
    .clk_cv_i    (clk_npu_i),
    .clk_ve_i    (clk_npu_i),
    .clk_alu_i   (clk_npu_i),
    .clk_post_i  (clk_npu_i),
    .need_cp_o   (unused_need[6]),
    .need_ld_o   (unused_need[0]),
    .need_st_o   (unused_need[1]),
    .need_cv_o   (unused_need[2]),
    .need_ve_o   (unused_need[3]),
    .need_alu_o  (unused_need[4]),
    .need_post_o (unused_need[5]),
    .reg_req_i   (bus_valid && at_npu && words),
    .reg_we_i    (bus_write),
    .reg_addr_i  (bus_addr[11:0]),
    .reg_wdata_i (bus_wdata),
    .reg_rdata_o (npu_rdata),
    .irq_o       (npu_irq),
    .busy_o      (npu_busy),
    .retire_o    (unused_retire),
    .m_araddr_o  (araddr[MemW*Npu+:MemW]),
    .m_arlen_o   (arlen[8*Npu+:8]),
    .m_arvalid_o (npu_arvalid),
    .m_arready_i (c_arready[Npu] && !npu_stuck),
    .m_rdata_i,
    .m_rresp_i,
    .m_rlast_i,
    .m_rvalid_i  (c_rvalid[Npu]),
    .m_rready_o  (c_rready[Npu]),
    .m_awaddr_o  (awaddr[MemW*Npu+:MemW]),
    .m_awlen_o   (awlen[8*Npu+:8]),
    .m_awvalid_o (c_awvalid[Npu]),
    .m_awready_i (c_awready[Npu]),
    .m_wdata_o   (npu_wdata),
    .m_wstrb_o   (c_wstrb[Npu*Bytes+:Bytes]),
    .m_wlast_o   (unused_npu_wlast),
    .m_wvalid_o  (c_wvalid[Npu]),
    .m_wready_i  (c_wready[Npu]),
    .m_bresp_i,
    .m_bvalid_i  (c_bvalid[Npu]),
    .m_bready_o  (c_bready[Npu])
  );
  assign isolate[Npu] = !rst_npu_n;

  // Test hook: as long as npu_stuck is high, the NPU's reads are never accepted,
  // so its stream never ends. The NPU's next reset makes npu_stuck low.

  assign c_arvalid[Npu] = npu_arvalid && !npu_stuck;
`ifdef WEFT_FAULT_HOOK
  logic fault_hook_q /*verilator public_flat_rw*/;
  always_ff @(posedge clk_i) begin
    if (!rst_npu_n) fault_hook_q <= 1'b0;
  end
  assign npu_stuck = fault_hook_q;
`else
  assign npu_stuck = 1'b0;
`endif

  for (genvar i = 0; i < 3; i++) begin : g_isolate
    weft_axi_isolate #(
      .Bytes(Bytes)
    ) u_isolate (
      .clk_i,
      .rst_ni,
      .isolate_i  (isolate[i]),
      .busy_o     (busy[i]),
      .c_arvalid_i(c_arvalid[i]),
      .c_arready_o(c_arready[i]),
      .c_rvalid_o (c_rvalid[i]),
      .c_rready_i (c_rready[i]),
      .c_awvalid_i(c_awvalid[i]),
      .c_awready_o(c_awready[i]),
      .c_awlen_i  (awlen[8*i+:8]),
      .c_wvalid_i (c_wvalid[i]),
      .c_wready_o (c_wready[i]),
      .c_wstrb_i  (c_wstrb[Bytes*i+:Bytes]),
      .c_bvalid_o (c_bvalid[i]),
      .c_bready_i (c_bready[i]),
      .m_arvalid_o(s_arvalid[i]),
      .m_arready_i(s_arready[i]),
      .m_rvalid_i (s_rvalid[i]),
      .m_rlast_i,
      .m_rready_o (s_rready[i]),
      .m_awvalid_o(s_awvalid[i]),
      .m_awready_i(s_awready[i]),
      .m_wvalid_o (s_wvalid[i]),
      .m_wready_i (s_wready[i]),
      .m_wlast_o  (s_wlast[i]),
      .m_wstrb_o  (s_wstrb[Bytes*i+:Bytes]),
      .m_bvalid_i (s_bvalid[i]),
      .m_bready_o (s_bready[i])
    );
  end

  logic [1:0] wsel;
  weft_axi_arb u_arb (
    .clk_i,
    .rst_ni,
    .arvalid_i  (s_arvalid),
    .arready_o  (s_arready),
    .araddr_i   (araddr),
    .arlen_i    (arlen),
    .rvalid_o   (s_rvalid),
    .rready_i   (s_rready),
    .awvalid_i  (s_awvalid),
    .awready_o  (s_awready),
    .awaddr_i   (awaddr),
    .awlen_i    (awlen),
    .wsel_o     (wsel),
    .wvalid_i   (s_wvalid),
    .wready_o   (s_wready),
    .wlast_i    (s_wlast),
    .bvalid_o   (s_bvalid),
    .bready_i   (s_bready),
    .m_arvalid_o,
    .m_arready_i,
    .m_araddr_o,
    .m_arlen_o,
    .m_rvalid_i,
    .m_rlast_i,
    .m_rready_o,
    .m_awvalid_o,
    .m_awready_i,
    .m_awaddr_o,
    .m_awlen_o,
    .m_wvalid_o,
    .m_wready_i,
    .m_bvalid_i,
    .m_bready_o
  );
  weft_cfg_pkg::sp_word_t  wdata;
  weft_cfg_pkg::row_mask_t wstrb;
  always_comb begin
    wdata = npu_wdata;
    if (wsel == 2'(Link)) wdata = link_wdata;
    if (wsel == 2'(Core)) wdata = core_wdata;
    wstrb     = s_wstrb[Bytes*wsel+:Bytes];
    m_wlast_o = s_wlast[wsel];
  end

  weft_axi_hold #(
    .Bytes(Bytes)
  ) u_hold (
    .clk_i,
    .rst_ni,
    .valid_i(m_wvalid_o),
    .ready_i(m_wready_i),
    .data_i (wdata),
    .strb_i (wstrb),
    .data_o (m_wdata_o),
    .strb_o (m_wstrb_o)
  );

  // Long enough for everything in the NPU to come to rest behind busy.
  logic [5:0] quiet_q;
  logic       npu_active;
  assign npu_active  = npu_busy || npu_irq || busy[Npu] || !rst_npu_n || (bus_valid && at_npu);
  assign npu_quiet_o = quiet_q == '1 && !npu_active;
  always_ff @(posedge clk_i) begin
    if (!rst_chip_n) quiet_q <= '0;
    else if (npu_active) quiet_q <= '0;
    else if (quiet_q != '1) quiet_q <= quiet_q + 6'd1;
  end

  assign idle_o = core_sleep_o && !irq_timer && !irq_external && !npu_busy && !link_busy && busy == '0;

  logic unused;
  assign unused = &{1'b0, m_rresp_i[0], m_bresp_i[0], unused_retire, unused_need, unused_npu_wlast};

`ifdef WEFT_ASSERT
  localparam logic [12:0] Page = 13'd4096;
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      if (m_arvalid_o) assert (m_arlen_o < 8'd16 && {1'b0, m_araddr_o[11:0]} + (13'(m_arlen_o) + 13'd1) * 13'(Bytes) <= Page);
      if (m_awvalid_o) assert (m_awlen_o < 8'd16 && {1'b0, m_awaddr_o[11:0]} + (13'(m_awlen_o) + 13'd1) * 13'(Bytes) <= Page);
      if (npu_quiet_o) assert (!npu_arvalid && !c_awvalid[Npu] && !c_wvalid[Npu]);
      if (idle_o) assert (!m_arvalid_o && !m_awvalid_o && !m_wvalid_o);
    end
  end
`endif

endmodule
