// SPDX-License-Identifier: Apache-2.0
//
// The host link: two byte streams, frames, message buffers, bulk reads and
// writes of card memory inside the fence (docs/protocol.md), and its registers
// (docs/chip.md, link_*).
//
// Reset of the chip is rst_ni. rst_link_ni resets what the host's link reset
// resets: the frames, the message that came and the one to be sent; registers
// and counters stay. link_written stays until power goes (rst_power_ni). Whoever drives it isolates the memory port meanwhile.
// Registers answer in the cycle of the request.
module weft_link #(
  parameter int unsigned Bytes = 16   // of a bus word
) (
  input  logic               clk_i,
  input  logic               rst_power_ni,
  input  logic               rst_ni,
  input  logic               rst_link_ni,

  input  logic               in_valid_i,
  output logic               in_ready_o,
  input  logic [7:0]         in_data_i,
  output logic               out_valid_o,
  input  logic               out_ready_i,
  output logic [7:0]         out_data_o,
  output logic               out_last_o,

  input  logic               reg_req_i,
  input  logic               reg_write_i,
  input  logic [11:0]        reg_addr_i,
  input  logic [31:0]        reg_wdata_i,
  output logic [31:0]        reg_rdata_o,
  input  logic [31:0]        dram_bytes_i,
  output logic               rx_valid_o,
  output logic               tx_busy_o,
  output logic               error_o,
  output logic               busy_o,

  output logic               m_arvalid_o,
  input  logic               m_arready_i,
  output logic [31:0]        m_araddr_o,
  output logic [7:0]         m_arlen_o,
  input  logic               m_rvalid_i,
  input  logic [8*Bytes-1:0] m_rdata_i,
  input  logic               m_rerror_i,
  output logic               m_awvalid_o,
  input  logic               m_awready_i,
  output logic [31:0]        m_awaddr_o,
  output logic [7:0]         m_awlen_o,
  output logic               m_wvalid_o,
  input  logic               m_wready_i,
  output logic [8*Bytes-1:0] m_wdata_o,
  output logic [Bytes-1:0]   m_wstrb_o,
  input  logic               m_bvalid_i,
  input  logic               m_berror_i
);

  logic [31:0] fence_base_q, fence_limit_q;
  logic        fence_read_q, fence_write_q;

  logic [15:0] seq;
  logic [31:0] addr, ack_status, msg_data;
  logic [20:0] len;
  logic        write_start, write_valid, write_ready, write_busy, write_error;
  logic [7:0]  write_data;
  logic        read_valid, read_done, ack_valid, ack_ready, msg_write, msg_done;
  logic [15:0] ack_seq;
  logic [6:0]  msg_word;
  logic        good_header, bad_header, bad_payload, refused, rx_busy;
  logic        rx_valid_q;

  weft_link_rx u_rx (
    .clk_i,
    .rst_ni       (rst_link_ni),
    .in_valid_i,
    .in_ready_o,
    .in_data_i,
    .fence_base_i (fence_base_q),
    .fence_limit_i(fence_limit_q),
    .fence_read_i (fence_read_q),
    .fence_write_i(fence_write_q),
    .dram_bytes_i,
    .seq_o        (seq),
    .addr_o       (addr),
    .len_o        (len),
    .write_start_o(write_start),
    .write_valid_o(write_valid),
    .write_data_o (write_data),
    .write_ready_i(write_ready),
    .write_busy_i (write_busy),
    .write_error_i(write_error),
    .read_valid_o (read_valid),
    .read_done_i  (read_done),
    .ack_valid_o  (ack_valid),
    .ack_seq_o    (ack_seq),
    .ack_status_o (ack_status),
    .ack_ready_i  (ack_ready),
    .msg_full_i   (rx_valid_q),
    .msg_write_o  (msg_write),
    .msg_word_o   (msg_word),
    .msg_data_o   (msg_data),
    .msg_done_o   (msg_done),
    .good_header_o(good_header),
    .bad_header_o (bad_header),
    .bad_payload_o(bad_payload),
    .refused_o    (refused),
    .error_o,
    .busy_o       (rx_busy)
  );

  weft_link_write #(
    .Bytes(Bytes)
  ) u_write (
    .clk_i,
    .rst_ni     (rst_link_ni),
    .start_i    (write_start),
    .addr_i     (addr),
    .len_i      (len),
    .valid_i    (write_valid),
    .ready_o    (write_ready),
    .data_i     (write_data),
    .busy_o     (write_busy),
    .error_o    (write_error),
    .m_awvalid_o,
    .m_awready_i,
    .m_awaddr_o,
    .m_awlen_o,
    .m_wvalid_o,
    .m_wready_i,
    .m_wdata_o,
    .m_wstrb_o,
    .m_bvalid_i,
    .m_berror_i
  );

  logic       byte_valid, byte_ready, byte_error, read_start, read_busy;
  logic [7:0] byte_data;
  weft_link_read #(
    .Bytes(Bytes)
  ) u_read (
    .clk_i,
    .rst_ni     (rst_link_ni),
    .start_i    (read_start),
    .addr_i     (addr),
    .len_i      (len),
    .valid_o    (byte_valid),
    .ready_i    (byte_ready),
    .data_o     (byte_data),
    .busy_o     (read_busy),
    .error_o    (byte_error),
    .m_arvalid_o,
    .m_arready_i,
    .m_araddr_o,
    .m_arlen_o,
    .m_rvalid_i,
    .m_rdata_i,
    .m_rerror_i
  );

  logic        tx_busy_q, tx_done, tx_active;
  logic [31:0] tx_len_q, tx_seq_q, tx_data;
  logic [6:0]  tx_word;
  weft_link_tx u_tx (
    .clk_i,
    .rst_ni      (rst_link_ni),
    .stop_i      (error_o),
    .ack_valid_i (ack_valid),
    .ack_seq_i   (ack_seq),
    .ack_status_i(ack_status),
    .ack_ready_o (ack_ready),
    .read_valid_i(read_valid),
    .read_seq_i  (seq),
    .read_addr_i (addr),
    .read_len_i  (len),
    .read_start_o(read_start),
    .read_done_o (read_done),
    .byte_valid_i(byte_valid),
    .byte_ready_o(byte_ready),
    .byte_data_i (byte_data),
    .byte_error_i(byte_error),
    .msg_valid_i (tx_busy_q),
    .msg_seq_i   (tx_seq_q[15:0]),
    .msg_len_i   (tx_len_q[9:0]),
    .msg_word_o  (tx_word),
    .msg_data_i  (tx_data),
    .msg_done_o  (tx_done),
    .out_valid_o,
    .out_ready_i,
    .out_data_o,
    .out_last_o,
    .busy_o      (tx_active)
  );

  // In the error state a message waits for the link reset, so nothing moves.
  assign rx_valid_o = rx_valid_q;
  assign tx_busy_o  = tx_busy_q;
  assign busy_o     = rx_busy || write_busy || read_busy || tx_active || (tx_busy_q && !error_o);

  // ---- message buffers ----

  logic [31:0] rx_buf [128];
  logic [31:0] tx_buf [128];
  logic        write, tx_write, send, send_ok;
  assign write    = reg_req_i && reg_write_i;
  assign tx_write = write && reg_addr_i[11:9] == weft_chip_pkg::LINK_TX_ADDR[11:9];
  assign send     = write && reg_addr_i == weft_chip_pkg::LINK_TX_SEND_ADDR && reg_wdata_i[0];
  assign send_ok  = tx_len_q >= weft_link_pkg::MSG_MIN && tx_len_q <= weft_link_pkg::MSG_MAX && tx_len_q[1:0] == 2'b00;
  assign tx_data  = tx_buf[tx_word];
  always_ff @(posedge clk_i) begin
    if (msg_write) rx_buf[msg_word] <= msg_data;
  end
  always_ff @(posedge clk_i) begin
    if (tx_write) tx_buf[reg_addr_i[8:2]] <= reg_wdata_i;
  end

  logic [9:0]  rx_len_q;
  logic [15:0] rx_seq_q;
  always_ff @(posedge clk_i) begin
    if (!rst_link_ni) begin
      rx_valid_q <= 1'b0;
      rx_len_q   <= '0;
      rx_seq_q   <= '0;
      tx_busy_q  <= 1'b0;
    end else begin
      if (msg_done) begin
        rx_valid_q <= 1'b1;
        rx_len_q   <= len[9:0];
        rx_seq_q   <= seq;
      end else if (write && reg_addr_i == weft_chip_pkg::LINK_RX_DONE_ADDR && reg_wdata_i[0]) rx_valid_q <= 1'b0;
      if (tx_done) tx_busy_q <= 1'b0;
      else if (send && send_ok) tx_busy_q <= 1'b1;
    end
  end

  // ---- registers ----

  // The highest 64 KiB that a WRITE went to, so that no more need be cleared for the next client.
  logic [15:0] block_q;
  logic        any_q, forget;
  assign forget = write && reg_addr_i == weft_chip_pkg::LINK_WRITTEN_ADDR;
  always_ff @(posedge clk_i) begin
    if (!rst_power_ni) begin
      any_q   <= 1'b0;
      block_q <= '0;
    end else if (m_awvalid_o && (forget || !any_q || m_awaddr_o[31:16] > block_q)) begin
      // A burst ends in the block where it begins. It counts even if software forgets the blocks in this cycle.
      any_q   <= 1'b1;
      block_q <= m_awaddr_o[31:16];
    end else if (forget) begin
      any_q   <= 1'b0;
      block_q <= '0;
    end
  end

  logic [31:0] frames_in_q, frames_out_q, header_errors_q, payload_errors_q, refused_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      tx_len_q         <= '0;
      tx_seq_q         <= '0;
      fence_base_q     <= '0;
      fence_limit_q    <= '0;
      fence_read_q     <= 1'b0;
      fence_write_q    <= 1'b0;
      frames_in_q      <= '0;
      frames_out_q     <= '0;
      header_errors_q  <= '0;
      payload_errors_q <= '0;
      refused_q        <= '0;
    end else begin
      if (good_header) frames_in_q <= frames_in_q + 32'd1;
      if (out_valid_o && out_ready_i && out_last_o) frames_out_q <= frames_out_q + 32'd1;
      if (bad_header) header_errors_q <= header_errors_q + 32'd1;
      if (bad_payload) payload_errors_q <= payload_errors_q + 32'd1;
      if (refused) refused_q <= refused_q + 32'd1;
      if (write) begin
        case (reg_addr_i)
          weft_chip_pkg::LINK_TX_LEN_ADDR:      tx_len_q <= reg_wdata_i;
          weft_chip_pkg::LINK_TX_SEQ_ADDR:      tx_seq_q <= reg_wdata_i;
          weft_chip_pkg::LINK_FENCE_BASE_ADDR:  fence_base_q <= reg_wdata_i;
          weft_chip_pkg::LINK_FENCE_LIMIT_ADDR: fence_limit_q <= reg_wdata_i;
          weft_chip_pkg::LINK_FENCE_PERM_ADDR:  {fence_write_q, fence_read_q} <= reg_wdata_i[1:0];
          default: ;
        endcase
      end
    end
  end

  always_comb begin
    case (reg_addr_i)
      weft_chip_pkg::LINK_STATUS_ADDR:         reg_rdata_o = {29'd0, error_o, tx_busy_q, rx_valid_q};
      weft_chip_pkg::LINK_RX_LEN_ADDR:         reg_rdata_o = {22'd0, rx_len_q};
      weft_chip_pkg::LINK_RX_SEQ_ADDR:         reg_rdata_o = {16'd0, rx_seq_q};
      weft_chip_pkg::LINK_TX_LEN_ADDR:         reg_rdata_o = tx_len_q;
      weft_chip_pkg::LINK_TX_SEQ_ADDR:         reg_rdata_o = tx_seq_q;
      weft_chip_pkg::LINK_FENCE_BASE_ADDR:     reg_rdata_o = fence_base_q;
      weft_chip_pkg::LINK_FENCE_LIMIT_ADDR:    reg_rdata_o = fence_limit_q;
      weft_chip_pkg::LINK_FENCE_PERM_ADDR:     reg_rdata_o = {30'd0, fence_write_q, fence_read_q};
      weft_chip_pkg::LINK_WRITTEN_ADDR:        reg_rdata_o = {1'b1, any_q, 14'd0, block_q};
      weft_chip_pkg::LINK_FRAMES_IN_ADDR:      reg_rdata_o = frames_in_q;
      weft_chip_pkg::LINK_FRAMES_OUT_ADDR:     reg_rdata_o = frames_out_q;
      weft_chip_pkg::LINK_HEADER_ERRORS_ADDR:  reg_rdata_o = header_errors_q;
      weft_chip_pkg::LINK_PAYLOAD_ERRORS_ADDR: reg_rdata_o = payload_errors_q;
      weft_chip_pkg::LINK_REFUSED_ADDR:        reg_rdata_o = refused_q;
      default:                                 reg_rdata_o = '0;
    endcase
    if (reg_addr_i[11:9] == weft_chip_pkg::LINK_RX_ADDR[11:9]) reg_rdata_o = rx_buf[reg_addr_i[8:2]];
  end

`ifdef WEFT_ASSERT
  logic        aw_valid_q;
  logic [15:0] aw_block_q;
  always_ff @(posedge clk_i) begin
    aw_valid_q <= rst_power_ni && m_awvalid_o;
    aw_block_q <= m_awaddr_o[31:16];
    if (rst_ni && rst_link_ni) begin
      if (write_start || read_start) assert (len != '0 && 32'(len) <= weft_link_pkg::WRITE_MAX);
      assert (!(msg_done && rx_valid_q));            // a message is not overwritten before it was taken
      assert (!(write_busy && read_busy));
      // No burst goes out that software will not be told of.
      if (aw_valid_q) assert (any_q && aw_block_q <= block_q);
    end
  end
`endif

endmodule
