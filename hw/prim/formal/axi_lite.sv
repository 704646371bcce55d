// SPDX-License-Identifier: Apache-2.0
//
// weft_axi_lite between a master that may ask and take at will and registers that answer
// anything. One write and one read are picked at will when their address comes; what holds of
// these holds of all.
module axi_lite #(
  parameter int unsigned AddrBits = 4
) (
  input logic                clk_i,
  input logic                rst_ni,
  input logic                pick_w_i,
  input logic                pick_d_i,
  input logic                pick_r_i,
  input logic                awvalid_i,
  input logic [AddrBits-1:0] awaddr_i,
  input logic                wvalid_i,
  input logic [31:0]         wdata_i,
  input logic [3:0]          wstrb_i,
  input logic                bready_i,
  input logic                arvalid_i,
  input logic [AddrBits-1:0] araddr_i,
  input logic                rready_i,
  input logic [31:0]         reg_rdata_i
);

  logic started_q;
  initial started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;

  logic                awready, wready, bvalid, arready, rvalid, req, we;
  logic [1:0]          bresp, rresp;
  logic [31:0]         rdata, wdata;
  logic [AddrBits-1:0] addr;

  weft_axi_lite #(
    .AddrBits(AddrBits)
  ) u_dut (
    .clk_i, .rst_ni, .awvalid_i, .awready_o(awready), .awaddr_i, .wvalid_i, .wready_o(wready), .wdata_i, .wstrb_i,
    .bvalid_o(bvalid), .bready_i, .bresp_o(bresp), .arvalid_i, .arready_o(arready), .araddr_i, .rvalid_o(rvalid), .rready_i,
    .rdata_o(rdata), .rresp_o(rresp), .reg_req_o(req), .reg_we_o(we), .reg_addr_o(addr), .reg_wdata_o(wdata), .reg_rdata_i
  );

  logic aw, w, b, ar, r;
  assign aw = awvalid_i && awready;
  assign w  = wvalid_i && wready;
  assign b  = bvalid && bready_i;
  assign ar = arvalid_i && arready;
  assign r  = rvalid && rready_i;

  // Taken and not yet answered. Done: the registers were asked, or need not be, and the answer waits.
  logic [1:0] aw_n_q, w_n_q, ar_n_q;
  // The picked write's address and data: how many are in front of it, and what it was.
  logic                at_aw_q, at_w_q, at_ar_q;
  logic [1:0]          aw_ahead_q, w_ahead_q, ar_ahead_q;
  logic [AddrBits-1:0] awaddr_q, araddr_q;
  logic [31:0]         wdata_q, seen_q;
  logic [3:0]          wstrb_q;
  logic                wrote_q, read_q;       // the registers have seen the oldest write, the oldest read
  logic [1:0]          late_w_q, late_r_q;    // cycles in which the oldest could have been answered and was not

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      {aw_n_q, w_n_q, ar_n_q}   <= '0;
      {at_aw_q, at_w_q, at_ar_q} <= '0;
      {wrote_q, read_q}         <= '0;
      {late_w_q, late_r_q}      <= '0;
    end else begin
      aw_n_q <= aw_n_q + 2'(aw) - 2'(b);
      w_n_q  <= w_n_q + 2'(w) - 2'(b);
      ar_n_q <= ar_n_q + 2'(ar) - 2'(r);
      if (aw && pick_w_i && !at_aw_q) begin
        at_aw_q    <= 1'b1;
        aw_ahead_q <= aw_n_q - 2'(b);
        awaddr_q   <= awaddr_i;
      end else if (b) begin
        at_aw_q    <= at_aw_q && aw_ahead_q != '0;
        aw_ahead_q <= aw_ahead_q - 2'd1;
      end
      if (w && pick_d_i && !at_w_q) begin
        at_w_q    <= 1'b1;
        w_ahead_q <= w_n_q - 2'(b);
        wdata_q   <= wdata_i;
        wstrb_q   <= wstrb_i;
      end else if (b) begin
        at_w_q    <= at_w_q && w_ahead_q != '0;
        w_ahead_q <= w_ahead_q - 2'd1;
      end
      if (ar && pick_r_i && !at_ar_q) begin
        at_ar_q    <= 1'b1;
        ar_ahead_q <= ar_n_q - 2'(r);
        araddr_q   <= araddr_i;
      end else if (r) begin
        at_ar_q    <= at_ar_q && ar_ahead_q != '0;
        ar_ahead_q <= ar_ahead_q - 2'd1;
      end
      if (b) wrote_q <= 1'b0;
      if (req && we) wrote_q <= 1'b1;
      if (r) read_q <= 1'b0;
      if (req && !we) read_q <= 1'b1;
      if (req && !we) seen_q <= reg_rdata_i;
      late_w_q <= aw_n_q != '0 && w_n_q != '0 && !bvalid ? late_w_q + 2'd1 : '0;
      late_r_q <= ar_n_q != '0 && !rvalid ? late_r_q + 2'd1 : '0;
    end
  end

  logic        b_stood_q, r_stood_q;
  logic [1:0]  bresp_q;
  logic [31:0] rdata_q;
  always_ff @(posedge clk_i) begin
    b_stood_q <= started_q && rst_ni && bvalid && !bready_i;
    r_stood_q <= started_q && rst_ni && rvalid && !rready_i;
    bresp_q   <= bresp;
    rdata_q   <= rdata;
  end

  always_comb begin
    if (!started_q) reset: assume (!rst_ni);
    if (!rst_ni) in_reset: assert (!bvalid && !rvalid);
    if (started_q && rst_ni) begin
      b_stays:  assert (!b_stood_q || (bvalid && bresp == bresp_q));
      r_stays:  assert (!r_stood_q || (rvalid && rdata == rdata_q && rresp == 2'b00));
      // An answer for a request that was taken and not answered, and there are never more than two.
      b_owed:   assert (!bvalid || (aw_n_q != '0 && w_n_q != '0));
      r_owed:   assert (!rvalid || ar_n_q != '0);
      few:      assert (aw_n_q != 2'd3 && w_n_q != 2'd3 && ar_n_q != 2'd3);
      // None is forgotten: the oldest is answered at most two cycles after it could be.
      b_comes:  assert (late_w_q != 2'd3);
      r_comes:  assert (late_r_q != 2'd3);
      // The registers see each write once, as it was sent, before its answer; with all strobes only.
      w_once:   assert (!(req && we && wrote_q));
      if (at_aw_q && aw_ahead_q == '0 && req && we) w_addr: assert (addr == awaddr_q);
      if (at_w_q && w_ahead_q == '0 && req && we) w_data: assert (wdata == wdata_q && wstrb_q == 4'hf);
      if (at_w_q && w_ahead_q == '0 && bvalid) begin
        w_done: assert (wrote_q == (wstrb_q == 4'hf) && bresp == (wstrb_q == 4'hf || wstrb_q == 4'h0 ? 2'b00 : 2'b10));
      end
      // And each read; its answer is what they said.
      r_once:   assert (!(req && !we && read_q));
      r_seen:   assert (!rvalid || (read_q && rdata == seen_q));
      if (at_ar_q && ar_ahead_q == '0 && req && !we) r_addr: assert (addr == araddr_q);
      reached: cover (at_aw_q && at_w_q && at_ar_q && b_stood_q && bresp == 2'b10 && r_stood_q && aw_n_q == 2'd2);
    end
  end

endmodule
