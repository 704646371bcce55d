// SPDX-License-Identifier: Apache-2.0
//
// Crossing of a stream: a FIFO that is written with one clock and read with another. Each
// side's place goes to the other as a Gray code, of which one bit changes at a time.
//
// Words come out in order, none twice, none lost. hold of a side stops it: it neither takes
// nor gives. clr of a side stops it and sets its place to the first one: both sides are to be
// cleared while the other one is held or cleared, in any order, and the first to go on waits until
// the other's place has come across (two cycles).
//
// One of the two crossings between clocks of this project; the other is weft_usb_cross_level.
module weft_usb_cross_bytes #(
  parameter int unsigned Width = 8,
  parameter int unsigned Depth = 16   // a power of two
) (
  input  logic             wclk_i,
  input  logic             wrst_ni,
  input  logic             whold_i,
  input  logic             wclr_i,
  input  logic             wvalid_i,
  output logic             wready_o,
  input  logic [Width-1:0] wdata_i,

  input  logic             rclk_i,
  input  logic             rrst_ni,
  input  logic             rhold_i,
  input  logic             rclr_i,
  output logic             rvalid_o,
  input  logic             rready_i,
  output logic [Width-1:0] rdata_o
);

  localparam int unsigned P = $clog2(Depth);

  logic [Width-1:0] mem [Depth];
  logic [P:0]       w_q, w_d, w_gray_q, w_seen, r_q, r_d, r_gray_q, r_seen;
  logic             push, pop;

  // Full: the reader is a whole turn behind, which in Gray code flips the two upper bits.
  assign wready_o = !whold_i && !wclr_i && w_gray_q != {~r_seen[P:P-1], r_seen[P-2:0]};
  assign push     = wvalid_i && wready_o;
  assign w_d      = w_q + (P+1)'(push);
  always_ff @(posedge wclk_i) begin
    if (push) mem[w_q[P-1:0]] <= wdata_i;
    if (!wrst_ni || wclr_i) begin
      w_q      <= '0;
      w_gray_q <= '0;
    end else begin
      w_q      <= w_d;
      w_gray_q <= w_d ^ (w_d >> 1);
    end
  end
  weft_usb_cross_level #(
    .Width(P + 1)
  ) u_r_seen (
    .clk_i(wclk_i),
    .d_i  (r_gray_q),
    .q_o  (r_seen)
  );

  assign rvalid_o = !rhold_i && !rclr_i && r_gray_q != w_seen;
  assign rdata_o  = mem[r_q[P-1:0]];
  assign pop      = rvalid_o && rready_i;
  assign r_d      = r_q + (P+1)'(pop);
  always_ff @(posedge rclk_i) begin
    if (!rrst_ni || rclr_i) begin
      r_q      <= '0;
      r_gray_q <= '0;
    end else begin
      r_q      <= r_d;
      r_gray_q <= r_d ^ (r_d >> 1);
    end
  end
  weft_usb_cross_level #(
    .Width(P + 1)
  ) u_w_seen (
    .clk_i(rclk_i),
    .d_i  (w_gray_q),
    .q_o  (w_seen)
  );

`ifdef WEFT_ASSERT
  // One bit of a place changes at a time, unless its side is cleared.
  logic [P:0] w_old_q, r_old_q;
  logic       w_on_q, r_on_q;
  always_ff @(posedge wclk_i) begin
    w_old_q <= w_gray_q;
    w_on_q  <= wrst_ni && !wclr_i;
    if (w_on_q && wrst_ni) assert (((w_gray_q ^ w_old_q) & ((w_gray_q ^ w_old_q) - (P+1)'(1))) == '0);
  end
  always_ff @(posedge rclk_i) begin
    r_old_q <= r_gray_q;
    r_on_q  <= rrst_ni && !rclr_i;
    if (r_on_q && rrst_ni) assert (((r_gray_q ^ r_old_q) & ((r_gray_q ^ r_old_q) - (P+1)'(1))) == '0);
  end
`endif

endmodule
