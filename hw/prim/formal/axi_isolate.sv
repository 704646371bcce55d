// SPDX-License-Identifier: Apache-2.0
//
// weft_axi_isolate with weft_axi_hold behind it, between a client that may be reset while
// it is isolated and a bus. reads_q and writes_q count what the bus owes; mine_* what
// it owes for bursts that the client began after the last isolation.
module axi_isolate #(
  parameter int unsigned Bytes = 2
) (
  input logic               clk_i,
  input logic               rst_ni,
  input logic               isolate_i,
  input logic               c_arvalid_i,
  input logic               c_rready_i,
  input logic               c_awvalid_i,
  input logic [7:0]         c_awlen_i,
  input logic               c_wvalid_i,
  input logic [8*Bytes-1:0] c_wdata_i,
  input logic [Bytes-1:0]   c_wstrb_i,
  input logic               c_bready_i,
  input logic               m_arready_i,
  input logic               m_rvalid_i,
  input logic               m_rlast_i,
  input logic               m_awready_i,
  input logic               m_wready_i,
  input logic               m_bvalid_i
);

  logic started_q;
  initial started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;

  logic busy, c_arready, c_rvalid, c_awready, c_wready, c_bvalid;
  logic m_arvalid, m_rready, m_awvalid, m_wvalid, m_wlast, m_bready;
  logic [Bytes-1:0]   strb, m_wstrb;
  logic [8*Bytes-1:0] m_wdata;

  weft_axi_isolate #(
    .Bytes(Bytes)
  ) u_dut (
    .clk_i, .rst_ni, .isolate_i, .busy_o(busy), .c_arvalid_i, .c_arready_o(c_arready), .c_rvalid_o(c_rvalid), .c_rready_i,
    .c_awvalid_i, .c_awready_o(c_awready), .c_awlen_i, .c_wvalid_i, .c_wready_o(c_wready), .c_wstrb_i,
    .c_bvalid_o(c_bvalid), .c_bready_i, .m_arvalid_o(m_arvalid), .m_arready_i, .m_rvalid_i, .m_rlast_i,
    .m_rready_o(m_rready), .m_awvalid_o(m_awvalid), .m_awready_i, .m_wvalid_o(m_wvalid), .m_wready_i, .m_wlast_o(m_wlast),
    .m_wstrb_o(strb), .m_bvalid_i, .m_bready_o(m_bready)
  );

  weft_axi_hold #(
    .Bytes(Bytes)
  ) u_hold (
    .clk_i, .rst_ni, .valid_i(m_wvalid), .ready_i(m_wready_i), .data_i(c_wdata_i), .strb_i(strb), .data_o(m_wdata),
    .strb_o(m_wstrb)
  );

  logic [6:0] reads_q, writes_q, data_q, mine_reads_q, mine_writes_q;   // data_q: bursts whose last beat is to come
  logic       ar, aw, w, r_end, b;
  assign ar    = m_arvalid && m_arready_i;
  assign aw    = m_awvalid && m_awready_i;
  assign w     = m_wvalid && m_wready_i;
  assign r_end = m_rvalid_i && m_rready && m_rlast_i;
  assign b     = m_bvalid_i && m_bready;

  logic [6:0]         dut_reads, dut_writes;   // the module's own registers
  logic [2:0]         lengths;
  logic               stale;
  logic               stood_q, client_q;
  logic [8*Bytes-1:0] old_data_q;
  logic [Bytes-1:0]   old_strb_q;
  logic               old_last_q;

  always_ff @(posedge clk_i) begin
    stood_q    <= started_q && rst_ni && m_wvalid && !m_wready_i;
    client_q   <= started_q && rst_ni && c_wvalid_i && !c_wready && !isolate_i;
    old_data_q <= m_wdata;
    old_strb_q <= m_wstrb;
    old_last_q <= m_wlast;
    if (!rst_ni) begin
      reads_q       <= '0;
      writes_q      <= '0;
      data_q        <= '0;
      mine_reads_q  <= '0;
      mine_writes_q <= '0;
    end else begin
      reads_q       <= reads_q + 7'(ar) - 7'(r_end);
      writes_q      <= writes_q + 7'(aw) - 7'(b);
      data_q        <= data_q + 7'(aw) - 7'(w && m_wlast);
      mine_reads_q  <= isolate_i ? '0 : mine_reads_q + 7'(ar) - 7'(r_end && c_rvalid);
      mine_writes_q <= isolate_i ? '0 : mine_writes_q + 7'(aw) - 7'(b && c_bvalid);
    end
  end

  always_comb begin
    if (!started_q) reset: assume (!rst_ni);
    if (started_q && rst_ni) begin
      reads_owed:   assume (!m_rvalid_i || reads_q != '0);
      writes_owed:  assume (!m_bvalid_i || writes_q > data_q);
      client_holds: assume (!client_q || c_wvalid_i || isolate_i);

      // What the registers of the module have to do with these.
      same_counts: assert (dut_reads == reads_q && dut_writes == writes_q && 7'(lengths) == data_q && data_q <= writes_q);
      mine_only:   assert (stale ? mine_reads_q == '0 && mine_writes_q == '0 : mine_reads_q == reads_q && mine_writes_q == writes_q);

      w_stays:    assert (!stood_q || (m_wvalid && m_wdata == old_data_q && m_wstrb == old_strb_q && m_wlast == old_last_q));
      w_behind:   assert (!m_wvalid || data_q != '0);
      busy_right: assert (busy == (reads_q != '0 || writes_q != '0));
      taken_same: assert ((c_arvalid_i && c_arready) == ar && (c_awvalid_i && c_awready) == aw);
      read_mine:  assert (!c_rvalid || mine_reads_q != '0);
      write_mine: assert (!c_bvalid || mine_writes_q != '0);
      alone:      assert (!isolate_i || (!c_arready && !c_awready && !c_wready && !c_rvalid && !c_bvalid && !ar && !aw));
      drains:     assert (!isolate_i || (m_rready && m_bready && (data_q == '0 || m_wvalid)));
      reached:    cover (isolate_i && stood_q && old_strb_q != '0 && m_wlast && data_q == 7'd2);
      again:      cover (!isolate_i && c_rvalid && b && mine_reads_q == 7'd1);
    end
  end

endmodule
