// SPDX-License-Identifier: Apache-2.0
//
// weft_axi_lite between a master that may ask and take in any cycle and registers that answer
// any value. One write address, one write's data and one read are picked in any cycle in which
// they are taken; what holds for these holds for all.
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

  // A write address, write data, and a read address are three kinds of requests.
  localparam int unsigned Aw = 0, W = 1, Ar = 2;
  logic [2:0] taken, pick, answered;          // of each kind, in this cycle
  assign taken    = {arvalid_i && arready, wvalid_i && wready, awvalid_i && awready};
  assign pick     = {pick_r_i, pick_d_i, pick_w_i};
  assign answered = {rvalid && rready_i, {2{bvalid && bready_i}}};

  logic [2:0] picked_now;                     // the picked request is taken in this cycle
  logic [2:0] picked_q;                       // it was taken and is not answered
  logic [2:0] oldest;                         // and no other is answered before it
  for (genvar i = 0; i < 3; i++) begin : g_request
    logic [1:0] n_q;                          // requests that were taken and are not answered
    logic [1:0] ahead_q;                      // those of them that are answered before the picked one
    assign picked_now[i] = taken[i] && pick[i] && !picked_q[i];
    assign oldest[i]     = picked_q[i] && ahead_q == '0;
    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        n_q         <= '0;
        picked_q[i] <= 1'b0;
      end else begin
        n_q <= n_q + 2'(taken[i]) - 2'(answered[i]);
        if (picked_now[i]) begin
          picked_q[i] <= 1'b1;
          ahead_q     <= n_q - 2'(answered[i]);
        end else if (answered[i]) begin
          picked_q[i] <= picked_q[i] && ahead_q != '0;
          ahead_q     <= ahead_q - 2'd1;
        end
      end
    end
  end
  logic [1:0] aw_n, w_n, ar_n;
  assign aw_n = g_request[Aw].n_q;
  assign w_n  = g_request[W].n_q;
  assign ar_n = g_request[Ar].n_q;

  // What the picked requests were.
  logic [AddrBits-1:0] awaddr_q, araddr_q;
  logic [31:0]         wdata_q;
  logic [3:0]          wstrb_q;
  always_ff @(posedge clk_i) begin
    if (picked_now[Aw]) awaddr_q <= awaddr_i;
    if (picked_now[W]) {wdata_q, wstrb_q} <= {wdata_i, wstrb_i};
    if (picked_now[Ar]) araddr_q <= araddr_i;
  end

  logic        wrote_q, read_q;       // the registers have seen the oldest write, the oldest read
  logic [31:0] seen_q;                // what the registers said to the latest read
  logic [1:0]  late_w_q, late_r_q;    // cycles in which the oldest could have been answered and was not
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      {wrote_q, read_q}    <= '0;
      {late_w_q, late_r_q} <= '0;
    end else begin
      if (answered[W]) wrote_q <= 1'b0;
      if (req && we) wrote_q <= 1'b1;
      if (answered[Ar]) read_q <= 1'b0;
      if (req && !we) read_q <= 1'b1;
      if (req && !we) seen_q <= reg_rdata_i;
      late_w_q <= aw_n != '0 && w_n != '0 && !bvalid ? late_w_q + 2'd1 : '0;
      late_r_q <= ar_n != '0 && !rvalid ? late_r_q + 2'd1 : '0;
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
      // Each answer belongs to a request that was taken and not answered. There are never more than two of a kind.
      b_owed:   assert (!bvalid || (aw_n != '0 && w_n != '0));
      r_owed:   assert (!rvalid || ar_n != '0);
      few:      assert (aw_n != 2'd3 && w_n != 2'd3 && ar_n != 2'd3);
      // No request is forgotten: the oldest is answered at most two cycles after it could be.
      b_comes:  assert (late_w_q != 2'd3);
      r_comes:  assert (late_r_q != 2'd3);
      // The registers see each write with all strobes once, as it was sent, before its answer, and no other write.
      w_once:   assert (!(req && we && wrote_q));
      if (oldest[Aw] && req && we) w_addr: assert (addr == awaddr_q);
      if (oldest[W] && req && we) w_data: assert (wdata == wdata_q && wstrb_q == 4'hf);
      if (oldest[W] && bvalid) begin
        w_done: assert (wrote_q == (wstrb_q == 4'hf) && bresp == (wstrb_q == 4'hf || wstrb_q == 4'h0 ? 2'b00 : 2'b10));
      end
      // The registers see each read once, before its answer, and the answer is what they said.
      r_once:   assert (!(req && !we && read_q));
      r_seen:   assert (!rvalid || (read_q && rdata == seen_q));
      if (oldest[Ar] && req && !we) r_addr: assert (addr == araddr_q);
      reached: cover (picked_q == '1 && b_stood_q && bresp == 2'b10 && r_stood_q && aw_n == 2'd2);
    end
  end

endmodule
