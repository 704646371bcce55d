// SPDX-License-Identifier: Apache-2.0
//
// AXI4-Lite slave in front of a register bus, which answers in the cycle of the request.
//
// Address and data of a write may come in any order. No output of the slave depends on an
// input of the same cycle, but for the reset; while that is low nothing is answered. A write is
// answered when both have come, a read when its address has, each once; an answer stays as it
// is until it is taken. One request a cycle goes to the registers, a write before a read. A read
// waits for one write at most, because two writes are never carried out in successive cycles.
// Registers are written as whole words: a write with all four strobes goes to them, a write
// without any does nothing, a write with some of them does nothing and is answered with SLVERR.
// Addresses are passed on with their low two bits.
module weft_axi_lite #(
  parameter int unsigned AddrBits = 12
) (
  input  logic                clk_i,
  input  logic                rst_ni,

  input  logic                awvalid_i,
  output logic                awready_o,
  input  logic [AddrBits-1:0] awaddr_i,
  input  logic                wvalid_i,
  output logic                wready_o,
  input  logic [31:0]         wdata_i,
  input  logic [3:0]          wstrb_i,
  output logic                bvalid_o,
  input  logic                bready_i,
  output logic [1:0]          bresp_o,
  input  logic                arvalid_i,
  output logic                arready_o,
  input  logic [AddrBits-1:0] araddr_i,
  output logic                rvalid_o,
  input  logic                rready_i,
  output logic [31:0]         rdata_o,
  output logic [1:0]          rresp_o,

  output logic                reg_req_o,
  output logic                reg_we_o,
  output logic [AddrBits-1:0] reg_addr_o,
  output logic [31:0]         reg_wdata_o,
  input  logic [31:0]         reg_rdata_i
);

  localparam logic [1:0] Okay = 2'b00, SlvErr = 2'b10;

  // Requests that were taken and not yet carried out.
  logic                aw_q, w_q, ar_q;
  logic [AddrBits-1:0] awaddr_q, araddr_q;
  logic [31:0]         wdata_q;
  logic [3:0]          wstrb_q;
  assign awready_o = !aw_q;
  assign wready_o  = !w_q;
  assign arready_o = !ar_q;

  // Answers that are not taken yet.
  logic        b_q, b_error_q, r_q;
  logic [31:0] rdata_q;
  assign bvalid_o = b_q && rst_ni;
  assign bresp_o  = b_error_q ? SlvErr : Okay;
  assign rvalid_o = r_q && rst_ni;
  assign rresp_o  = Okay;
  assign rdata_o  = rdata_q;

  // A request is carried out if there is room for its answer.
  logic write, read;
  assign write = aw_q && w_q && !b_q;
  assign read  = ar_q && !r_q && !write;

  assign reg_req_o   = read || (write && wstrb_q == '1);
  assign reg_we_o    = write;
  assign reg_addr_o  = write ? awaddr_q : araddr_q;
  assign reg_wdata_o = wdata_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      aw_q <= 1'b0;
      w_q  <= 1'b0;
      ar_q <= 1'b0;
      b_q  <= 1'b0;
      r_q  <= 1'b0;
    end else begin
      if (awvalid_i && !aw_q) aw_q <= 1'b1;
      if (wvalid_i && !w_q) w_q <= 1'b1;
      if (arvalid_i && !ar_q) ar_q <= 1'b1;
      if (bready_i) b_q <= 1'b0;
      if (rready_i) r_q <= 1'b0;
      if (write) begin
        aw_q <= 1'b0;
        w_q  <= 1'b0;
        b_q  <= 1'b1;
      end
      if (read) begin
        ar_q <= 1'b0;
        r_q  <= 1'b1;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (!aw_q) awaddr_q <= awaddr_i;
    if (!w_q) begin
      wdata_q <= wdata_i;
      wstrb_q <= wstrb_i;
    end
    if (!ar_q) araddr_q <= araddr_i;
    if (write) b_error_q <= wstrb_q != '1 && wstrb_q != '0;
    if (read) rdata_q <= reg_rdata_i;
  end

`ifdef WEFT_ASSERT
  logic        old_b_q, old_r_q, old_write_q, old_ar_q;
  logic [1:0]  old_bresp_q;
  logic [31:0] old_rdata_q;
  always_ff @(posedge clk_i) begin
    old_b_q     <= rst_ni && bvalid_o && !bready_i;
    old_r_q     <= rst_ni && rvalid_o && !rready_i;
    old_write_q <= rst_ni && write;
    old_ar_q    <= rst_ni && ar_q && !r_q && !read;
    old_bresp_q <= bresp_o;
    old_rdata_q <= rdata_o;
    if (!rst_ni) assert (!bvalid_o && !rvalid_o);
    if (rst_ni) begin
      if (old_b_q) assert (bvalid_o && bresp_o == old_bresp_q);
      if (old_r_q) assert (rvalid_o && rdata_o == old_rdata_q && rresp_o == Okay);
      assert (!(read && write));
      if (write) assert (aw_q && w_q && !b_q);          // both halves are there, and there is room for the answer
      if (reg_req_o && reg_we_o) assert (wstrb_q == '1);
      if (old_write_q) assert (!write);
      if (old_ar_q) assert (read);
    end
  end
`endif

endmodule
