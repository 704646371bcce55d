// SPDX-License-Identifier: Apache-2.0
//
// Transactions: a token for this device, the data packet behind it, the handshake (USB 2.0,
// 8.4.6 and 8.5). Three endpoints: control, bulk OUT, bulk IN.
//
// Only what is whole and expected has an effect. Tokens for another address or for an
// endpoint that is not there are not answered, a bad packet is not answered, a data packet
// longer than the endpoint's is not answered. A halted endpoint answers STALL; OUT data whose
// toggle is not the expected one is acknowledged and dropped; without room it is NAK. SETUP is
// always taken. Our packet begins Turn cycles behind the event that caused it; what has to
// come from the host within Timeout cycles (data behind OUT and SETUP, ACK behind our data)
// and does not ends the transaction, and so does any other packet in its place, of which a token
// begins the next one.
//
// To the endpoints: ctl_sel_o and bulk_sel_o are high from an OUT or SETUP token to the end of its transaction
// if its data is taken; bytes come with data_valid_o, then commit_o for one cycle if they
// count. sent_o and acked_o tell of data that went out.
module weft_usb_device #(
  parameter int unsigned Turn    = 4,
  parameter int unsigned Timeout = 97
) (
  input  logic       clk_i,
  input  logic       rst_ni,       // also low while the bus is in reset

  input  logic       high_speed_i,
  input  logic [6:0] addr_i,
  input  logic       configured_i,

  // from weft_usb_rx and to weft_usb_tx
  input  logic       rx_active_i,
  input  logic [3:0] rx_pid_i,
  input  logic [6:0] rx_addr_i,
  input  logic [3:0] rx_endp_i,
  input  logic       token_i,
  input  logic       handshake_i,
  input  logic       data_begin_i,
  input  logic       data_valid_i,
  input  logic       data_end_i,
  input  logic       bad_i,
  output logic       start_o,
  output logic [3:0] pid_o,
  output logic       more_o,
  output logic [7:0] data_o,
  input  logic       take_i,
  input  logic       tx_busy_i,

  // control endpoint
  output logic       setup_o,      // what is taken is a SETUP's
  output logic       ctl_sel_o,
  output logic       ctl_commit_o,
  output logic       ctl_take_o,
  output logic       ctl_sent_o,
  output logic       ctl_acked_o,
  input  logic       ctl_stall_i,
  input  logic       ctl_room_i,
  input  logic       ctl_toggle_i,       // of OUT data that is expected
  input  logic       ctl_ready_i,        // IN data is there
  input  logic       ctl_in_toggle_i,
  input  logic       ctl_more_i,
  input  logic [7:0] ctl_data_i,

  // bulk OUT
  output logic       bulk_sel_o,
  output logic       bulk_commit_o,
  input  logic       bulk_stall_i,
  input  logic       bulk_room_i,
  input  logic       bulk_toggle_i,

  // bulk IN
  output logic       in_take_o,
  output logic       in_sent_o,
  output logic       in_acked_o,
  input  logic       in_stall_i,
  input  logic       in_ready_i,
  input  logic       in_toggle_i,
  input  logic       in_more_i,
  input  logic [7:0] in_data_i
);

  localparam logic [3:0] PidOut   = 4'b0001;
  localparam logic [3:0] PidIn    = 4'b1001;
  localparam logic [3:0] PidSetup = 4'b1101;
  localparam logic [3:0] PidPing  = 4'b0100;
  localparam logic [3:0] PidData0 = 4'b0011;
  localparam logic [3:0] PidData1 = 4'b1011;
  localparam logic [3:0] PidAck   = 4'b0010;
  localparam logic [3:0] PidNak   = 4'b1010;
  localparam logic [3:0] PidStall = 4'b1110;

  localparam logic [2:0] Idle  = 3'd0;
  localparam logic [2:0] Data  = 3'd1;   // behind OUT or SETUP
  localparam logic [2:0] Delay = 3'd2;
  localparam logic [2:0] Send  = 3'd3;
  localparam logic [2:0] Ack   = 3'd4;   // behind our data

  logic [2:0] state_q;
  logic [6:0] timer_q;
  logic [9:0] len_q;           // payload bytes of the data packet, up to one more than may be
  logic       setup_q, ctl_q;  // the transaction's token
  logic       take_q;          // its data is taken
  logic [3:0] pid_q;

  // ---- tokens ----

  logic       mine, ctl, is_out, bulk_out, bulk_in, known;
  assign mine     = token_i && rx_addr_i == addr_i;
  assign ctl      = rx_endp_i == '0;
  assign is_out   = rx_pid_i == PidOut || (rx_pid_i == PidPing && high_speed_i);
  assign bulk_out = configured_i && rx_endp_i == weft_usb_pkg::EP_OUT_NUMBER && is_out;
  assign bulk_in  = configured_i && rx_endp_i == weft_usb_pkg::EP_IN_NUMBER && rx_pid_i == PidIn;
  assign known    = mine && ((ctl && (is_out || rx_pid_i == PidIn || rx_pid_i == PidSetup)) || bulk_out || bulk_in);

  // ---- data ----

  logic [9:0] most;
  logic       toggle, wanted, stall, room, fits;
  assign most   = ctl_q ? 10'd64 : high_speed_i ? 10'(weft_usb_pkg::PACKET_HIGH) : 10'(weft_usb_pkg::PACKET_FULL);
  assign toggle = rx_pid_i[3];
  assign wanted = rx_pid_i == PidData0 || rx_pid_i == PidData1;
  assign stall  = ctl_q ? ctl_stall_i : bulk_stall_i;
  assign room   = ctl_q ? ctl_room_i : bulk_room_i;
  assign fits   = len_q <= most;

  logic in_order;
  assign in_order = toggle == (ctl_q ? ctl_toggle_i : bulk_toggle_i);

  assign setup_o       = setup_q;
  assign ctl_sel_o     = take_q && ctl_q;
  assign bulk_sel_o    = take_q && !ctl_q;
  logic whole, setup_whole;
  assign whole         = state_q == Data && data_end_i && wanted && fits && !setup_q;
  assign setup_whole   = state_q == Data && data_end_i && setup_q && rx_pid_i == PidData0 && len_q == 10'd8;
  assign ctl_commit_o  = ctl_q && (setup_whole || (whole && take_q));
  assign bulk_commit_o = !ctl_q && whole && take_q;

  assign start_o     = state_q == Delay && timer_q == 7'(Turn);
  assign pid_o       = pid_q;
  assign more_o      = ctl_q ? ctl_more_i : in_more_i;
  assign data_o      = ctl_q ? ctl_data_i : in_data_i;
  assign ctl_take_o  = take_i && ctl_q;
  assign in_take_o   = take_i && !ctl_q;
  logic acked;
  assign ctl_sent_o  = start_o && pid_q[1:0] == 2'b11 && ctl_q;
  assign in_sent_o   = start_o && pid_q[1:0] == 2'b11 && !ctl_q;
  assign acked       = state_q == Ack && handshake_i && rx_pid_i == PidAck;
  assign ctl_acked_o = acked && ctl_q;
  assign in_acked_o  = acked && !ctl_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= Idle;
      timer_q <= '0;
      len_q   <= '0;
      setup_q <= 1'b0;
      ctl_q   <= 1'b0;
      take_q  <= 1'b0;
      pid_q   <= '0;
    end else begin
      timer_q <= timer_q + 7'd1;
      case (state_q)
        Data: begin
          if (rx_active_i) timer_q <= '0;
          if (timer_q == 7'(Timeout)) state_q <= Idle;
          // Whether the data is taken is decided at its begin, by what holds then.
          if (data_begin_i) begin
            len_q  <= '0;
            take_q <= setup_q || (wanted && !stall && in_order && room);
          end
          if (data_valid_i && fits) len_q <= len_q + 10'd1;
          if (bad_i || handshake_i) state_q <= Idle;
          if (data_end_i) begin
            state_q <= Idle;
            timer_q <= '0;
            pid_q   <= PidAck;
            if (setup_whole || whole) state_q <= Delay;
            if (!setup_q && stall) pid_q <= PidStall;
            else if (!setup_q && in_order && !take_q) pid_q <= PidNak;
          end
        end
        Delay: if (start_o) state_q <= Send;
        Send: begin
          timer_q <= '0;
          if (!tx_busy_i) state_q <= pid_q[1:0] == 2'b11 ? Ack : Idle;
        end
        Ack: begin
          if (rx_active_i) timer_q <= '0;
          if (timer_q == 7'(Timeout) || handshake_i || bad_i || data_end_i) state_q <= Idle;
        end
        default: take_q <= 1'b0;   // Idle
      endcase
      if (token_i && state_q != Send && state_q != Delay) begin
        state_q <= Idle;
        take_q  <= 1'b0;
        if (known) begin
          timer_q <= '0;
          setup_q <= rx_pid_i == PidSetup;
          ctl_q   <= ctl;
          if (rx_pid_i == PidIn) begin
            state_q <= Delay;
            if (ctl) pid_q <= ctl_stall_i ? PidStall : !ctl_ready_i ? PidNak : ctl_in_toggle_i ? PidData1 : PidData0;
            else pid_q <= in_stall_i ? PidStall : !in_ready_i ? PidNak : in_toggle_i ? PidData1 : PidData0;
          end else if (rx_pid_i == PidPing) begin
            state_q <= Delay;
            if (ctl) pid_q <= ctl_stall_i ? PidStall : ctl_room_i ? PidAck : PidNak;
            else pid_q <= bulk_stall_i ? PidStall : bulk_room_i ? PidAck : PidNak;
          end else state_q <= Data;
        end
      end
    end
  end

`ifdef WEFT_ASSERT
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      assert (!(ctl_sel_o && bulk_sel_o));
      if (ctl_commit_o || bulk_commit_o) assert (data_end_i && fits && (setup_q || in_order));   // only what is expected
      if (ctl_commit_o && !setup_q) assert (!ctl_stall_i);
      if (bulk_commit_o) assert (!bulk_stall_i && configured_i);
      if (start_o) assert (!tx_busy_i && !rx_active_i);
      assert (!(ctl_acked_o && in_acked_o));
      assert (!take_i || state_q == Send);
    end
  end
`endif

endmodule
