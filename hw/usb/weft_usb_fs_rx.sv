// SPDX-License-Identifier: Apache-2.0
//
// Receiver of the full-speed soft PHY: the two lines at four samples a bit to bytes.
//
// A change between J and K sets the place of the sample, which is the second of the four; a
// moment in which both lines are alike, as long as one sample, is not looked at. A packet
// begins behind the last six bits of SYNC and ends with SE0: active_o is high meanwhile, and
// falls when the line has left SE0. valid_o shows each byte for one cycle, never without
// active_o. error_o comes, while active_o is high, with a seventh one in a row (bit
// stuffing), and with an end that is not at a byte; one bit too many, which a hub may add, is
// none. A packet without an end is given up behind sixteen bits without a change.
module weft_usb_fs_rx (
  input  logic       clk_i,    // 48 MHz
  input  logic       rst_ni,

  input  logic       dp_i,     // lines, at any time
  input  logic       dn_i,
  input  logic       hold_i,   // we are sending: nothing is received

  output logic       active_o,
  output logic       valid_o,
  output logic [7:0] data_o,
  output logic       error_o,
  output logic [1:0] line_state_o   // D-, D+ as sampled
);

  localparam logic [1:0] Idle   = 2'd0;
  localparam logic [1:0] Packet = 2'd1;
  localparam logic [1:0] Broken = 2'd2;   // until its end
  localparam logic [1:0] End    = 2'd3;   // in SE0

  logic       dp, dn, j_q, j_d, se0, se0_q;
  logic [1:0] phase_q;
  logic       strobe, bit_se0;
  weft_usb_cross_level #(
    .Width(2)
  ) u_lines (
    .clk_i,
    .d_i  ({dn_i, dp_i}),
    .q_o  ({dn, dp})
  );
  assign line_state_o = {dn, dp};
  assign j_d     = dp != dn ? dp : j_q;
  assign se0     = !dp && !dn;
  assign strobe  = phase_q == 2'd1;      // j_q and se0_q are the second sample of a bit
  assign bit_se0 = se0 && se0_q;

  // Bits: a one is no change.
  logic       last_j_q, one;
  logic [1:0] state_q;
  logic [4:0] sync_q;
  logic [4:0] ones_q;     // in a row, up to 16
  logic [2:0] count_q;
  logic [7:0] shift_q;
  assign one = j_q == last_j_q;

  assign active_o = state_q != Idle;
  assign data_o   = shift_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      j_q      <= 1'b1;
      se0_q    <= 1'b0;
      phase_q  <= '0;
      last_j_q <= 1'b1;
      state_q  <= Idle;
      sync_q   <= '1;
      ones_q   <= '0;
      count_q  <= '0;
      shift_q  <= '0;
      valid_o  <= 1'b0;
      error_o  <= 1'b0;
    end else begin
      j_q     <= j_d;
      se0_q   <= se0;
      phase_q <= j_d != j_q ? '0 : phase_q + 2'd1;
      valid_o <= 1'b0;
      error_o <= 1'b0;
      if (hold_i) begin
        // Nothing is under way when we begin to send, unless two speak at once.
        state_q  <= Idle;
        sync_q   <= '1;
        last_j_q <= 1'b1;
      end else if (strobe) begin
        last_j_q <= j_q;
        sync_q   <= {sync_q[3:0], one};
        ones_q   <= !one ? '0 : ones_q[4] ? ones_q : ones_q + 5'd1;
        case (state_q)
          Idle: begin
            ones_q  <= 5'd1;
            count_q <= '0;
            if (bit_se0) sync_q <= '1;
            else if (one && sync_q == '0) state_q <= Packet;
          end
          Packet: begin
            if (bit_se0) begin
              state_q <= End;
              error_o <= count_q > 3'd1;
            end else if (ones_q == 5'd6) begin
              // The bit that was stuffed.
              if (one) begin
                state_q <= Broken;
                error_o <= 1'b1;
              end
            end else begin
              shift_q <= {one, shift_q[7:1]};
              count_q <= count_q + 3'd1;
              valid_o <= count_q == '1;
            end
          end
          Broken: begin
            if (bit_se0) state_q <= End;
            else if (ones_q[4]) state_q <= Idle;
          end
          default: begin   // End
            sync_q <= '1;
            if (!bit_se0) begin
              state_q  <= Idle;
              last_j_q <= 1'b1;
            end
          end
        endcase
      end
    end
  end

`ifdef WEFT_ASSERT
  logic active_old_q, se0_old_q;
  always_ff @(posedge clk_i) begin
    active_old_q <= rst_ni && active_o;
    se0_old_q    <= bit_se0;
    if (rst_ni) begin
      assert (!valid_o || active_o);                       // never without active_o
      assert (!error_o || active_o);
      if (active_old_q && !active_o && !hold_i) assert (!se0_old_q || ones_q[4]);   // falls when the line has left SE0
    end
  end
`endif

endmodule
