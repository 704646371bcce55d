// SPDX-License-Identifier: Apache-2.0
//
// Makes the USB device's 48 MHz from 25 MHz with an ECP5's PLL. The PLL's oscillator runs at 480 MHz; divided by ten that is
// the output. Divided by eight (60 MHz) and then by twelve it is 5 MHz, which the PLL compares with the reference divided by five.
module weft_prim_clock_usb (
  input  logic clk_25mhz_i,
  output logic clk_48mhz_o,
  output logic locked_o       // at any time
);

  logic clk_60mhz;
  EHXPLLL #(
    .CLKI_DIV      (5),
    .CLKFB_DIV     (12),
    .FEEDBK_PATH   ("CLKOP"),
    .CLKOP_ENABLE  ("ENABLED"),
    .CLKOP_DIV     (8),
    .CLKOP_CPHASE  (7),
    .CLKOP_FPHASE  (0),
    .CLKOS_ENABLE  ("ENABLED"),
    .CLKOS_DIV     (10),
    .CLKOS_CPHASE  (7),
    .CLKOS_FPHASE  (0),
    .PLLRST_ENA    ("DISABLED"),
    .INTFB_WAKE    ("DISABLED"),
    .STDBY_ENABLE  ("DISABLED"),
    .DPHASE_SOURCE ("DISABLED"),
    .OUTDIVIDER_MUXA("DIVA"),
    .OUTDIVIDER_MUXB("DIVB")
  ) u_pll (
    .CLKI        (clk_25mhz_i),
    .CLKFB       (clk_60mhz),
    .CLKOP       (clk_60mhz),
    .CLKOS       (clk_48mhz_o),
    .LOCK        (locked_o),
    .RST         (1'b0),
    .STDBY       (1'b0),
    .PHASESEL0   (1'b0),
    .PHASESEL1   (1'b0),
    .PHASEDIR    (1'b1),
    .PHASESTEP   (1'b1),
    .PHASELOADREG(1'b1),
    .PLLWAKESYNC (1'b0),
    .ENCLKOP     (1'b0)
  );

endmodule
