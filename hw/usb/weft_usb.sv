// SPDX-License-Identifier: Apache-2.0
//
// USB device: a PHY's packets on one side, the chip's two byte streams and sideband on the
// other, each with its own clock.
//
// clk_usb_i is the PHY's. Everything between the domains goes through weft_usb_cross_bytes
// and weft_usb_cross_level. LINK_RESET, CHIP_RESET and a reset of the bus empty both streams
// on both sides: nothing moves meanwhile, and link_reset_o or chip_reset_o is high for one
// cycle of clk_i. A request is done when that is over.
module weft_usb #(
  parameter bit          HighSpeed     = 1'b0,     // the PHY is able to
  parameter int unsigned Turn          = 4,        // of weft_usb_device
  parameter int unsigned Timeout       = 97,
  parameter int unsigned ResetCycles   = 144,      // of weft_usb_bus
  parameter int unsigned SuspendCycles = 144_000
) (
  input  logic         clk_usb_i,
  input  logic         clk_i,
  input  logic         rst_ni,          // power, of clk_i
  input  logic [127:0] serial_i,        // constant

  // PHY: weft_usb_fs_phy
  input  logic         rx_active_i,
  input  logic         rx_valid_i,
  input  logic [7:0]   rx_data_i,
  input  logic         rx_error_i,
  output logic         tx_valid_o,
  input  logic         tx_ready_i,
  output logic [7:0]   tx_data_o,
  input  logic         tx_busy_i,
  input  logic [1:0]   line_state_i,
  input  logic         high_speed_i,
  output logic         rst_usb_no,      // power, of clk_usb_i
  output logic         suspend_o,
  output logic         configured_o,

  // chip: docs/chip.md
  output logic         in_valid_o,
  input  logic         in_ready_i,
  output logic [7:0]   in_data_o,
  input  logic         out_valid_i,
  output logic         out_ready_o,
  input  logic [7:0]   out_data_i,
  input  logic         out_last_i,
  output logic         link_reset_o,
  output logic         chip_reset_o,
  input  logic         link_error_i,
  input  logic         link_full_i,
  input  logic         core_sleep_i
);

  localparam int unsigned Max = HighSpeed ? weft_usb_pkg::PACKET_HIGH : weft_usb_pkg::PACKET_FULL;

  logic rst_n, bus_reset;
  weft_usb_cross_level u_rst (
    .clk_i(clk_usb_i),
    .d_i  (rst_ni),
    .q_o  (rst_n)
  );
  assign rst_usb_no = rst_n;

  weft_usb_bus #(
    .ResetCycles  (ResetCycles),
    .SuspendCycles(SuspendCycles)
  ) u_bus (
    .clk_i       (clk_usb_i),
    .rst_ni      (rst_n),
    .line_state_i,
    .tx_busy_i,
    .reset_o     (bus_reset),
    .suspend_o
  );

  // ---- packets and transactions ----

  logic [3:0] rx_pid, rx_endp, tx_pid;
  logic [6:0] rx_addr, addr;
  logic [7:0] rx_byte, tx_byte;
  logic       token, handshake, data_begin, data_valid, data_end, bad;
  logic       tx_start, tx_more, tx_take, tx_busy;
  weft_usb_rx u_rx (
    .clk_i       (clk_usb_i),
    .rst_ni      (rst_n),
    .rx_active_i,
    .rx_valid_i,
    .rx_data_i,
    .rx_error_i,
    .pid_o       (rx_pid),
    .addr_o      (rx_addr),
    .endp_o      (rx_endp),
    .token_o     (token),
    .handshake_o (handshake),
    .data_begin_o(data_begin),
    .data_valid_o(data_valid),
    .data_o      (rx_byte),
    .data_end_o  (data_end),
    .bad_o       (bad)
  );

  weft_usb_tx u_tx (
    .clk_i     (clk_usb_i),
    .rst_ni    (rst_n),
    .start_i   (tx_start),
    .pid_i     (tx_pid),
    .more_i    (tx_more),
    .data_i    (tx_byte),
    .take_o    (tx_take),
    .busy_o    (tx_busy),
    .tx_valid_o,
    .tx_ready_i,
    .tx_data_o,
    .tx_busy_i
  );

  logic       setup, ctl_sel, ctl_commit, ctl_take, ctl_sent, ctl_acked, ctl_stall, ctl_room, ctl_ready, ctl_toggle, ctl_more;
  logic [7:0] ctl_byte, in_byte;
  logic       bulk_sel, bulk_commit, bulk_room, bulk_toggle, halt_out, halt_in;
  logic       in_take, in_sent, in_acked, in_packet, in_toggle, in_more;
  weft_usb_device #(
    .Turn   (Turn),
    .Timeout(Timeout)
  ) u_device (
    .clk_i          (clk_usb_i),
    .rst_ni         (rst_n && !bus_reset),
    .high_speed_i,
    .addr_i         (addr),
    .configured_i   (configured_o),
    .rx_active_i,
    .rx_pid_i       (rx_pid),
    .rx_addr_i      (rx_addr),
    .rx_endp_i      (rx_endp),
    .token_i        (token),
    .handshake_i    (handshake),
    .data_begin_i   (data_begin),
    .data_valid_i   (data_valid),
    .data_end_i     (data_end),
    .bad_i          (bad),
    .start_o        (tx_start),
    .pid_o          (tx_pid),
    .more_o         (tx_more),
    .data_o         (tx_byte),
    .take_i         (tx_take),
    .tx_busy_i      (tx_busy),
    .setup_o        (setup),
    .ctl_sel_o      (ctl_sel),
    .ctl_commit_o   (ctl_commit),
    .ctl_take_o     (ctl_take),
    .ctl_sent_o     (ctl_sent),
    .ctl_acked_o    (ctl_acked),
    .ctl_stall_i    (ctl_stall),
    .ctl_room_i     (ctl_room),
    .ctl_toggle_i   (1'b1),
    .ctl_ready_i    (ctl_ready),
    .ctl_in_toggle_i(ctl_toggle),
    .ctl_more_i     (ctl_more),
    .ctl_data_i     (ctl_byte),
    .bulk_sel_o     (bulk_sel),
    .bulk_commit_o  (bulk_commit),
    .bulk_stall_i   (halt_out),
    .bulk_room_i    (bulk_room),
    .bulk_toggle_i  (bulk_toggle),
    .in_take_o      (in_take),
    .in_sent_o      (in_sent),
    .in_acked_o     (in_acked),
    .in_stall_i     (halt_in),
    .in_ready_i     (in_packet),
    .in_toggle_i    (in_toggle),
    .in_more_i      (in_more),
    .in_data_i      (in_byte)
  );

  // ---- endpoints ----

  logic       clr_out, clr_in, flush, flush_chip, flush_busy, in_any, link_pending;
  logic [3:0] chip_status, status;
  weft_usb_control #(
    .HighSpeed(HighSpeed)
  ) u_control (
    .clk_i       (clk_usb_i),
    .rst_ni      (rst_n),
    .bus_reset_i (bus_reset),
    .high_speed_i,
    .serial_i,
    .status_i    (status),
    .addr_o      (addr),
    .configured_o,
    .halt_out_o  (halt_out),
    .halt_in_o   (halt_in),
    .clr_out_o   (clr_out),
    .clr_in_o    (clr_in),
    .flush_o     (flush),
    .flush_chip_o(flush_chip),
    .flush_busy_i(flush_busy),
    .setup_i     (setup),
    .sel_i       (ctl_sel),
    .valid_i     (data_valid),
    .data_i      (rx_byte),
    .commit_i    (ctl_commit),
    .stall_o     (ctl_stall),
    .room_o      (ctl_room),
    .ready_o     (ctl_ready),
    .toggle_o    (ctl_toggle),
    .more_o      (ctl_more),
    .data_o      (ctl_byte),
    .take_i      (ctl_take),
    .sent_i      (ctl_sent),
    .acked_i     (ctl_acked)
  );

  logic       empty_now, up_valid, up_ready, down_valid, down_ready, down_last;
  logic [7:0] up_byte, down_byte;
  weft_usb_out #(
    .Max(Max)
  ) u_out (
    .clk_i       (clk_usb_i),
    .rst_ni      (rst_n),
    .clr_i       (empty_now),
    .toggle_clr_i(clr_out || bus_reset),
    .begin_i     (data_begin),
    .sel_i       (bulk_sel),
    .valid_i     (data_valid),
    .data_i      (rx_byte),
    .commit_i    (bulk_commit),
    .room_o      (bulk_room),
    .toggle_o    (bulk_toggle),
    .valid_o     (up_valid),
    .ready_i     (up_ready),
    .data_o      (up_byte)
  );

  weft_usb_in #(
    .Max(Max)
  ) u_in (
    .clk_i       (clk_usb_i),
    .rst_ni      (rst_n),
    .clr_i       (empty_now),
    .toggle_clr_i(clr_in || bus_reset),
    .most_i      (HighSpeed && high_speed_i ? 10'(weft_usb_pkg::PACKET_HIGH) : 10'(weft_usb_pkg::PACKET_FULL)),
    .valid_i     (down_valid),
    .ready_o     (down_ready),
    .data_i      (down_byte),
    .last_i      (down_last),
    .packet_o    (in_packet),
    .any_o       (in_any),
    .toggle_o    (in_toggle),
    .begin_i     (in_sent),
    .sent_i      (in_sent),
    .more_o      (in_more),
    .data_o      (in_byte),
    .take_i      (in_take),
    .acked_i     (in_acked)
  );

  // ---- to the chip and back ----

  // Emptying both streams: ask (nothing moves here any more), the chip's side stops and
  // clears, ours clears, we stop asking, the chip's side goes on, so do we.
  logic req_q, req_chip_q, clear_q, ack, old_reset_q, begin_flush;
  assign begin_flush = flush || (bus_reset && !old_reset_q);
  assign empty_now   = begin_flush;
  assign flush_busy  = req_q || clear_q;
  always_ff @(posedge clk_usb_i) begin
    old_reset_q <= bus_reset;
    if (!rst_n) begin
      req_q      <= 1'b0;
      req_chip_q <= 1'b0;
      clear_q    <= 1'b0;
    end else if (!flush_busy) begin
      req_q      <= begin_flush;
      req_chip_q <= flush && flush_chip;
    end else if (req_q && ack) begin
      clear_q <= 1'b1;
      req_q   <= !clear_q;
    end else if (!req_q && !ack) clear_q <= 1'b0;
  end

  logic       req, req_chip, ack_q, reset_q;
  logic [1:0] go_q;          // cycles since we were no longer asked
  weft_usb_cross_level #(
    .Width(2)
  ) u_req (
    .clk_i,
    .d_i  ({req_chip_q, req_q}),
    .q_o  ({req_chip, req})
  );
  weft_usb_cross_level u_ack (
    .clk_i(clk_usb_i),
    .d_i  (ack_q),
    .q_o  (ack)
  );
  assign link_reset_o = reset_q && !req_chip;
  assign chip_reset_o = reset_q && req_chip;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      ack_q   <= 1'b0;
      reset_q <= 1'b0;
      go_q    <= '0;
    end else begin
      reset_q <= req && !ack_q;      // one cycle behind, when both bits are across
      go_q    <= req ? '0 : go_q + 2'd1;
      if (req) ack_q <= 1'b1;
      else if (go_q == 2'd2) ack_q <= 1'b0;
    end
  end

  weft_usb_cross_bytes u_up (
    .wclk_i  (clk_usb_i),
    .wrst_ni (rst_n),
    .whold_i (flush_busy || begin_flush),
    .wclr_i  (clear_q),
    .wvalid_i(up_valid),
    .wready_o(up_ready),
    .wdata_i (up_byte),
    .rclk_i  (clk_i),
    .rrst_ni (rst_ni),
    .rhold_i (req),
    .rclr_i  (ack_q),
    .rvalid_o(in_valid_o),
    .rready_i(in_ready_i),
    .rdata_o (in_data_o)
  );
  weft_usb_cross_bytes #(
    .Width(9)
  ) u_down (
    .wclk_i  (clk_i),
    .wrst_ni (rst_ni),
    .whold_i (req),
    .wclr_i  (ack_q),
    .wvalid_i(out_valid_i),
    .wready_o(out_ready_o),
    .wdata_i ({out_last_i, out_data_i}),
    .rclk_i  (clk_usb_i),
    .rrst_ni (rst_n),
    .rhold_i (flush_busy || begin_flush),
    .rclr_i  (clear_q),
    .rvalid_o(down_valid),
    .rready_i(down_ready),
    .rdata_o ({down_last, down_byte})
  );

  weft_usb_cross_level #(
    .Width(4)
  ) u_status (
    .clk_i(clk_usb_i),
    .d_i  ({core_sleep_i, out_valid_i, link_full_i, link_error_i}),
    .q_o  (chip_status)
  );
  assign link_pending = chip_status[2] || down_valid || in_any;
  always_comb begin
    status = '0;
    status[weft_usb_pkg::STATUS_LINK_ERROR_BIT] = chip_status[0];
    status[weft_usb_pkg::STATUS_RX_FULL_BIT]    = chip_status[1];
    status[weft_usb_pkg::STATUS_IN_PENDING_BIT] = link_pending;
    status[weft_usb_pkg::STATUS_CORE_IDLE_BIT]  = chip_status[3];
  end

`ifdef WEFT_ASSERT
  always_ff @(posedge clk_usb_i) begin
    if (rst_n) begin
      if (flush_busy) assert (!(up_valid && up_ready) && !down_valid);   // nothing moves meanwhile
      if (clear_q && req_q) assert (ack);
    end
  end
  logic old_link_q, old_chip_q;
  always_ff @(posedge clk_i) begin
    old_link_q <= rst_ni && link_reset_o;
    old_chip_q <= rst_ni && chip_reset_o;
    if (rst_ni) begin
      assert (!(link_reset_o && (chip_reset_o || old_link_q)) && !(chip_reset_o && old_chip_q));   // for one cycle
      if (link_reset_o || chip_reset_o) assert (!in_valid_o && !out_ready_o);
    end
  end
`endif

endmodule
