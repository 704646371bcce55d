// SPDX-License-Identifier: Apache-2.0
//
// Buffer of the bulk OUT endpoint: two packets, one comes while the other leaves as bytes.
//
// Bytes of a packet are written while sel_i is high, from its begin on, and count when
// commit_i comes. room_o: a whole packet can be taken. An empty packet leaves nothing.
// toggle_o is the toggle of the next packet; toggle_clr_i sets it to 0. clr_i empties the
// buffer and nothing else. A byte on the way out stays until it is taken, or until clr_i.
module weft_usb_out #(
  parameter int unsigned Max = 64   // bytes of a packet, a power of two
) (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic       clr_i,
  input  logic       toggle_clr_i,

  input  logic       begin_i,      // a data packet begins
  input  logic       sel_i,
  input  logic       valid_i,
  input  logic [7:0] data_i,
  input  logic       commit_i,
  output logic       room_o,
  output logic       toggle_o,

  output logic       valid_o,
  input  logic       ready_i,
  output logic [7:0] data_o
);

  localparam int unsigned W = $clog2(Max);

  logic [7:0] mem [2*Max];
  logic [W:0] len_q [2];
  logic [1:0] full_q;
  logic       wsel_q, rsel_q, fresh_q;   // fresh_q: data_o is the byte at rpos_q
  logic [W:0] wpos_q, rpos_q;
  logic       write, pop;
  assign room_o  = !full_q[wsel_q];
  assign write   = sel_i && valid_i && !wpos_q[W];
  assign valid_o = full_q[rsel_q] && fresh_q;
  assign pop     = valid_o && ready_i;

  always_ff @(posedge clk_i) begin
    if (write) mem[{wsel_q, wpos_q[W-1:0]}] <= data_i;
    data_o <= mem[{rsel_q, rpos_q[W-1:0]}];
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni || clr_i) begin
      full_q  <= '0;
      wsel_q  <= 1'b0;
      rsel_q  <= 1'b0;
      fresh_q <= 1'b0;
      wpos_q  <= '0;
      rpos_q  <= '0;
    end else begin
      if (begin_i) wpos_q <= '0;
      else if (write) wpos_q <= wpos_q + (W+1)'(1);
      fresh_q <= full_q[rsel_q] && !pop;
      if (pop) begin
        rpos_q <= rpos_q + (W+1)'(1);
        if (rpos_q + (W+1)'(1) == len_q[rsel_q]) begin
          full_q[rsel_q] <= 1'b0;
          rsel_q         <= !rsel_q;
          rpos_q         <= '0;
        end
      end
      if (commit_i && wpos_q != '0) begin
        full_q[wsel_q] <= 1'b1;
        len_q[wsel_q]  <= wpos_q;
        wsel_q         <= !wsel_q;
      end
    end
    if (!rst_ni || toggle_clr_i) toggle_o <= 1'b0;
    else if (commit_i) toggle_o <= !toggle_o;
  end

`ifdef WEFT_ASSERT
  logic       old_wait_q;
  logic [7:0] old_data_q;
  always_ff @(posedge clk_i) begin
    old_wait_q <= rst_ni && valid_o && !ready_i && !clr_i;
    old_data_q <= data_o;
    if (rst_ni) begin
      if (old_wait_q) assert (valid_o && data_o == old_data_q);   // stays until it is taken
      if (commit_i) assert (room_o);                              // nothing is overwritten
      if (pop) assert (rpos_q < len_q[rsel_q]);
    end
  end
`endif

endmodule
