// SPDX-License-Identifier: Apache-2.0
//
// Ports of the ECP5's primitives in a board's top, for lint. They do nothing.
/* verilator lint_off DECLFILENAME */
/* verilator lint_off UNUSEDSIGNAL */
/* verilator lint_off UNUSEDPARAM */
module EHXPLLL #(
  parameter int CLKI_DIV        = 1,
  parameter int CLKFB_DIV       = 1,
  parameter     FEEDBK_PATH     = "CLKOP",
  parameter     CLKOP_ENABLE    = "ENABLED",
  parameter int CLKOP_DIV       = 8,
  parameter int CLKOP_CPHASE    = 0,
  parameter int CLKOP_FPHASE    = 0,
  parameter     CLKOS_ENABLE    = "DISABLED",
  parameter int CLKOS_DIV       = 8,
  parameter int CLKOS_CPHASE    = 0,
  parameter int CLKOS_FPHASE    = 0,
  parameter     PLLRST_ENA      = "DISABLED",
  parameter     INTFB_WAKE      = "DISABLED",
  parameter     STDBY_ENABLE    = "DISABLED",
  parameter     DPHASE_SOURCE   = "DISABLED",
  parameter     OUTDIVIDER_MUXA = "DIVA",
  parameter     OUTDIVIDER_MUXB = "DIVB"
) (
  input  logic CLKI,
  input  logic CLKFB,
  input  logic RST,
  input  logic STDBY,
  input  logic PHASESEL0,
  input  logic PHASESEL1,
  input  logic PHASEDIR,
  input  logic PHASESTEP,
  input  logic PHASELOADREG,
  input  logic PLLWAKESYNC,
  input  logic ENCLKOP,
  output logic CLKOP,
  output logic CLKOS,
  output logic LOCK
);
  assign {CLKOP, CLKOS, LOCK} = '0;
endmodule

module USRMCLK (
  input logic USRMCLKI,
  input logic USRMCLKTS
);
endmodule
