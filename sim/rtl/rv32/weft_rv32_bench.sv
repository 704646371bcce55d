// SPDX-License-Identifier: Apache-2.0
//
// Bench of the control core: core with ROM and RAM, its bus and interrupts at
// the pins, and a decoder of its own whose input is a pin.
module weft_rv32_bench (
  input  logic        clk_i,
  input  logic        rst_ni,

  output logic        bus_valid_o,
  output logic [31:0] bus_addr_o,
  output logic        bus_write_o,
  output logic [3:0]  bus_mask_o,
  output logic [31:0] bus_wdata_o,
  input  logic        bus_ready_i,
  input  logic        bus_error_i,
  input  logic [31:0] bus_rdata_i,
  input  logic        irq_timer_i,
  input  logic        irq_external_i,
  output logic        sleep_o,

  input  logic [31:0] dec_instr_i,
  output logic [3:0]  dec_kind_o,
  output logic [3:0]  dec_alu_o,
  output logic [1:0]  dec_a_o,
  output logic        dec_b_imm_o,
  output logic [31:0] dec_imm_o,
  output logic        dec_rs1_used_o,
  output logic        dec_rs2_used_o,
  output logic [4:0]  dec_rd_o,
  output logic        dec_jalr_o
);

  weft_ctrl u_ctrl (
    .clk_i,
    .rst_ni,
    .bus_valid_o,
    .bus_addr_o,
    .bus_write_o,
    .bus_mask_o,
    .bus_wdata_o,
    .bus_ready_i,
    .bus_error_i,
    .bus_rdata_i,
    .irq_timer_i,
    .irq_external_i,
    .sleep_o
  );

  weft_rv32_decode u_decode (
    .instr_i   (dec_instr_i),
    .kind_o    (dec_kind_o),
    .alu_o     (dec_alu_o),
    .a_o       (dec_a_o),
    .b_imm_o   (dec_b_imm_o),
    .imm_o     (dec_imm_o),
    .rs1_used_o(dec_rs1_used_o),
    .rs2_used_o(dec_rs2_used_o),
    .rd_o      (dec_rd_o),
    .jalr_o    (dec_jalr_o)
  );

endmodule
