// SPDX-License-Identifier: Apache-2.0
//
// Stands in for weft_fifo where a proof follows one entry: that one, picked at will when it
// is written, comes out unchanged and in its turn; any other may come out as anything.
// Flags and count are those of weft_fifo. prim/fifo_order says that weft_fifo does nothing
// that this module cannot do, so what is proved with this one holds with weft_fifo.
module weft_fifo #(
  parameter int unsigned Width = 8,
  parameter int unsigned Depth = 4
) (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic clr_i,

  input  logic                   wvalid_i,
  output logic                   wready_o,
  input  logic [Width-1:0]       wdata_i,

  output logic                   rvalid_o,
  input  logic                   rready_i,
  output logic [Width-1:0]       rdata_o,

  output logic [$clog2(Depth):0] count_o
);

  localparam int unsigned CountBits = $clog2(Depth) + 1;

  (* anyseq *) logic             pick;
  (* anyseq *) logic [Width-1:0] other;

  logic                 push, pop, take, picked_q, at_head, empty;
  logic [CountBits-1:0] n_q, ahead_q;
  logic [Width-1:0]     data_q;
  assign count_o  = n_q;
  assign wready_o = n_q != CountBits'(Depth);
  assign empty    = n_q == '0;
  assign rvalid_o = !empty;
  assign at_head  = picked_q && ahead_q == '0;
  assign rdata_o  = at_head ? data_q : other;
  assign push     = wvalid_i && wready_o;
  assign pop      = rvalid_o && rready_i;
  assign take     = pick && push && !picked_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni || clr_i) begin
      picked_q <= 1'b0;
      n_q      <= '0;
    end else begin
      n_q <= n_q + CountBits'(push) - CountBits'(pop);
      if (take) begin
        picked_q <= 1'b1;
        ahead_q  <= n_q - CountBits'(pop);
        data_q   <= wdata_i;
      end else if (pop && picked_q) begin
        picked_q <= !at_head;
        ahead_q  <= ahead_q - CountBits'(1);
      end
    end
  end

  initial picked_q = 1'b0;
  initial n_q      = '0;
  always_comb begin
    bounded: assert (n_q <= CountBits'(Depth));
    if (picked_q) behind: assert (ahead_q < n_q);
  end

endmodule
