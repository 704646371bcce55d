// SPDX-License-Identifier: Apache-2.0
//
// Frames from the host: header, checks, payload to memory or to the message
// buffer, one frame at a time (docs/protocol.md).
//
// A byte a cycle. The stream stalls while a READ is answered, a WRITE drains,
// an ACK waits to be sent, and in front of a message while the one before has
// not been taken. In the error state bytes are taken and thrown away.
module weft_link_rx (
  input  logic        clk_i,
  input  logic        rst_ni,

  input  logic        in_valid_i,
  output logic        in_ready_o,
  input  logic [7:0]  in_data_i,

  input  logic [31:0] fence_base_i,
  input  logic [31:0] fence_limit_i,
  input  logic        fence_read_i,
  input  logic        fence_write_i,
  input  logic [31:0] dram_bytes_i,

  // Header of the frame; stable while its payload comes.
  output logic [15:0] seq_o,
  output logic [31:0] addr_o,
  output logic [20:0] len_o,

  output logic        write_start_o,   // with addr_o, len_o
  output logic        write_valid_o,
  output logic [7:0]  write_data_o,
  input  logic        write_ready_i,
  input  logic        write_busy_i,
  input  logic        write_error_i,

  output logic        read_valid_o,    // a READ is to be answered, until
  input  logic        read_done_i,

  output logic        ack_valid_o,
  output logic [15:0] ack_seq_o,
  output logic [31:0] ack_status_o,
  input  logic        ack_ready_i,

  input  logic        msg_full_i,
  output logic        msg_write_o,
  output logic [6:0]  msg_word_o,
  output logic [31:0] msg_data_o,
  output logic        msg_done_o,      // a whole good message of len_o bytes is there

  output logic        good_header_o,   // events, one cycle each
  output logic        bad_header_o,
  output logic        bad_payload_o,
  output logic        refused_o,
  output logic        error_o,
  output logic        busy_o           // not waiting for a byte or for firmware
);

  localparam logic [2:0] Header  = 3'd0;
  localparam logic [2:0] Check   = 3'd1;
  localparam logic [2:0] Payload = 3'd2;
  localparam logic [2:0] Crc     = 3'd3;
  localparam logic [2:0] Drain   = 3'd4;   // a WRITE's bytes are on their way to memory
  localparam logic [2:0] Read    = 3'd5;
  localparam logic [2:0] Ack     = 3'd6;
  localparam logic [2:0] Error   = 3'd7;

  logic [2:0]   state_q, state_d;
  logic [127:0] header_q;
  logic [20:0]  left_q;
  logic [3:0]   count_q;        // bytes of the header, of the payload's crc
  logic [31:0]  crc_q, crc_next;
  logic         sink_q;         // payload goes somewhere (WRITE inside the fence)
  logic         good_q;         // payload crc
  logic [23:0]  bytes_q;        // up to three bytes before the one that comes
  logic         fatal_q;        // after the ACK: error state
  logic [31:0]  status_q, status_d;

  logic [7:0]  kind;
  logic [31:0] len;
  assign kind   = header_q[15:8];
  assign seq_o  = header_q[31:16];
  assign addr_o = header_q[63:32];
  assign len    = header_q[95:64];
  assign len_o  = len[20:0];

  logic is_read, is_write, is_msg, long_ok, msg_ok, header_ok, in_fence;
  logic [32:0] last;
  assign is_read   = kind == weft_link_pkg::TYPE_READ;
  assign is_write  = kind == weft_link_pkg::TYPE_WRITE;
  assign is_msg    = kind == weft_link_pkg::TYPE_MSG;
  assign long_ok   = len != '0 && len <= weft_link_pkg::WRITE_MAX;
  assign msg_ok    = len >= weft_link_pkg::MSG_MIN && len <= weft_link_pkg::MSG_MAX && len[1:0] == 2'b00;
  assign header_ok = header_q[7:0] == weft_link_pkg::MAGIC && header_q[127:96] == ~crc_q;
  assign last      = {1'b0, addr_o} + {1'b0, len};
  assign in_fence  = addr_o >= fence_base_i && last <= {1'b0, fence_limit_i} && last <= {1'b0, dram_bytes_i};

  logic take;
  assign take = in_valid_i && in_ready_o;
  weft_link_crc u_crc (
    .crc_i (crc_q),
    .byte_i(in_data_i),
    .crc_o (crc_next)
  );

  always_comb begin
    state_d       = state_q;
    status_d      = status_q;
    in_ready_o    = 1'b0;
    write_start_o = 1'b0;
    good_header_o = 1'b0;
    bad_header_o  = 1'b0;
    bad_payload_o = 1'b0;
    refused_o     = 1'b0;
    msg_done_o    = 1'b0;
    busy_o        = 1'b1;
    case (state_q)
      Header: begin
        in_ready_o = 1'b1;
        busy_o     = 1'b0;
        if (take && count_q == 4'd15) state_d = Check;
      end
      Check: begin
        if (!header_ok) begin
          bad_header_o = 1'b1;
          status_d     = weft_link_pkg::STATUS_RESYNC;
          state_d      = Ack;
        end else if (is_msg && msg_ok && msg_full_i) begin
          busy_o = 1'b0;
        end else begin
          good_header_o = 1'b1;
          if (is_msg && msg_ok) state_d = Payload;
          else if (is_write && long_ok) begin
            state_d       = Payload;
            write_start_o = in_fence && fence_write_i;
          end else if (is_read && long_ok && in_fence && fence_read_i) state_d = Read;
          else begin
            refused_o = 1'b1;
            status_d  = is_read && long_ok ? weft_link_pkg::STATUS_FENCE : weft_link_pkg::STATUS_INVALID;
            state_d   = Ack;
          end
        end
      end
      Payload: begin
        in_ready_o = write_ready_i || !sink_q;
        busy_o     = !in_ready_o;
        if (take && left_q == 21'd1) state_d = Crc;
      end
      Crc: begin
        in_ready_o = 1'b1;
        busy_o     = 1'b0;
        if (take && count_q == 4'd3) state_d = Drain;
      end
      Drain: begin
        if (!write_busy_i) begin
          state_d = Ack;
          if (!good_q) begin
            bad_payload_o = 1'b1;
            status_d      = weft_link_pkg::STATUS_CRC;
          end else if (is_msg) begin
            msg_done_o = 1'b1;
            state_d    = Header;
          end else if (!sink_q || write_error_i) begin
            refused_o = 1'b1;
            status_d  = weft_link_pkg::STATUS_FENCE;
          end else status_d = weft_link_pkg::STATUS_OK;
        end
      end
      Read: if (read_done_i) state_d = Header;
      Ack:  if (ack_ready_i) state_d = fatal_q ? Error : Header;
      default: begin   // Error
        in_ready_o = 1'b1;
        busy_o     = 1'b0;
      end
    endcase
  end

  assign error_o       = fatal_q;
  assign read_valid_o  = state_q == Read;
  assign ack_valid_o   = state_q == Ack;
  assign ack_seq_o     = status_q == weft_link_pkg::STATUS_RESYNC ? '0 : seq_o;
  assign ack_status_o  = status_q;
  assign write_valid_o = state_q == Payload && sink_q && in_valid_i;
  assign write_data_o  = in_data_i;
  assign msg_write_o   = state_q == Payload && is_msg && take && left_q[1:0] == 2'b01;
  assign msg_data_o    = {in_data_i, bytes_q};

  logic [20:0] at;
  assign at         = len_o - left_q;
  assign msg_word_o = at[8:2];

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q  <= Header;
      header_q <= '0;
      left_q   <= '0;
      count_q  <= '0;
      crc_q    <= '1;
      sink_q   <= 1'b0;
      good_q   <= 1'b0;
      bytes_q  <= '0;
      fatal_q  <= 1'b0;
      status_q <= '0;
    end else begin
      state_q  <= state_d;
      status_q <= status_d;
      if (take) bytes_q <= {in_data_i, bytes_q[23:8]};
      case (state_q)
        Header: begin
          if (take) begin
            header_q <= {in_data_i, header_q[127:8]};
            count_q  <= count_q + 4'd1;
            if (count_q < 4'd12) crc_q <= crc_next;
          end
        end
        Check: begin
          count_q <= '0;
          crc_q   <= header_ok && state_d == Check ? crc_q : '1;
          left_q  <= len_o;
          sink_q  <= write_start_o;
          fatal_q <= state_d == Ack && !(header_ok && is_read);
        end
        Payload: begin
          if (take) begin
            left_q <= left_q - 21'd1;
            crc_q  <= crc_next;
          end
        end
        Crc: begin
          if (take) begin
            count_q <= count_q + 4'd1;
            good_q  <= {in_data_i, bytes_q} == ~crc_q;
          end
        end
        Drain: count_q <= '0;
        default: ;
      endcase
      if (state_d == Header && state_q != Header) crc_q <= '1;
    end
  end

  logic unused;
  assign unused = &{1'b0, at};

`ifdef WEFT_ASSERT
  logic        old_body_q;
  logic [68:0] old_header_q;
  always_ff @(posedge clk_i) begin
    old_body_q   <= rst_ni && (state_q == Payload || state_q == Crc || state_q == Drain || state_q == Read);
    old_header_q <= {seq_o, addr_o, len_o};
    if (rst_ni) begin
      if (old_body_q) assert ({seq_o, addr_o, len_o} == old_header_q);    // stable while its payload comes
      assert (!(good_header_o && bad_header_o));
      // Nothing that the host asks for reaches memory outside the fence.
      if (write_start_o || (state_q == Check && state_d == Read)) begin
        assert (addr_o >= fence_base_i && 34'(addr_o) + 34'(len) <= 34'(fence_limit_i));
        assert (34'(addr_o) + 34'(len) <= 34'(dram_bytes_i));
        assert (write_start_o ? fence_write_i : fence_read_i);
      end
      assert (!(read_valid_o && ack_valid_o));                            // one frame at a time
      if (state_q == Read || state_q == Drain || state_q == Ack) assert (!in_ready_o);
      if (state_q == Error) assert (in_ready_o);
    end
  end
`endif

endmodule
