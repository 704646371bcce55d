// SPDX-License-Identifier: Apache-2.0
//
// weft_axi_arb between three clients that may withdraw an address and a bus. A read and a
// write burst are picked at will when they are accepted; what holds of these holds of all.
module axi_arb #(
  parameter int unsigned AddrBits = 2
) (
  input logic                  clk_i,
  input logic                  rst_ni,
  input logic                  pick_r_i,
  input logic                  pick_w_i,
  input logic [2:0]            arvalid_i,
  input logic [3*AddrBits-1:0] araddr_i,
  input logic [2:0]            rready_i,
  input logic [2:0]            awvalid_i,
  input logic [3*AddrBits-1:0] awaddr_i,
  input logic [2:0]            wvalid_i,
  input logic [2:0]            wlast_i,
  input logic [2:0]            bready_i,
  input logic                  m_arready_i,
  input logic                  m_rvalid_i,
  input logic                  m_rlast_i,
  input logic                  m_awready_i,
  input logic                  m_wready_i,
  input logic                  m_bvalid_i
);

  logic started_q;
  initial started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;

  logic [2:0]          arready, rvalid, awready, wready, bvalid;
  logic [1:0]          wsel;
  logic                m_arvalid, m_rready, m_awvalid, m_wvalid, m_bready;
  logic [AddrBits-1:0] m_araddr, m_awaddr;
  logic [7:0]          m_arlen, m_awlen;

  weft_axi_arb #(
    .AddrBits(AddrBits)
  ) u_dut (
    .clk_i, .rst_ni, .arvalid_i, .arready_o(arready), .araddr_i, .arlen_i('0), .rvalid_o(rvalid), .rready_i, .awvalid_i,
    .awready_o(awready), .awaddr_i, .awlen_i('0), .wsel_o(wsel), .wvalid_i, .wready_o(wready), .wlast_i, .bvalid_o(bvalid),
    .bready_i, .m_arvalid_o(m_arvalid), .m_arready_i, .m_araddr_o(m_araddr), .m_arlen_o(m_arlen), .m_rvalid_i, .m_rlast_i,
    .m_rready_o(m_rready), .m_awvalid_o(m_awvalid), .m_awready_i, .m_awaddr_o(m_awaddr), .m_awlen_o(m_awlen),
    .m_wvalid_o(m_wvalid), .m_wready_i, .m_bvalid_i, .m_bready_o(m_bready)
  );

  logic [2:0] ar, aw;   // taken from each client
  logic       m_ar, m_aw, w_end, r_end, b;
  assign ar    = arvalid_i & arready;
  assign aw    = awvalid_i & awready;
  assign m_ar  = m_arvalid && m_arready_i;
  assign m_aw  = m_awvalid && m_awready_i;
  assign w_end = m_wvalid && m_wready_i && wlast_i[wsel];
  assign r_end = m_rvalid_i && m_rready && m_rlast_i;
  assign b     = m_bvalid_i && m_bready;

  // Bursts accepted whose address, data or answer is to come, and of these those in front
  // of the picked one; its client and address.
  logic [3:0]          ar_n_q, r_n_q, aw_n_q, w_n_q, b_n_q;
  logic [3:0]          ar_ahead_q, r_ahead_q, aw_ahead_q, w_ahead_q, b_ahead_q;
  logic                at_ar_q, at_r_q, at_aw_q, at_w_q, at_b_q;
  logic [2:0]          r_client_q, w_client_q;
  logic [AddrBits-1:0] r_addr_q, w_addr_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      {ar_n_q, r_n_q, aw_n_q, w_n_q, b_n_q}      <= '0;
      {at_ar_q, at_r_q, at_aw_q, at_w_q, at_b_q} <= '0;
    end else begin
      ar_n_q <= ar_n_q + 4'(ar != '0) - 4'(m_ar);
      r_n_q  <= r_n_q + 4'(ar != '0) - 4'(r_end);
      aw_n_q <= aw_n_q + 4'(aw != '0) - 4'(m_aw);
      w_n_q  <= w_n_q + 4'(aw != '0) - 4'(w_end);
      b_n_q  <= b_n_q + 4'(aw != '0) - 4'(b);
      if (ar != '0 && pick_r_i && !at_ar_q && !at_r_q) begin
        at_ar_q    <= 1'b1;
        at_r_q     <= 1'b1;
        r_client_q <= ar;
        r_addr_q   <= ar[0] ? araddr_i[0 +: AddrBits] : ar[1] ? araddr_i[AddrBits +: AddrBits] : araddr_i[2*AddrBits +: AddrBits];
        ar_ahead_q <= ar_n_q - 4'(m_ar);
        r_ahead_q  <= r_n_q - 4'(r_end);
      end else begin
        if (m_ar) at_ar_q <= at_ar_q && ar_ahead_q != '0;
        if (m_ar) ar_ahead_q <= ar_ahead_q - 4'd1;
        if (r_end) at_r_q <= at_r_q && r_ahead_q != '0;
        if (r_end) r_ahead_q <= r_ahead_q - 4'd1;
      end
      if (aw != '0 && pick_w_i && !at_aw_q && !at_w_q && !at_b_q) begin
        {at_aw_q, at_w_q, at_b_q} <= '1;
        w_client_q <= aw;
        w_addr_q   <= aw[0] ? awaddr_i[0 +: AddrBits] : aw[1] ? awaddr_i[AddrBits +: AddrBits] : awaddr_i[2*AddrBits +: AddrBits];
        aw_ahead_q <= aw_n_q - 4'(m_aw);
        w_ahead_q  <= w_n_q - 4'(w_end);
        b_ahead_q  <= b_n_q - 4'(b);
      end else begin
        if (m_aw) at_aw_q <= at_aw_q && aw_ahead_q != '0;
        if (m_aw) aw_ahead_q <= aw_ahead_q - 4'd1;
        if (w_end) at_w_q <= at_w_q && w_ahead_q != '0;
        if (w_end) w_ahead_q <= w_ahead_q - 4'd1;
        if (b) at_b_q <= at_b_q && b_ahead_q != '0;
        if (b) b_ahead_q <= b_ahead_q - 4'd1;
      end
    end
  end

  // What stood in the cycle before and was not taken.
  logic                ar_stood_q, aw_stood_q, w_stood_q;
  logic [AddrBits-1:0] ar_addr_q, aw_addr_q;
  logic [1:0]          wsel_q;
  logic [2:0]          w_waits_q;
  always_ff @(posedge clk_i) begin
    ar_stood_q <= started_q && rst_ni && m_arvalid && !m_arready_i;
    aw_stood_q <= started_q && rst_ni && m_awvalid && !m_awready_i;
    w_stood_q  <= started_q && rst_ni && m_wvalid && !m_wready_i;
    w_waits_q  <= started_q && rst_ni ? wvalid_i & ~wready : '0;
    ar_addr_q  <= m_araddr;
    aw_addr_q  <= m_awaddr;
    wsel_q     <= wsel;
  end

  always_comb begin
    if (!started_q) reset: assume (!rst_ni);
    if (started_q && rst_ni) begin
      reads_owed:   assume (!m_rvalid_i || r_n_q != '0);
      writes_owed:  assume (!m_bvalid_i || b_n_q != '0);
      client_holds: assume ((w_waits_q & ~wvalid_i) == '0);

      one_client: assert ((ar & (ar - 3'd1)) == '0 && (aw & (aw - 3'd1)) == '0);
      first_goes: assert ((ar == '0 || (arvalid_i & (ar - 3'd1)) == '0) && (aw == '0 || (awvalid_i & (aw - 3'd1)) == '0));
      ar_stays:   assert (!ar_stood_q || (m_arvalid && m_araddr == ar_addr_q));
      aw_stays:   assert (!aw_stood_q || (m_awvalid && m_awaddr == aw_addr_q));
      w_stays:    assert (!w_stood_q || (m_wvalid && wsel == wsel_q));
      r_one:      assert ((rvalid & (rvalid - 3'd1)) == '0 && (rvalid != '0) == m_rvalid_i);
      b_one:      assert ((bvalid & (bvalid - 3'd1)) == '0 && (bvalid != '0) == m_bvalid_i);
      if (at_ar_q && ar_ahead_q == '0) ar_order: assert (m_arvalid && m_araddr == r_addr_q);
      if (at_r_q && r_ahead_q == '0) r_order:  assert ((rvalid & ~r_client_q) == '0 && m_rready == ((rready_i & r_client_q) != '0));
      if (at_aw_q && aw_ahead_q == '0) aw_order: assert (m_awvalid && m_awaddr == w_addr_q);
      if (at_w_q && w_ahead_q == '0) begin
        w_order: assert ((3'd1 << wsel) == w_client_q && m_wvalid == ((wvalid_i & w_client_q) != '0) && (wready & ~w_client_q) == '0);
      end
      if (at_b_q && b_ahead_q == '0) b_order: assert ((bvalid & ~w_client_q) == '0 && m_bready == ((bready_i & w_client_q) != '0));
      reached: cover (at_r_q && r_ahead_q == '0 && r_client_q[2] && rvalid[2] && at_w_q && w_ahead_q == '0 && w_client_q[1] && w_stood_q);
    end
  end

endmodule
