// SPDX-License-Identifier: Apache-2.0
//
// FIFO with valid/ready on both sides.
//
// What is written in one cycle can be read in the next. ready of the write
// side does not depend on the read side of the same cycle, and valid of the
// read side not on the write side. clr_i empties it and wins over both.
module weft_fifo #(
  parameter int unsigned Width = 8,
  parameter int unsigned Depth = 4  // a power of two, at least 2
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

  localparam int unsigned PtrBits = $clog2(Depth);

  // Pointers with one bit more than the address: equal is empty, different in
  // that bit only is full.
  // On an FPGA: block RAM where LUT RAM would need several rows and a choice between them,
  // registers where it would be mostly empty.
  (* ram_style = Depth >= 32 ? "block" : Depth == 2 ? "logic" : "auto" *)
  logic [Width-1:0] mem [Depth];
  logic [PtrBits:0] wptr_q, rptr_q;
  logic             push, pop;

  assign count_o  = wptr_q - rptr_q;
  assign wready_o = !count_o[PtrBits];
  assign rvalid_o = wptr_q != rptr_q;
  assign rdata_o  = mem[rptr_q[PtrBits-1:0]];
  assign push     = wvalid_i && wready_o;
  assign pop      = rvalid_o && rready_i;

  always_ff @(posedge clk_i) begin
    if (push) mem[wptr_q[PtrBits-1:0]] <= wdata_i;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      wptr_q <= '0;
      rptr_q <= '0;
    end else if (push || pop || clr_i) begin
      wptr_q <= clr_i ? '0 : wptr_q + (PtrBits+1)'(push);
      rptr_q <= clr_i ? '0 : rptr_q + (PtrBits+1)'(pop);
    end
  end

`ifdef WEFT_ASSERT
  always_ff @(posedge clk_i) begin
    if (rst_ni) assert (32'(count_o) <= Depth);
  end
`endif

endmodule
