// SPDX-License-Identifier: Apache-2.0
//
// The way to the clock pin of an ECP5's configuration flash, which is no pin of the design.
module weft_prim_flash_clock (
  input logic clk_i
);

  USRMCLK u_clock (
    .USRMCLKI (clk_i),
    .USRMCLKTS(1'b0)
  );

endmodule
