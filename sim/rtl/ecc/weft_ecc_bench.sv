// SPDX-License-Identifier: Apache-2.0
//
// The NPU with AXI ports and check bits in its memories, and a way to change bits there: of a byte those that
// flip_mask_i says, its check bits in front. Banks of a queue are four.
module weft_ecc_bench (
  input  logic clk_i,
  input  logic rst_ni,
  output logic irq_o,

  input  logic        flip_i,
  input  logic        flip_queue_i,   // in a queue of commands, else in the scratchpad
  input  logic [3:0]  flip_bank_i,
  input  logic [9:0]  flip_row_i,
  input  logic [2:0]  flip_byte_i,
  input  logic [12:0] flip_mask_i,

  input  logic        s_awvalid_i,
  output logic        s_awready_o,
  input  logic [11:0] s_awaddr_i,
  input  logic        s_wvalid_i,
  output logic        s_wready_o,
  input  logic [31:0] s_wdata_i,
  input  logic [3:0]  s_wstrb_i,
  output logic        s_bvalid_o,
  input  logic        s_bready_i,
  output logic [1:0]  s_bresp_o,
  input  logic        s_arvalid_i,
  output logic        s_arready_o,
  input  logic [11:0] s_araddr_i,
  output logic        s_rvalid_o,
  input  logic        s_rready_i,
  output logic [31:0] s_rdata_o,
  output logic [1:0]  s_rresp_o,

  output logic                    m_awvalid_o,
  input  logic                    m_awready_i,
  output logic [2:0]              m_awid_o,
  output weft_cfg_pkg::mem_addr_t m_awaddr_o,
  output logic [7:0]              m_awlen_o,
  output logic [2:0]              m_awsize_o,
  output logic [1:0]              m_awburst_o,
  output logic [3:0]              m_awcache_o,
  output logic [2:0]              m_awprot_o,
  output logic                    m_wvalid_o,
  input  logic                    m_wready_i,
  output weft_cfg_pkg::sp_word_t  m_wdata_o,
  output weft_cfg_pkg::row_mask_t m_wstrb_o,
  output logic                    m_wlast_o,
  input  logic                    m_bvalid_i,
  output logic                    m_bready_o,
  input  logic [2:0]              m_bid_i,
  input  logic [1:0]              m_bresp_i,
  output logic                    m_arvalid_o,
  input  logic                    m_arready_i,
  output logic [2:0]              m_arid_o,
  output weft_cfg_pkg::mem_addr_t m_araddr_o,
  output logic [7:0]              m_arlen_o,
  output logic [2:0]              m_arsize_o,
  output logic [1:0]              m_arburst_o,
  output logic [3:0]              m_arcache_o,
  output logic [2:0]              m_arprot_o,
  input  logic                    m_rvalid_i,
  output logic                    m_rready_o,
  input  logic [2:0]              m_rid_i,
  input  weft_cfg_pkg::sp_word_t  m_rdata_i,
  input  logic [1:0]              m_rresp_i,
  input  logic                    m_rlast_i
);

  weft_npu_axi #(
    .Ecc   (1'b1),
    .IdBits(3),
    .Id    (3'd5),
    .Cache (4'b0011),
    .Prot  (3'b001)
  ) u_npu (.*);

  /* verilator lint_off BLKSEQ */  // as in weft_ram; between two edges that matter
  for (genvar b = 0; b < 16; b++) begin : g_flip
    always @(negedge clk_i) begin
      if (flip_i && !flip_queue_i && flip_bank_i == 4'(b)) begin
        u_npu.u_npu.u_sp.g_bank[b].u_ram.mem[flip_row_i][8*flip_byte_i +: 8] =
          u_npu.u_npu.u_sp.g_bank[b].u_ram.mem[flip_row_i][8*flip_byte_i +: 8] ^ flip_mask_i[7:0];
        u_npu.u_npu.u_sp.g_bank[b].g_ecc.u_check.mem[flip_row_i][5*flip_byte_i +: 5] =
          u_npu.u_npu.u_sp.g_bank[b].g_ecc.u_check.mem[flip_row_i][5*flip_byte_i +: 5] ^ flip_mask_i[12:8];
      end
      if (flip_i && flip_queue_i && flip_bank_i == 4'(b)) begin
        u_npu.u_npu.u_cmd.g_queue[b/4].u_queue.g_bank[b%4].body[flip_row_i[4:0]][8*flip_byte_i +: 8] =
          u_npu.u_npu.u_cmd.g_queue[b/4].u_queue.g_bank[b%4].body[flip_row_i[4:0]][8*flip_byte_i +: 8] ^ flip_mask_i[7:0];
        u_npu.u_npu.u_cmd.g_queue[b/4].u_queue.g_bank[b%4].g_ecc.check[flip_row_i[4:0]][5*flip_byte_i +: 5] =
          u_npu.u_npu.u_cmd.g_queue[b/4].u_queue.g_bank[b%4].g_ecc.check[flip_row_i[4:0]][5*flip_byte_i +: 5] ^ flip_mask_i[12:8];
      end
    end
  end
  /* verilator lint_on BLKSEQ */

endmodule
