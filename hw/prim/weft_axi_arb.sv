// SPDX-License-Identifier: Apache-2.0
//
// Three AXI masters on one, single ID. Client 0 goes first, then 1, then 2.
//
// Addresses are taken into FIFOs of two, so that a client may withdraw an
// address that was not taken; an address costs one cycle. Write data follows in
// the order of addresses, and whoever is first in it holds the channel. Read
// data and write answers come back in order.
module weft_axi_arb #(
  parameter int unsigned AddrBits = weft_cfg_pkg::DRAM_ADDR_BITS
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,

  input  logic [2:0]            arvalid_i,
  output logic [2:0]            arready_o,
  input  logic [3*AddrBits-1:0] araddr_i,
  input  logic [3*8-1:0]        arlen_i,
  output logic [2:0]            rvalid_o,
  input  logic [2:0]            rready_i,
  input  logic [2:0]            awvalid_i,
  output logic [2:0]            awready_o,
  input  logic [3*AddrBits-1:0] awaddr_i,
  input  logic [3*8-1:0]        awlen_i,
  output logic [1:0]            wsel_o,     // whose data, strobe and last go out
  input  logic [2:0]            wvalid_i,
  output logic [2:0]            wready_o,
  input  logic [2:0]            wlast_i,
  output logic [2:0]            bvalid_o,
  input  logic [2:0]            bready_i,

  output logic                  m_arvalid_o,
  input  logic                  m_arready_i,
  output logic [AddrBits-1:0]   m_araddr_o,
  output logic [7:0]            m_arlen_o,
  input  logic                  m_rvalid_i,
  input  logic                  m_rlast_i,
  output logic                  m_rready_o,
  output logic                  m_awvalid_o,
  input  logic                  m_awready_i,
  output logic [AddrBits-1:0]   m_awaddr_o,
  output logic [7:0]            m_awlen_o,
  output logic                  m_wvalid_o,
  input  logic                  m_wready_i,
  input  logic                  m_bvalid_i,
  output logic                  m_bready_o
);

  // Bursts whose data or answer is still to come; an isolator of each client
  // allows fewer.
  localparam int unsigned Outstanding = 256;

  /* verilator lint_off PINCONNECTEMPTY */  // count_o

  // ---- reads ----

  logic [1:0]          ar_sel, r_sel;
  logic                ar_any, ar_ready, ro_ready, ro_valid;
  logic [AddrBits-1:0] ar_addr;
  logic [7:0]          ar_len;
  always_comb begin
    ar_sel  = 2'd2;
    ar_addr = araddr_i[2*AddrBits+:AddrBits];
    ar_len  = arlen_i[23:16];
    if (arvalid_i[1]) begin
      ar_sel  = 2'd1;
      ar_addr = araddr_i[AddrBits+:AddrBits];
      ar_len  = arlen_i[15:8];
    end
    if (arvalid_i[0]) begin
      ar_sel  = 2'd0;
      ar_addr = araddr_i[0+:AddrBits];
      ar_len  = arlen_i[7:0];
    end
    ar_any    = arvalid_i != '0 && ar_ready && ro_ready;
    arready_o = '0;
    arready_o[ar_sel] = ar_any;
  end

  weft_fifo #(
    .Width(AddrBits + 8),
    .Depth(2)
  ) u_ar (
    .clk_i,
    .rst_ni,
    .clr_i   (1'b0),
    .wvalid_i(ar_any),
    .wready_o(ar_ready),
    .wdata_i ({ar_addr, ar_len}),
    .rvalid_o(m_arvalid_o),
    .rready_i(m_arready_i),
    .rdata_o ({m_araddr_o, m_arlen_o}),
    .count_o ()
  );
  weft_fifo #(
    .Width(2),
    .Depth(Outstanding)
  ) u_r_order (
    .clk_i,
    .rst_ni,
    .clr_i   (1'b0),
    .wvalid_i(ar_any),
    .wready_o(ro_ready),
    .wdata_i (ar_sel),
    .rvalid_o(ro_valid),
    .rready_i(m_rvalid_i && m_rready_o && m_rlast_i),
    .rdata_o (r_sel),
    .count_o ()
  );
  always_comb begin
    rvalid_o        = '0;
    rvalid_o[r_sel] = m_rvalid_i && ro_valid;
    m_rready_o      = ro_valid && rready_i[r_sel];
  end

  // ---- writes ----

  logic [1:0]          aw_sel, b_sel;
  logic                aw_any, aw_ready, wo_ready, wo_valid, bo_ready, bo_valid;
  logic [AddrBits-1:0] aw_addr;
  logic [7:0]          aw_len;
  always_comb begin
    aw_sel  = 2'd2;
    aw_addr = awaddr_i[2*AddrBits+:AddrBits];
    aw_len  = awlen_i[23:16];
    if (awvalid_i[1]) begin
      aw_sel  = 2'd1;
      aw_addr = awaddr_i[AddrBits+:AddrBits];
      aw_len  = awlen_i[15:8];
    end
    if (awvalid_i[0]) begin
      aw_sel  = 2'd0;
      aw_addr = awaddr_i[0+:AddrBits];
      aw_len  = awlen_i[7:0];
    end
    aw_any    = awvalid_i != '0 && aw_ready && wo_ready && bo_ready;
    awready_o = '0;
    awready_o[aw_sel] = aw_any;
  end

  weft_fifo #(
    .Width(AddrBits + 8),
    .Depth(2)
  ) u_aw (
    .clk_i,
    .rst_ni,
    .clr_i   (1'b0),
    .wvalid_i(aw_any),
    .wready_o(aw_ready),
    .wdata_i ({aw_addr, aw_len}),
    .rvalid_o(m_awvalid_o),
    .rready_i(m_awready_i),
    .rdata_o ({m_awaddr_o, m_awlen_o}),
    .count_o ()
  );
  weft_fifo #(
    .Width(2),
    .Depth(16)
  ) u_w_order (
    .clk_i,
    .rst_ni,
    .clr_i   (1'b0),
    .wvalid_i(aw_any),
    .wready_o(wo_ready),
    .wdata_i (aw_sel),
    .rvalid_o(wo_valid),
    .rready_i(m_wvalid_o && m_wready_i && wlast_i[wsel_o]),
    .rdata_o (wsel_o),
    .count_o ()
  );
  weft_fifo #(
    .Width(2),
    .Depth(Outstanding)
  ) u_b_order (
    .clk_i,
    .rst_ni,
    .clr_i   (1'b0),
    .wvalid_i(aw_any),
    .wready_o(bo_ready),
    .wdata_i (aw_sel),
    .rvalid_o(bo_valid),
    .rready_i(m_bvalid_i && m_bready_o),
    .rdata_o (b_sel),
    .count_o ()
  );
  /* verilator lint_on PINCONNECTEMPTY */

  always_comb begin
    m_wvalid_o       = wo_valid && wvalid_i[wsel_o];
    wready_o         = '0;
    wready_o[wsel_o] = wo_valid && m_wready_i;
    bvalid_o         = '0;
    bvalid_o[b_sel]  = m_bvalid_i && bo_valid;
    m_bready_o       = bo_valid && bready_i[b_sel];
  end

`ifdef WEFT_ASSERT
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      assert (!m_rvalid_i || ro_valid);
      assert (!m_bvalid_i || bo_valid);
    end
  end
`endif

endmodule
