// Generated from include/spec/msg.toml by tools/gen.py; edit that and run `make gen`.
// SPDX-License-Identifier: Apache-2.0
/* verilator lint_off UNUSEDPARAM */
package weft_link_pkg;
  // Frames of the host link.
  localparam logic [7:0] MAGIC = 8'ha5;
  localparam int unsigned HEADER_BYTES = 16;
  localparam int unsigned WRITE_MAX = 1048576;
  localparam int unsigned MSG_MIN = 4;
  localparam int unsigned MSG_MAX = 512;

  localparam logic [7:0] TYPE_WRITE = 8'h1;  // payload to card memory at addr; len 1..write_max, any alignment
  localparam logic [7:0] TYPE_READ = 8'h2;  // len bytes of card memory at addr, 1..write_max
  localparam logic [7:0] TYPE_MSG = 8'h3;  // message to firmware; len msg_min..msg_max, a multiple of 4
  localparam logic [7:0] TYPE_ACK = 8'h81;  // answer to seq; addr is the status
  localparam logic [7:0] TYPE_DATA = 8'h82;  // answer to READ seq; addr as asked
  localparam logic [7:0] TYPE_REPLY = 8'h83;  // message from firmware; seq of the message that it answers, 0 if none

  localparam logic [31:0] STATUS_OK = 32'h0;  // done
  localparam logic [31:0] STATUS_CRC = 32'h1;  // payload CRC is wrong; send it again
  localparam logic [31:0] STATUS_FENCE = 32'h2;  // outside the card memory that the host may use
  localparam logic [31:0] STATUS_INVALID = 32'h3;  // unknown type or bad length
  localparam logic [31:0] STATUS_RESYNC = 32'h4;  // broken header; reset the link
endpackage
/* verilator lint_on UNUSEDPARAM */
