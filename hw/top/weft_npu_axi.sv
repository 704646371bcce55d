// SPDX-License-Identifier: Apache-2.0
//
// The NPU for another SoC: an AXI4 master to memory, an AXI4-Lite slave in front of the
// registers, a level-sensitive interrupt. docs/soc.md is the data sheet.
//
// There is one clock, and a synchronous reset of at least one cycle. Every valid is low in all
// cycles of the reset, the first one too. No output depends on an input of the same cycle except
// the reset. The master has one ID. Its bursts are INCR, have at most 16 beats as wide as the
// bus, and never cross 4 KiB. Write data is offered only after its address was taken. What is
// offered stays as it is until it is taken. The reset must not come while the memory owes an
// answer, unless the memory is reset too; ctrl.reset waits for the answers (docs/registers.md).
module weft_npu_axi #(
  parameter bit                Lazy   = 1'b0,     // see hw/array; 1 to simulate
  parameter bit                Ecc    = 1'b0,     // scratchpad and queues of commands have check bits
  parameter int unsigned       IdBits = 4,
  parameter logic [IdBits-1:0] Id     = '0,       // of every burst
  parameter logic [3:0]        Cache  = 4'b0010,  // normal memory, not cacheable, not bufferable
  parameter logic [2:0]        Prot   = 3'b010    // data, non-secure, unprivileged
) (
  input  logic clk_i,
  input  logic rst_ni,
  output logic irq_o,

  // registers: AXI4-Lite slave, 32 bits wide, a page of 4 KiB
  input  logic        s_awvalid_i,
  output logic        s_awready_o,
  input  logic [11:0] s_awaddr_i,
  input  logic        s_wvalid_i,
  output logic        s_wready_o,
  input  logic [31:0] s_wdata_i,
  input  logic [3:0]  s_wstrb_i,
  output logic        s_bvalid_o,
  input  logic        s_bready_i,
  output logic [1:0]  s_bresp_o,
  input  logic        s_arvalid_i,
  output logic        s_arready_o,
  input  logic [11:0] s_araddr_i,
  output logic        s_rvalid_o,
  input  logic        s_rready_i,
  output logic [31:0] s_rdata_o,
  output logic [1:0]  s_rresp_o,

  // memory: AXI4 master, AXI_BITS wide
  output logic                    m_awvalid_o,
  input  logic                    m_awready_i,
  output logic [IdBits-1:0]       m_awid_o,
  output weft_cfg_pkg::mem_addr_t m_awaddr_o,
  output logic [7:0]              m_awlen_o,
  output logic [2:0]              m_awsize_o,
  output logic [1:0]              m_awburst_o,
  output logic [3:0]              m_awcache_o,
  output logic [2:0]              m_awprot_o,
  output logic                    m_wvalid_o,
  input  logic                    m_wready_i,
  output weft_cfg_pkg::sp_word_t  m_wdata_o,
  output weft_cfg_pkg::row_mask_t m_wstrb_o,
  output logic                    m_wlast_o,
  input  logic                    m_bvalid_i,
  output logic                    m_bready_o,
  input  logic [IdBits-1:0]       m_bid_i,
  input  logic [1:0]              m_bresp_i,
  output logic                    m_arvalid_o,
  input  logic                    m_arready_i,
  output logic [IdBits-1:0]       m_arid_o,
  output weft_cfg_pkg::mem_addr_t m_araddr_o,
  output logic [7:0]              m_arlen_o,
  output logic [2:0]              m_arsize_o,
  output logic [1:0]              m_arburst_o,
  output logic [3:0]              m_arcache_o,
  output logic [2:0]              m_arprot_o,
  input  logic                    m_rvalid_i,
  output logic                    m_rready_o,
  input  logic [IdBits-1:0]       m_rid_i,
  input  weft_cfg_pkg::sp_word_t  m_rdata_i,
  input  logic [1:0]              m_rresp_i,
  input  logic                    m_rlast_i
);

  localparam logic [2:0] Size = 3'(weft_cfg_pkg::LOG2_AXI_BYTES);
  localparam logic [1:0] Incr = 2'b01;

  assign m_awid_o    = Id;
  assign m_awsize_o  = Size;
  assign m_awburst_o = Incr;
  assign m_awcache_o = Cache;
  assign m_awprot_o  = Prot;
  assign m_arid_o    = Id;
  assign m_arsize_o  = Size;
  assign m_arburst_o = Incr;
  assign m_arcache_o = Cache;
  assign m_arprot_o  = Prot;

  // ---- registers --------------------------------------------------------------

  logic        reg_req, reg_we;
  logic [11:0] reg_addr;
  logic [31:0] reg_wdata, reg_rdata;

  weft_axi_lite #(
    .AddrBits(12)
  ) u_lite (
    .clk_i,
    .rst_ni,
    .awvalid_i  (s_awvalid_i),
    .awready_o  (s_awready_o),
    .awaddr_i   (s_awaddr_i),
    .wvalid_i   (s_wvalid_i),
    .wready_o   (s_wready_o),
    .wdata_i    (s_wdata_i),
    .wstrb_i    (s_wstrb_i),
    .bvalid_o   (s_bvalid_o),
    .bready_i   (s_bready_i),
    .bresp_o    (s_bresp_o),
    .arvalid_i  (s_arvalid_i),
    .arready_o  (s_arready_o),
    .araddr_i   (s_araddr_i),
    .rvalid_o   (s_rvalid_o),
    .rready_i   (s_rready_i),
    .rdata_o    (s_rdata_o),
    .rresp_o    (s_rresp_o),
    .reg_req_o  (reg_req),
    .reg_we_o   (reg_we),
    .reg_addr_o (reg_addr),
    .reg_wdata_o(reg_wdata),
    .reg_rdata_i(reg_rdata)
  );

  // ---- NPU --------------------------------------------------------------------

  logic awvalid, wvalid, arvalid;
  assign m_awvalid_o = awvalid && rst_ni;
  assign m_wvalid_o  = wvalid && rst_ni;
  assign m_arvalid_o = arvalid && rst_ni;

  /* verilator lint_off PINCONNECTEMPTY */  // need_*_o: no clock rests; busy_o and retire_o: registers say the same
  weft_npu #(
    .Lazy(Lazy),
    .Ecc (Ecc)
  ) u_npu (
    .clk_i,
    .rst_ni,
    .clk_cp_i   (clk_i),
    .clk_ld_i   (clk_i),
    .clk_st_i   (clk_i),
    .clk_cv_i   (clk_i),
    .clk_ve_i   (clk_i),
    .clk_alu_i  (clk_i),
    .clk_post_i (clk_i),
    .need_cp_o  (),
    .need_ld_o  (),
    .need_st_o  (),
    .need_cv_o  (),
    .need_ve_o  (),
    .need_alu_o (),
    .need_post_o(),
    .reg_req_i  (reg_req),
    .reg_we_i   (reg_we),
    .reg_addr_i (reg_addr),
    .reg_wdata_i(reg_wdata),
    .reg_rdata_o(reg_rdata),
    .irq_o,
    .busy_o     (),
    .retire_o   (),
    .m_araddr_o,
    .m_arlen_o,
    .m_arvalid_o(arvalid),
    .m_arready_i,
    .m_rdata_i,
    .m_rresp_i,
    .m_rlast_i,
    .m_rvalid_i,
    .m_rready_o,
    .m_awaddr_o,
    .m_awlen_o,
    .m_awvalid_o(awvalid),
    .m_awready_i,
    .m_wdata_o,
    .m_wstrb_o,
    .m_wlast_o,
    .m_wvalid_o (wvalid),
    .m_wready_i,
    .m_bresp_i,
    .m_bvalid_i,
    .m_bready_o
  );
  /* verilator lint_on PINCONNECTEMPTY */

`ifdef WEFT_ASSERT
  // What was offered in the cycle before and not taken, and how many bursts are under way.
  logic                    ar_q, aw_q, w_q, low_q;
  weft_cfg_pkg::mem_addr_t araddr_q, awaddr_q;
  logic [7:0]              arlen_q, awlen_q;
  weft_cfg_pkg::sp_word_t  wdata_q;
  weft_cfg_pkg::row_mask_t wstrb_q;
  logic                    wlast_q;
  logic [7:0]              reads_q, writes_q, data_q;   // bursts that are not answered; writes whose last beat was not taken

  // Where in its page of 4 KiB a burst of len + 1 beats ends that begins at addr.
  function automatic logic [12:0] reach(input logic [11:0] addr, input logic [7:0] len);
    reach = {1'b0, addr} + ((13'(len) + 13'd1) << Size);
  endfunction

  always_ff @(posedge clk_i) begin
    low_q    <= !rst_ni;
    ar_q     <= m_arvalid_o && !m_arready_i;
    aw_q     <= m_awvalid_o && !m_awready_i;
    w_q      <= m_wvalid_o && !m_wready_i;
    araddr_q <= m_araddr_o;
    arlen_q  <= m_arlen_o;
    awaddr_q <= m_awaddr_o;
    awlen_q  <= m_awlen_o;
    wdata_q  <= m_wdata_o;
    wstrb_q  <= m_wstrb_o;
    wlast_q  <= m_wlast_o;
    if (!rst_ni) begin
      reads_q  <= '0;
      writes_q <= '0;
      data_q   <= '0;
    end else begin
      reads_q  <= reads_q + 8'(m_arvalid_o && m_arready_i) - 8'(m_rvalid_i && m_rready_o && m_rlast_i);
      writes_q <= writes_q + 8'(m_awvalid_o && m_awready_i) - 8'(m_bvalid_i && m_bready_o);
      data_q   <= data_q + 8'(m_awvalid_o && m_awready_i) - 8'(m_wvalid_o && m_wready_i && m_wlast_o);
    end
    if (!rst_ni) assert (!m_arvalid_o && !m_awvalid_o && !m_wvalid_o);
    if (rst_ni && !low_q) begin
      if (ar_q) assert (m_arvalid_o && m_araddr_o == araddr_q && m_arlen_o == arlen_q);
      if (aw_q) assert (m_awvalid_o && m_awaddr_o == awaddr_q && m_awlen_o == awlen_q);
      if (w_q) assert (m_wvalid_o && m_wdata_o == wdata_q && m_wstrb_o == wstrb_q && m_wlast_o == wlast_q);
      if (m_arvalid_o) begin
        assert (m_arlen_o < 8'd16 && reach(m_araddr_o[11:0], m_arlen_o) <= 13'd4096);
        assert (m_araddr_o[weft_cfg_pkg::LOG2_AXI_BYTES-1:0] == '0);
      end
      if (m_awvalid_o) begin
        assert (m_awlen_o < 8'd16 && reach(m_awaddr_o[11:0], m_awlen_o) <= 13'd4096);
        assert (m_awaddr_o[weft_cfg_pkg::LOG2_AXI_BYTES-1:0] == '0);
      end
      if (m_wvalid_o) assert (data_q != '0);
      // What the memory must keep: it answers only bursts that were asked for, with the master's ID.
      if (m_rvalid_i) assert (reads_q != '0 && m_rid_i == Id);
      if (m_bvalid_i) assert (writes_q != data_q && m_bid_i == Id);
    end
  end
`else
  logic unused_ids;
  assign unused_ids = ^{m_rid_i, m_bid_i};
`endif

endmodule
