// SPDX-License-Identifier: Apache-2.0
//
// Shares the AXI read channels between command fetch (first) and load DMA.
//
// Addresses are taken into a FIFO of two, so that a client may withdraw an
// address that was not yet taken, and no client's ready depends on the bus in
// the same cycle. All reads have one ID: data comes back in
// order, and a FIFO of one bit per burst says whose it is. One address a cycle.
module weft_axi_read (
  input  logic clk_i,
  input  logic rst_ni,

  input  logic                     fetch_valid_i,
  output logic                     fetch_ready_o,
  input  weft_cfg_pkg::mem_burst_t fetch_ar_i,
  output logic                     fetch_next_o,  // the next beat is fetch's; comes from registers
  output logic                     fetch_rvalid_o,
  input  logic                     fetch_rready_i,

  input  logic                     load_valid_i,
  output logic                     load_ready_o,
  input  weft_cfg_pkg::mem_burst_t load_ar_i,
  output logic                     load_rvalid_o,
  input  logic                     load_rready_i,

  output logic                     m_arvalid_o,
  input  logic                     m_arready_i,
  output weft_cfg_pkg::mem_burst_t m_ar_o,
  input  logic                     m_rvalid_i,
  input  logic                     m_rlast_i,
  output logic                     m_rready_o
);

  localparam int unsigned Outstanding = 128;

  logic free, addr_ready, order_ready, order_valid, order_load;
  assign free          = addr_ready && order_ready;
  assign fetch_ready_o = free;
  assign load_ready_o  = free && !fetch_valid_i;

  logic accept;
  assign accept = free && (fetch_valid_i || load_valid_i);

  /* verilator lint_off PINCONNECTEMPTY */  // count_o
  weft_fifo #(
    .Width(48),
    .Depth(2)
  ) u_addr (
    .clk_i,
    .rst_ni,
    .clr_i   (1'b0),
    .wvalid_i(accept),
    .wready_o(addr_ready),
    .wdata_i (fetch_valid_i ? fetch_ar_i : load_ar_i),
    .rvalid_o(m_arvalid_o),
    .rready_i(m_arready_i),
    .rdata_o (m_ar_o),
    .count_o ()
  );

  weft_fifo #(
    .Width(1),
    .Depth(Outstanding)
  ) u_order (
    .clk_i,
    .rst_ni,
    .clr_i   (1'b0),
    .wvalid_i(accept),
    .wready_o(order_ready),
    .wdata_i (!fetch_valid_i),
    .rvalid_o(order_valid),
    .rready_i(m_rvalid_i && m_rready_o && m_rlast_i),
    .rdata_o (order_load),
    .count_o ()
  );
  /* verilator lint_on PINCONNECTEMPTY */

  assign fetch_next_o   = order_valid && !order_load;
  assign fetch_rvalid_o = m_rvalid_i && fetch_next_o;
  assign load_rvalid_o  = m_rvalid_i && order_valid && order_load;
  assign m_rready_o     = order_valid && (order_load ? load_rready_i : fetch_rready_i);

`ifdef WEFT_ASSERT
  logic                     held_q;
  weft_cfg_pkg::mem_burst_t held_ar_q;
  always_ff @(posedge clk_i) begin
    held_q    <= rst_ni && m_arvalid_o && !m_arready_i;
    held_ar_q <= m_ar_o;
    if (rst_ni && held_q) assert (m_arvalid_o && m_ar_o == held_ar_q);
    if (rst_ni && m_rvalid_i) assert (order_valid);
  end
`endif

endmodule
