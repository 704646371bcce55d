// SPDX-License-Identifier: Apache-2.0
//
// Drives the clock pin of an ECP5's configuration flash. That pin is no port of a design, so the primitive USRMCLK leads to it.
module weft_prim_flash_clock (
  input logic clk_i
);

  USRMCLK u_clock (
    .USRMCLKI (clk_i),
    .USRMCLKTS(1'b0)
  );

endmodule
