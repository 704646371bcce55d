// SPDX-License-Identifier: Apache-2.0
//
// Transmitter of the full-speed soft PHY: bytes to the two lines, four cycles a bit.
//
// valid_i asks for a packet and stays high until its last byte was taken (ready_o for one
// cycle). SYNC goes in front, a zero behind six ones in a row (also behind the packet's last
// bit), SE0 for two bits and J for one behind. busy_o is high from the cycle after valid_i until the
// lines are no longer driven; oe_o while they are.
module weft_usb_fs_tx (
  input  logic       clk_i,    // 48 MHz
  input  logic       rst_ni,

  input  logic       valid_i,
  output logic       ready_o,
  input  logic [7:0] data_i,
  output logic       busy_o,

  output logic       dp_o,
  output logic       dn_o,
  output logic       oe_o
);

  localparam logic [1:0] Idle = 2'd0;
  localparam logic [1:0] Bits = 2'd1;   // of SYNC and of bytes
  localparam logic [1:0] Se0  = 2'd2;
  localparam logic [1:0] J    = 2'd3;

  logic [1:0] state_q, phase_q;
  logic [2:0] count_q, ones_q;
  logic [7:0] shift_q;
  logic       strobe, stuff;
  assign strobe  = phase_q == '1;
  assign stuff   = ones_q == 3'd6;
  // A byte's last bit is on its way: the next one is wanted.
  assign ready_o = state_q == Bits && strobe && !stuff && count_q == '0 && valid_i;
  assign busy_o  = state_q != Idle;

  // count_q: bits of shift_q that have not gone; 0 when the next byte, or the end, is due.
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= Idle;
      phase_q <= '0;
      count_q <= '0;
      ones_q  <= '0;
      shift_q <= '0;
      dp_o    <= 1'b1;
      dn_o    <= 1'b0;
      oe_o    <= 1'b0;
    end else begin
      phase_q <= phase_q + 2'd1;
      case (state_q)
        Idle: begin
          phase_q <= '0;
          oe_o    <= 1'b0;
          ones_q  <= '0;
          if (valid_i) begin
            // SYNC is KJKJKJKK: the bits 00000001, of which the first goes now.
            state_q <= Bits;
            oe_o    <= 1'b1;
            dp_o    <= 1'b0;
            dn_o    <= 1'b1;
            shift_q <= 8'h40;
            count_q <= 3'd7;
          end
        end
        Bits: begin
          if (strobe) begin
            if (stuff) begin
              ones_q <= '0;
              dp_o   <= !dp_o;
              dn_o   <= !dn_o;
            end else if (count_q == '0 && !valid_i) begin
              state_q <= Se0;
              count_q <= 3'd1;
              dp_o    <= 1'b0;
              dn_o    <= 1'b0;
            end else if (count_q == '0) begin
              shift_q <= {1'b0, data_i[7:1]};
              count_q <= 3'd7;
              ones_q  <= data_i[0] ? ones_q + 3'd1 : '0;
              if (!data_i[0]) begin
                dp_o <= !dp_o;
                dn_o <= !dn_o;
              end
            end else begin
              shift_q <= {1'b0, shift_q[7:1]};
              count_q <= count_q - 3'd1;
              ones_q  <= shift_q[0] ? ones_q + 3'd1 : '0;
              if (!shift_q[0]) begin
                dp_o <= !dp_o;
                dn_o <= !dn_o;
              end
            end
          end
        end
        Se0: begin
          if (strobe) begin
            count_q <= '0;
            if (count_q == '0) begin
              state_q <= J;
              dp_o    <= 1'b1;
            end
          end
        end
        default: begin   // J
          if (strobe) begin
            state_q <= Idle;
            oe_o    <= 1'b0;
          end
        end
      endcase
    end
  end

`ifdef WEFT_ASSERT
  logic [4:0] still_q;    // cycles for which a driven line has not changed
  logic       old_dp_q, old_oe_q;
  always_ff @(posedge clk_i) begin
    old_dp_q <= dp_o;
    old_oe_q <= rst_ni && oe_o;
    still_q  <= oe_o && old_oe_q && dp_o == old_dp_q && dp_o != dn_o ? still_q + 5'd1 : '0;
    if (rst_ni) begin
      assert (still_q < 5'd28);                           // seven bits alike at most
      assert (!oe_o || busy_o);
      assert (!ready_o || valid_i);
      assert (!oe_o || !(dp_o && dn_o));
    end
  end
`endif

endmodule
