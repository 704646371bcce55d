// SPDX-License-Identifier: Apache-2.0
//
// Buffer of the bulk IN endpoint: two packets, one goes out while the other fills.
//
// A packet is closed by its last byte: that of a frame, or the most_i-th. A frame that ends
// with a full packet has an empty one behind it. ready_o: the older packet is closed and can
// go, as often as it takes, until acked_i; data_o is its next byte, more_o says that there is
// one, take_i takes it, begin_i goes back to the first. What take_i and begin_i change shows in more_o and data_o in the
// next cycle. toggle_o is that packet's toggle, toggle_clr_i sets it to 0.
//
// clr_i empties the buffer. If a packet was sent and not acknowledged, an empty packet with the same
// toggle takes its place: the host may have received the packet, and would then drop the next packet with that
// toggle as a repetition.
module weft_usb_in #(
  parameter int unsigned Max = 64   // bytes of a packet, a power of two
) (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic       clr_i,
  input  logic       toggle_clr_i,
  input  logic [9:0] most_i,       // at most Max

  input  logic       valid_i,
  output logic       ready_o,
  input  logic [7:0] data_i,
  input  logic       last_i,

  output logic       packet_o,     // a packet can go
  output logic       any_o,        // something is in here
  output logic       toggle_o,
  input  logic       begin_i,
  input  logic       sent_i,
  output logic       more_o,
  output logic [7:0] data_o,
  input  logic       take_i,
  input  logic       acked_i
);

  localparam int unsigned W = $clog2(Max);

  logic [7:0] mem [2*Max];
  logic [W:0] len_q [2];
  logic [1:0] full_q;
  logic       wsel_q, rsel_q, empty_q, sent_q;   // empty_q: an empty packet is owed
  logic [W:0] wpos_q, rpos_q, rpos_d;
  logic       push, closes, fills, more_q;
  assign ready_o  = !full_q[wsel_q] && !empty_q;
  assign push     = valid_i && ready_o;
  assign fills    = 10'(wpos_q) + 10'd1 == most_i;
  assign closes   = push && (last_i || fills);
  assign packet_o = full_q[rsel_q];
  assign any_o    = full_q != '0 || wpos_q != '0 || empty_q;
  assign more_o   = more_q;
  assign rpos_d   = begin_i ? '0 : rpos_q + (W+1)'(take_i);

  always_ff @(posedge clk_i) begin
    if (push) mem[{wsel_q, wpos_q[W-1:0]}] <= data_i;
    data_o <= mem[{rsel_q, rpos_d[W-1:0]}];
    more_q <= rpos_d < len_q[rsel_q];
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      full_q  <= '0;
      wsel_q  <= 1'b0;
      rsel_q  <= 1'b0;
      empty_q <= 1'b0;
      sent_q  <= 1'b0;
      wpos_q  <= '0;
      rpos_q  <= '0;
      for (int unsigned i = 0; i < 2; i++) len_q[i] <= '0;
    end else begin
      rpos_q <= rpos_d;
      if (sent_i) sent_q <= 1'b1;
      if (push) begin
        wpos_q <= closes ? '0 : wpos_q + (W+1)'(1);
        if (fills && last_i) empty_q <= 1'b1;
      end
      if (closes || (empty_q && !full_q[wsel_q])) begin
        full_q[wsel_q] <= 1'b1;
        len_q[wsel_q]  <= empty_q ? '0 : wpos_q + (W+1)'(1);
        wsel_q         <= !wsel_q;
      end
      if (empty_q && !full_q[wsel_q]) empty_q <= 1'b0;
      if (acked_i) begin
        full_q[rsel_q] <= 1'b0;
        rsel_q         <= !rsel_q;
        sent_q         <= 1'b0;
      end
      if (clr_i) begin
        empty_q        <= 1'b0;
        wpos_q         <= '0;
        full_q         <= '0;
        if (sent_q && !acked_i && !toggle_clr_i) begin
          full_q[rsel_q] <= 1'b1;
          len_q[rsel_q]  <= '0;
          wsel_q         <= !rsel_q;
        end else begin
          wsel_q <= acked_i ? !rsel_q : rsel_q;
        end
      end
    end
    if (!rst_ni || toggle_clr_i) toggle_o <= 1'b0;
    else if (acked_i) toggle_o <= !toggle_o;
    // The host expects toggle 0 now, so there is nothing that it could take for a repetition.
    if (rst_ni && toggle_clr_i) sent_q <= 1'b0;
  end

`ifdef WEFT_ASSERT
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      assert (32'(most_i) <= Max);
      if (acked_i || sent_i) assert (packet_o);
      if (take_i) assert (more_o && rpos_q < len_q[rsel_q]);
      if (packet_o) assert (10'(len_q[rsel_q]) <= most_i);
      if (sent_q) assert (full_q[rsel_q]);
    end
  end
`endif

endmodule
