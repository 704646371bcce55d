// SPDX-License-Identifier: Apache-2.0
//
// Commands of one unit: a queue in front of it, the wait counts of its head,
// and a record of those under way.
//
// cmd_valid_o rises when the head's four wait counts are met, and stands until
// cmd_ready_i. oldest_* belong to the oldest command issued and not retired.
// A command pushed in one cycle can be issued in the next.
module weft_cmd_queue #(
  parameter int unsigned Words = weft_cfg_pkg::CMD_MAX_WORDS  // of the unit's longest command
) (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic clr_i,

  input  logic          push_i,
  output logic          ready_o,
  /* verilator lint_off UNUSEDSIGNAL */  // words that this unit's commands do not have
  input  weft_cmd_pkg::cmd_t cmd_i,
  /* verilator lint_on UNUSEDSIGNAL */
  input  logic [23:0]   index_i,

  input  logic [4*32-1:0] retired_i,   // per unit

  output logic               cmd_valid_o,
  input  logic               cmd_ready_i,
  output weft_cmd_pkg::cmd_t cmd_o,
  input  logic               done_i,

  output logic        waiting_o,       // the head's wait counts are not met
  output logic        empty_o,         // nothing in the queue
  output logic        active_o,        // something is issued and not retired
  output logic [23:0] head_index_o,
  output logic [31:0] head_tag_o,
  output logic [31:0] head_header_o,
  output logic [23:0] oldest_index_o,
  output logic [31:0] oldest_tag_o
);

  localparam int unsigned CmdBits = 64 * weft_cfg_pkg::CMD_MAX_WORDS;
  localparam int unsigned Depth   = weft_cfg_pkg::QUEUE_DEPTH;  // waiting
  localparam int unsigned Active  = 8;                          // issued and not retired

  // One ring: retired .. active .. waiting .. free. The bodies of commands are
  // kept until they are issued, index and tag until they retire.
  localparam int unsigned PtrBits  = 4;
  localparam int unsigned BodyBits = $clog2(Depth);
  logic [64*Words-1:0] body [Depth];
  logic [55:0]         name [1 << PtrBits];
  logic [PtrBits-1:0]  wptr_q, iptr_q, rptr_q, n_waiting, n_active;

  logic push, head_valid, met, issue, retire;
  logic [64*Words-1:0] head;
  assign n_waiting  = wptr_q - iptr_q;
  assign n_active   = iptr_q - rptr_q;
  assign ready_o    = n_waiting != PtrBits'(Depth);
  assign head_valid = wptr_q != iptr_q;
  assign active_o   = iptr_q != rptr_q;
  assign head       = body[iptr_q[BodyBits-1:0]];
  assign {head_index_o, head_tag_o}     = name[iptr_q];
  assign {oldest_index_o, oldest_tag_o} = name[rptr_q];

  always_comb begin
    met = 1'b0;
    if (head_valid)
      met = (retired_i[16 +: 16] != '0 || retired_i[0 +: 16] >= head[weft_cmd_pkg::HEADER_WAIT_LD_LSB +: 16]) &&
            (retired_i[48 +: 16] != '0 || retired_i[32 +: 16] >= head[weft_cmd_pkg::HEADER_WAIT_ST_LSB +: 16]) &&
            (retired_i[80 +: 16] != '0 || retired_i[64 +: 16] >= head[weft_cmd_pkg::HEADER_WAIT_CV_LSB +: 16]) &&
            (retired_i[112 +: 16] != '0 || retired_i[96 +: 16] >= head[weft_cmd_pkg::HEADER_WAIT_VE_LSB +: 16]);
  end

  assign cmd_valid_o   = met && n_active != PtrBits'(Active);
  assign cmd_o         = CmdBits'(head);
  assign waiting_o     = head_valid && !met;
  assign empty_o       = !head_valid;
  assign head_header_o = head[31:0];

  assign push   = push_i && ready_o;
  assign issue  = cmd_valid_o && cmd_ready_i;
  assign retire = done_i && active_o;

  always_ff @(posedge clk_i) begin
    if (push) begin
      body[wptr_q[BodyBits-1:0]] <= cmd_i[64*Words-1:0];
      name[wptr_q]               <= {index_i, cmd_i[weft_cmd_pkg::HEADER_TAG_LSB +: 32]};
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      wptr_q <= '0;
      iptr_q <= '0;
      rptr_q <= '0;
    end else if (push || issue || retire || clr_i) begin
      wptr_q <= clr_i ? '0 : wptr_q + PtrBits'(push);
      iptr_q <= clr_i ? '0 : iptr_q + PtrBits'(issue);
      rptr_q <= clr_i ? '0 : rptr_q + PtrBits'(retire);
    end
  end

`ifdef WEFT_ASSERT
  always_ff @(posedge clk_i) begin
    if (rst_ni && done_i && !clr_i) assert (active_o);
  end
`endif

endmodule
