// SPDX-License-Identifier: Apache-2.0
//
// Lets an AXI master be reset at any time without the bus noticing.
//
// While isolate_i is high, and afterwards until everything that was under way
// has ended, the client sees nothing accepted and nothing answered; read data
// and write answers that it was owed are thrown away, and the beats that it
// owes are sent with all strobes low. A beat that is offered just then loses
// its strobes and perhaps its data: weft_axi_hold, in front of the bus, keeps
// what was offered. Address channels pass through in the same cycle, so the bus
// side must be able to forget an address that it has not taken (weft_axi_arb).
// Write data waits for its address. Data, response and last of R and the data
// of W are wired around this module.
module weft_axi_isolate #(
  parameter int unsigned Bytes = 16
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             isolate_i,
  output logic             busy_o,     // something is under way

  input  logic             c_arvalid_i,
  output logic             c_arready_o,
  output logic             c_rvalid_o,
  input  logic             c_rready_i,
  input  logic             c_awvalid_i,
  output logic             c_awready_o,
  input  logic [7:0]       c_awlen_i,
  input  logic             c_wvalid_i,
  output logic             c_wready_o,
  input  logic [Bytes-1:0] c_wstrb_i,
  output logic             c_bvalid_o,
  input  logic             c_bready_i,

  output logic             m_arvalid_o,
  input  logic             m_arready_i,
  input  logic             m_rvalid_i,
  input  logic             m_rlast_i,
  output logic             m_rready_o,
  output logic             m_awvalid_o,
  input  logic             m_awready_i,
  output logic             m_wvalid_o,
  input  logic             m_wready_i,
  output logic             m_wlast_o,
  output logic [Bytes-1:0] m_wstrb_o,
  input  logic             m_bvalid_i,
  output logic             m_bready_o
);

  // Bursts under way each way; more than any memory queues.
  localparam int unsigned CountBits = 7;
  logic [CountBits-1:0] reads_q, writes_q;
  logic                 stale_q, block, read_free, write_free;
  assign busy_o     = reads_q != '0 || writes_q != '0;
  assign block      = isolate_i || stale_q;
  assign read_free  = !block && reads_q != '1;
  assign write_free = !block && writes_q != '1;

  assign m_arvalid_o = c_arvalid_i && read_free;
  assign c_arready_o = m_arready_i && read_free;
  assign c_rvalid_o  = m_rvalid_i && !block;
  assign m_rready_o  = c_rready_i || block;

  // Lengths of bursts whose data is not all sent.
  logic       len_ready, len_valid;
  logic [7:0] len, beat_q;
  assign m_awvalid_o = c_awvalid_i && write_free && len_ready;
  assign c_awready_o = m_awready_i && write_free && len_ready;
  /* verilator lint_off PINCONNECTEMPTY */  // count_o
  weft_fifo #(
    .Width(8),
    .Depth(4)
  ) u_len (
    .clk_i,
    .rst_ni,
    .clr_i   (1'b0),
    .wvalid_i(c_awvalid_i && c_awready_o),
    .wready_o(len_ready),
    .wdata_i (c_awlen_i),
    .rvalid_o(len_valid),
    .rready_i(m_wvalid_o && m_wready_i && m_wlast_o),
    .rdata_o (len),
    .count_o ()
  );
  /* verilator lint_on PINCONNECTEMPTY */

  assign m_wvalid_o = len_valid && (c_wvalid_i || block);
  assign c_wready_o = len_valid && m_wready_i && !block;
  assign m_wlast_o  = beat_q == len;
  assign m_wstrb_o  = block ? '0 : c_wstrb_i;
  assign c_bvalid_o = m_bvalid_i && !block;
  assign m_bready_o = c_bready_i || block;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      reads_q  <= '0;
      writes_q <= '0;
      beat_q   <= '0;
      stale_q  <= 1'b0;
    end else begin
      reads_q  <= reads_q + CountBits'(c_arvalid_i && c_arready_o)
                  - CountBits'(m_rvalid_i && m_rready_o && m_rlast_i);
      writes_q <= writes_q + CountBits'(c_awvalid_i && c_awready_o)
                  - CountBits'(m_bvalid_i && m_bready_o);
      if (m_wvalid_o && m_wready_i) beat_q <= m_wlast_o ? '0 : beat_q + 8'd1;
      if (isolate_i) stale_q <= 1'b1;
      else if (!busy_o) stale_q <= 1'b0;
    end
  end

`ifdef WEFT_ASSERT
  logic       old_wvalid_q, old_wlast_q, old_isolate_q;
  always_ff @(posedge clk_i) begin
    old_wvalid_q  <= rst_ni && m_wvalid_o && !m_wready_i;
    old_wlast_q   <= m_wlast_o;
    old_isolate_q <= isolate_i;
    if (rst_ni) begin
      assert (!m_rvalid_i || reads_q != '0);     // nothing is answered that nobody asked for
      assert (!m_bvalid_i || writes_q != '0);
      assert (!(block && (c_arready_o || c_awready_o || c_wready_o || c_rvalid_o || c_bvalid_o)));
      assert (!m_wvalid_o || writes_q != '0);    // its address has been taken
      if (m_wvalid_o && block) assert (m_wstrb_o == '0);
      if (old_wvalid_q) assert (m_wvalid_o && m_wlast_o == old_wlast_q);
      if (old_isolate_q && !isolate_i && busy_o) assert (block);
    end
  end
`endif

endmodule
