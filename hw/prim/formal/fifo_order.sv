// SPDX-License-Identifier: Apache-2.0
//
// weft_fifo beside a count of its entries. One entry is picked at will when it is
// written; ahead_q counts the entries that must leave before it. What holds for it holds
// for every entry. Emptying the FIFO (clr_i) forgets the entry.
module fifo_order #(
  parameter int unsigned Width = 8,
  parameter int unsigned Depth = 4
) (
  input logic             clk_i,
  input logic             rst_ni,
  input logic             clr_i,
  input logic             pick_i,
  input logic             wvalid_i,
  input logic [Width-1:0] wdata_i,
  input logic             rready_i
);

  localparam int unsigned CountBits = $clog2(Depth) + 1;

  logic                 wready, rvalid;
  logic [Width-1:0]     rdata;
  logic [CountBits-1:0] count;

  weft_fifo #(
    .Width(Width),
    .Depth(Depth)
  ) u_dut (
    .clk_i,
    .rst_ni,
    .clr_i,
    .wvalid_i,
    .wready_o(wready),
    .wdata_i,
    .rvalid_o(rvalid),
    .rready_i,
    .rdata_o (rdata),
    .count_o (count)
  );

  logic started_q;
  initial started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;

  logic                 push, pop, picked_q;
  logic [CountBits-1:0] n_q, ahead_q;
  logic [Width-1:0]     data_q;
  assign push = wvalid_i && wready;
  assign pop  = rvalid && rready_i;

  always_ff @(posedge clk_i) begin
    if (!rst_ni || clr_i) begin
      picked_q <= 1'b0;
      n_q      <= '0;
    end else begin
      n_q <= n_q + CountBits'(push) - CountBits'(pop);
      if (!picked_q && pick_i && push) begin
        picked_q <= 1'b1;
        ahead_q  <= n_q - CountBits'(pop);
        data_q   <= wdata_i;
      end else if (picked_q && pop) begin
        picked_q <= ahead_q != '0;
        ahead_q  <= ahead_q - CountBits'(1);
      end
    end
  end

  always_comb begin
    if (!started_q) reset: assume (!rst_ni);
    if (started_q && rst_ni) begin
      counted:  assert (count == n_q);
      empty:    assert (rvalid == (n_q != '0));
      full:     assert (wready == (n_q != CountBits'(Depth)));
      in_order: assert (!picked_q || ahead_q != '0 || (rvalid && rdata == data_q));
      reached:  cover (picked_q && ahead_q == '0 && n_q == CountBits'(Depth));
    end
  end

endmodule
