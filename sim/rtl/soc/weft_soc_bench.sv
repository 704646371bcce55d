// SPDX-License-Identifier: Apache-2.0
//
// The NPU with AXI ports. Every parameter but Lazy and Ecc has another value than its default.
//
// With Ecc the memories have check bits, and the bench can change bits of one byte in each cycle. The 16 banks of
// the scratchpad are numbered as in weft_sp. The four queues of commands have four banks each: bank b is bank b % 4
// of queue b / 4.
module weft_soc_bench #(
  parameter bit Ecc = 1'b0
) (
  input  logic clk_i,
  input  logic rst_ni,
  output logic irq_o,

  input  logic        flip_i,         // change bits between this clock edge and the next
  input  logic        flip_queue_i,   // in a queue of commands, else in the scratchpad
  input  logic [3:0]  flip_bank_i,
  input  logic [9:0]  flip_row_i,     // of a queue, the low five bits
  input  logic [2:0]  flip_byte_i,
  input  logic [12:0] flip_mask_i,    // 1: the bit changes; from bit 8 on the byte's check bits

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
    .Ecc   (Ecc),
    .IdBits(3),
    .Id    (3'd5),
    .Cache (4'b0011),
    .Prot  (3'b001)
  ) u_npu (.*);

  if (Ecc) begin : g_flip
    /* verilator lint_off BLKSEQ */  // as in weft_ram; no memory is read or written at the falling edge
    for (genvar b = 0; b < 16; b++) begin : g_bank
      always @(negedge clk_i) begin
        if (flip_i && flip_bank_i == 4'(b)) begin
          if (flip_queue_i) begin
            u_npu.u_npu.u_cmd.g_queue[b/4].u_queue.g_bank[b%4].body[flip_row_i[4:0]][8*flip_byte_i +: 8] ^= flip_mask_i[7:0];
            u_npu.u_npu.u_cmd.g_queue[b/4].u_queue.g_bank[b%4].g_ecc.check[flip_row_i[4:0]][5*flip_byte_i +: 5] ^= flip_mask_i[12:8];
          end else begin
            u_npu.u_npu.u_sp.g_bank[b].u_ram.mem[flip_row_i][8*flip_byte_i +: 8] ^= flip_mask_i[7:0];
            u_npu.u_npu.u_sp.g_bank[b].g_ecc.u_check.mem[flip_row_i][5*flip_byte_i +: 5] ^= flip_mask_i[12:8];
          end
        end
      end
    end
    /* verilator lint_on BLKSEQ */
  end else begin : g_no_flip
    logic unused_flip;
    assign unused_flip = ^{flip_i, flip_queue_i, flip_bank_i, flip_row_i, flip_byte_i, flip_mask_i};
  end

endmodule
