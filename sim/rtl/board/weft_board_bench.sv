// SPDX-License-Identifier: Apache-2.0
//
// Bench of what stands between the chip and the pins of a board: the SDRAM controller.
module weft_board_bench (
  input  logic        clk_i,
  input  logic        rst_ni,

  input  logic [39:0] araddr_i,
  input  logic [7:0]  arlen_i,
  input  logic        arvalid_i,
  output logic        arready_o,
  output logic [63:0] rdata_o,
  output logic [1:0]  rresp_o,
  output logic        rlast_o,
  output logic        rvalid_o,
  input  logic        rready_i,
  input  logic [39:0] awaddr_i,
  input  logic [7:0]  awlen_i,
  input  logic        awvalid_i,
  output logic        awready_o,
  input  logic [63:0] wdata_i,
  input  logic [7:0]  wstrb_i,
  input  logic        wvalid_i,
  output logic        wready_o,
  output logic [1:0]  bresp_o,
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
  input  logic [15:0] sdram_d_i
);

  weft_sdram #(.InitCycles(100)) u_sdram (.*);

endmodule
