// SPDX-License-Identifier: Apache-2.0
//
// weft_axi_read between the fetch of commands, load DMA and a bus, all of which do what they
// like; the clients may withdraw an address. A burst is picked at will when it is accepted;
// what holds of it holds of all.
module axi_read (
  input logic                     clk_i,
  input logic                     rst_ni,
  input logic                     pick_i,
  input logic                     fetch_valid_i,
  input weft_cfg_pkg::mem_burst_t fetch_ar_i,
  input logic                     fetch_rready_i,
  input logic                     load_valid_i,
  input weft_cfg_pkg::mem_burst_t load_ar_i,
  input logic                     load_rready_i,
  input logic                     m_arready_i,
  input logic                     m_rvalid_i,
  input logic                     m_rlast_i
);

  logic started_q;
  initial started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;

  logic fetch_ready, fetch_next, fetch_rvalid, load_ready, load_rvalid, m_arvalid, m_rready;
  weft_cfg_pkg::mem_burst_t m_ar;
  weft_axi_read u_dut (
    .clk_i, .rst_ni, .fetch_valid_i, .fetch_ready_o(fetch_ready), .fetch_ar_i, .fetch_next_o(fetch_next),
    .fetch_rvalid_o(fetch_rvalid), .fetch_rready_i, .load_valid_i, .load_ready_o(load_ready), .load_ar_i,
    .load_rvalid_o(load_rvalid), .load_rready_i, .m_arvalid_o(m_arvalid), .m_arready_i, .m_ar_o(m_ar), .m_rvalid_i,
    .m_rlast_i, .m_rready_o(m_rready)
  );

  logic fetch_ar, load_ar, m_take, m_end;
  assign fetch_ar = fetch_valid_i && fetch_ready;
  assign load_ar  = load_valid_i && load_ready;
  assign m_take   = m_arvalid && m_arready_i;
  assign m_end    = m_rvalid_i && m_rready && m_rlast_i;

  // Bursts accepted whose address, whose data is to come, and of these those in front of the
  // picked one; whose it is, and its address.
  logic [3:0]               ar_n_q, r_n_q, ar_ahead_q, r_ahead_q;
  logic                     at_ar_q, at_r_q, load_q;
  weft_cfg_pkg::mem_burst_t burst_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      ar_n_q  <= '0;
      r_n_q   <= '0;
      at_ar_q <= 1'b0;
      at_r_q  <= 1'b0;
    end else begin
      ar_n_q <= ar_n_q + 4'(fetch_ar || load_ar) - 4'(m_take);
      r_n_q  <= r_n_q + 4'(fetch_ar || load_ar) - 4'(m_end);
      if ((fetch_ar || load_ar) && pick_i && !at_ar_q && !at_r_q) begin
        at_ar_q    <= 1'b1;
        at_r_q     <= 1'b1;
        load_q     <= load_ar;
        burst_q    <= load_ar ? load_ar_i : fetch_ar_i;
        ar_ahead_q <= ar_n_q - 4'(m_take);
        r_ahead_q  <= r_n_q - 4'(m_end);
      end else begin
        if (m_take) at_ar_q <= at_ar_q && ar_ahead_q != '0;
        if (m_take) ar_ahead_q <= ar_ahead_q - 4'd1;
        if (m_end) at_r_q <= at_r_q && r_ahead_q != '0;
        if (m_end) r_ahead_q <= r_ahead_q - 4'd1;
      end
    end
  end

  // What stood in the cycle before and was not taken.
  logic                     ar_stood_q;
  weft_cfg_pkg::mem_burst_t ar_q;
  always_ff @(posedge clk_i) begin
    ar_stood_q <= started_q && rst_ni && m_arvalid && !m_arready_i;
    ar_q       <= m_ar;
  end

  always_comb begin
    if (!started_q) reset: assume (!rst_ni);
    if (started_q && rst_ni) begin
      reads_owed: assume (!m_rvalid_i || r_n_q != '0);

      one_client:  assert (!(fetch_ar && load_ar));
      fetch_first: assert (!(fetch_valid_i && load_ar));
      ar_stays:    assert (!ar_stood_q || (m_arvalid && m_ar == ar_q));
      r_one:       assert (!(fetch_rvalid && load_rvalid) && (fetch_rvalid || load_rvalid) == m_rvalid_i);
      r_next:      assert (!fetch_rvalid || fetch_next);
      if (at_ar_q && ar_ahead_q == '0) ar_order: assert (m_arvalid && m_ar == burst_q);
      if (at_r_q && r_ahead_q == '0) begin
        r_order: assert (load_q ? !fetch_rvalid && m_rready == load_rready_i : !load_rvalid && m_rready == fetch_rready_i);
      end
      reached: cover (at_r_q && r_ahead_q == '0 && load_q && load_rvalid && !at_ar_q && fetch_valid_i && !fetch_ready);
    end
  end

endmodule
