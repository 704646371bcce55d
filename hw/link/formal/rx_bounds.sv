// SPDX-License-Identifier: Apache-2.0
//
// weft_link_rx with any bytes from the host, any fence that changes at any time, and any
// checksums: weft_link_crc is left open, so every header and payload can be a good one.
// state, left, sink and header are the receiver's own.
module rx_bounds (
  input logic        clk_i,
  input logic        rst_ni,
  input logic        in_valid_i,
  input logic [7:0]  in_data_i,
  input logic [31:0] fence_base_i,
  input logic [31:0] fence_limit_i,
  input logic        fence_read_i,
  input logic        fence_write_i,
  input logic [31:0] dram_bytes_i,
  input logic        write_ready_i,
  input logic        write_busy_i,
  input logic        write_error_i,
  input logic        read_done_i,
  input logic        ack_ready_i,
  input logic        msg_full_i
);

  localparam logic [2:0] Payload = 3'd2;
  localparam logic [2:0] Read    = 3'd5;

  logic started_q;
  initial started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;

  logic        in_ready, write_start, write_valid, read_valid, msg_write;
  logic [31:0] addr;
  logic [20:0] len;
  logic [6:0]  msg_word;
  weft_link_rx u_dut (
    .clk_i, .rst_ni, .in_valid_i, .in_ready_o(in_ready), .in_data_i, .fence_base_i, .fence_limit_i, .fence_read_i,
    .fence_write_i, .dram_bytes_i, .seq_o(), .addr_o(addr), .len_o(len), .write_start_o(write_start),
    .write_valid_o(write_valid), .write_data_o(), .write_ready_i, .write_busy_i, .write_error_i, .read_valid_o(read_valid),
    .read_done_i, .ack_valid_o(), .ack_seq_o(), .ack_status_o(), .ack_ready_i, .msg_full_i, .msg_write_o(msg_write),
    .msg_word_o(msg_word), .msg_data_o(), .msg_done_o(), .good_header_o(), .bad_header_o(), .bad_payload_o(),
    .refused_o(), .error_o(), .busy_o()
  );

  logic [2:0]   state;
  logic [20:0]  left;
  logic         sink;
  logic [127:0] header;
  logic [7:0]   kind;
  logic [31:0]  whole;     // the header's length
  assign kind  = header[15:8];
  assign whole = header[95:64];

  // Bytes of a WRITE that may still come.
  logic [20:0] owed_q;
  logic        was_read_q, was_inside_q;   // in the cycle before: a READ is answered; one would be let through
  always_ff @(posedge clk_i) begin
    was_read_q   <= started_q && rst_ni && read_valid;
    was_inside_q <= inside && fence_read_i;
    if (!rst_ni) owed_q <= '0;
    else if (write_start) owed_q <= len;
    else if (write_valid && write_ready_i) owed_q <= owed_q - 21'd1;
  end

  logic [33:0] behind;
  logic        inside;
  assign behind = {2'd0, addr} + {2'd0, whole};
  assign inside = addr >= fence_base_i && behind <= {2'd0, fence_limit_i} && behind <= {2'd0, dram_bytes_i};

  always_comb begin
    if (!started_q) reset: assume (!rst_ni);
    if (started_q && rst_ni) begin
      if (write_start) begin
        write_fence: assert (fence_write_i && inside);
        write_len:   assert (whole != '0 && whole <= weft_link_pkg::WRITE_MAX && len == whole[20:0]);
      end
      // No more bytes go to memory than the WRITE that was let through has.
      if (write_valid) write_owed: assert (owed_q != '0);
      owed_left: assert (owed_q == (state == Payload && sink ? left : 21'd0));
      // A message stays in its buffer.
      if (state == Payload) begin
        payload_left: assert (left != '0 && left <= len);
        payload_kind: assert (kind == weft_link_pkg::TYPE_MSG ? !sink && whole <= weft_link_pkg::MSG_MAX && whole[1:0] == 2'b00
                              : kind == weft_link_pkg::TYPE_WRITE && whole <= weft_link_pkg::WRITE_MAX);
      end
      if (msg_write) msg_place: assert (len <= 21'(weft_link_pkg::MSG_MAX) && {12'd0, msg_word, 2'b11} < len);
      // The header that a READ is answered from was let through.
      if (read_valid && !was_read_q) read_fence: assert (was_inside_q);
      if (state == Read) read_len: assert (whole != '0 && whole <= weft_link_pkg::WRITE_MAX);
      one_way: assert (!(write_valid && msg_write) && !(read_valid && (write_valid || msg_write || in_ready)));
      reached: cover (write_valid && owed_q == 21'd1 && addr == fence_base_i);
    end
  end

endmodule
