// SPDX-License-Identifier: Apache-2.0
//
// Bench of what stands between the chip and the pins of a board: SDRAM
// controller and USB bridge, each by itself.
module weft_board_bench (
  input  logic        clk_i,
  input  logic        rst_ni,

  input  logic [24:0] araddr_i,
  input  logic [7:0]  arlen_i,
  input  logic        arvalid_i,
  output logic        arready_o,
  output logic [63:0] rdata_o,
  output logic        rlast_o,
  output logic        rvalid_o,
  input  logic        rready_i,
  input  logic [24:0] awaddr_i,
  input  logic [7:0]  awlen_i,
  input  logic        awvalid_i,
  output logic        awready_o,
  input  logic [63:0] wdata_i,
  input  logic [7:0]  wstrb_i,
  input  logic        wvalid_i,
  output logic        wready_o,
  output logic        bvalid_o,
  input  logic        bready_i,
  output logic        sdram_clk_o,
  output logic        sdram_cke_o,
  output logic [3:0]  sdram_cmd_no,
  output logic [1:0]  sdram_ba_o,
  output logic [12:0] sdram_a_o,
  output logic [1:0]  sdram_dqm_o,
  output logic [15:0] sdram_d_o,
  output logic        sdram_oe_o,
  input  logic [15:0] sdram_d_i,

  input  logic [7:0]  fd_i,
  output logic [7:0]  fd_o,
  output logic        fd_oe_o,
  output logic [1:0]  fifoadr_o,
  output logic        sloe_no,
  output logic        slrd_no,
  output logic        slwr_no,
  output logic        pktend_no,
  input  logic        flag_empty_ni,
  input  logic        flag_full_ni,
  output logic        in_valid_o,
  input  logic        in_ready_i,
  output logic [7:0]  in_data_o,
  input  logic        out_valid_i,
  output logic        out_ready_o,
  input  logic [7:0]  out_data_i,
  input  logic        out_last_i
);

  weft_sdram #(.InitCycles(100)) u_sdram (.*);
  weft_fx2 u_fx2 (.*);

endmodule
