// SPDX-License-Identifier: Apache-2.0
//
// One 32-bit access of the control core to card memory as one AXI beat. ready_o
// comes with data and error when memory has answered; valid_i stays until then.
module weft_ctrl_mem #(
  parameter int unsigned Bytes = 16   // of a bus word
) (
  input  logic               clk_i,
  input  logic               rst_ni,

  input  logic               valid_i,
  input  logic               write_i,
  input  logic [31:0]        addr_i,
  input  logic [3:0]         mask_i,
  input  logic [31:0]        wdata_i,
  output logic               ready_o,
  output logic               error_o,
  output logic [31:0]        rdata_o,

  output logic               m_arvalid_o,
  input  logic               m_arready_i,
  output logic [31:0]        m_addr_o,
  input  logic               m_rvalid_i,
  input  logic [8*Bytes-1:0] m_rdata_i,
  input  logic               m_rerror_i,
  output logic               m_awvalid_o,
  input  logic               m_awready_i,
  output logic               m_wvalid_o,
  input  logic               m_wready_i,
  output logic [8*Bytes-1:0] m_wdata_o,
  output logic [Bytes-1:0]   m_wstrb_o,
  input  logic               m_bvalid_i,
  input  logic               m_berror_i
);

  localparam int unsigned Log2 = $clog2(Bytes);

  logic [Log2-1:0] at;   // of the access in its bus word
  assign at = addr_i[Log2-1:0] & Log2'(Bytes - 4);

  logic asked_q, sent_q;
  assign m_addr_o    = {addr_i[31:Log2], Log2'(0)};
  assign m_arvalid_o = valid_i && !write_i && !asked_q;
  assign m_awvalid_o = valid_i && write_i && !asked_q;
  assign m_wvalid_o  = valid_i && write_i && !sent_q;
  assign m_wdata_o   = {Bytes/4{wdata_i}};
  always_comb begin
    m_wstrb_o = '0;
    m_wstrb_o[at+:4] = mask_i;
  end

  assign ready_o = m_rvalid_i || m_bvalid_i;
  assign error_o = m_rvalid_i ? m_rerror_i : m_berror_i;
  assign rdata_o = m_rdata_i[8*at+:32];

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      asked_q <= 1'b0;
      sent_q  <= 1'b0;
    end else if (ready_o) begin
      asked_q <= 1'b0;
      sent_q  <= 1'b0;
    end else begin
      if ((m_arvalid_o && m_arready_i) || (m_awvalid_o && m_awready_i)) asked_q <= 1'b1;
      if (m_wvalid_o && m_wready_i) sent_q <= 1'b1;
    end
  end

  logic unused;
  assign unused = &{1'b0, addr_i[1:0]};

`ifdef WEFT_ASSERT
  logic        old_wait_q;
  logic [68:0] old_access_q;
  always_ff @(posedge clk_i) begin
    old_wait_q   <= rst_ni && valid_i && !ready_o;
    old_access_q <= {write_i, addr_i, mask_i, wdata_i};
    if (rst_ni) begin
      if (old_wait_q) assert (valid_i && {write_i, addr_i, mask_i, wdata_i} == old_access_q);
      assert (!ready_o || valid_i);
      assert (!(m_rvalid_i && m_bvalid_i));
    end
  end
`endif

endmodule
