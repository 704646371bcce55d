// SPDX-License-Identifier: Apache-2.0
//
// Decodes rows that are coded in memory: a width for each word, and as many
// units of N bits as that says. The code is in docs/isa.md, under load.
//
// start_i takes words_i, the words of the row, and centre_i, which is added to
// each byte, while busy_o is low. Beats come from the next cycle on; in_last_i marks the row's last one. Two words a cycle
// come out if their units have come in, or the last one alone; the words with
// out_last_o come behind the last beat only. Units that memory lacks are zero,
// and beats that no word needs are dropped.
//
// Theory: hw/dma/README.md
module weft_dma_decode (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic clear_i,

  input  logic                                                     start_i,
  input  logic [weft_cfg_pkg::SP_ADDR_BITS-weft_cfg_pkg::LOG2_N-1:0] words_i,
  input  logic [7:0]                                               centre_i,
  output logic                                                     busy_o,
  output logic                                                     able_o,    // words will be written without a further beat
  output logic                                                     whole_o,   // the last beat has come

  input  logic                   in_valid_i,
  output logic                   in_ready_o,
  input  logic                   in_last_i,
  input  weft_cfg_pkg::sp_word_t in_data_i,

  output logic                   out_valid_o,
  input  logic                   out_ready_i,
  output logic                   out_both_o,
  output logic                   out_last_o,
  output weft_cfg_pkg::sp_pair_t out_data_o   // of one word, the lower half
);

  localparam int unsigned N         = weft_cfg_pkg::N;
  localparam int unsigned Log2N     = weft_cfg_pkg::LOG2_N;
  localparam int unsigned WordsBits = weft_cfg_pkg::SP_ADDR_BITS - Log2N;
  localparam int unsigned Units     = 32;                  // that the ring holds: four beats
  localparam int unsigned UnitBits  = $clog2(Units);

  logic                   busy_q, ended_q;     // ended: the last beat has come
  logic [N*Units-1:0] ring_q;              // units; a beat is eight of them
  logic [1:0]             put_q;               // where the next beat goes
  logic [UnitBits-1:0]    get_q;               // the first unit that no word has taken
  logic [UnitBits:0]      count_q;             // units from there on
  logic [8*N-1:0]         widths_q;            // of the words to come, the next one's in the low bits
  logic [Log2N:0]         pairs_q;             // pairs of words that widths_q is good for
  logic [WordsBits-1:0]   words_q;             // words to come
  logic [7:0]             centre_q;

  // ---- what comes next: a row of widths, or one or two words -------------------

  logic       widths, both, final_out, enough, step;
  logic [3:0] width0, width1;
  logic [4:0] need;
  assign widths    = pairs_q == '0;
  assign both      = words_q > WordsBits'(1);
  assign final_out = words_q <= WordsBits'(2);
  assign width0    = widths_q[3] ? 4'd8 : widths_q[3:0];
  assign width1    = !both ? 4'd0 : widths_q[7] ? 4'd8 : widths_q[7:4];
  assign need      = widths ? 5'd8 : {1'b0, width0} + {1'b0, width1};
  assign enough    = count_q >= {1'b0, need};

  assign out_valid_o = busy_q && !widths && enough && (!final_out || ended_q);
  assign out_both_o  = both;
  assign out_last_o  = final_out;
  assign step        = busy_q && enough && (widths || (out_valid_o && out_ready_i));

  // Beats that come behind what the last words need are dropped; zeros come in behind the last beat.
  logic room, drop, push;
  assign room       = count_q <= (UnitBits+1)'(Units - 8);
  assign drop       = !widths && final_out && enough;
  assign in_ready_o = busy_q && !ended_q && (room || drop);
  assign push       = ended_q ? room && !enough : in_valid_i && in_ready_o && !drop;

  // ---- words out of units --------------------------------------------------------

  /* verilator lint_off UNUSEDSIGNAL */  // the ring beyond two words
  logic [N*Units-1:0] turned;
  /* verilator lint_on UNUSEDSIGNAL */
  weft_rotate #(
    .Bytes(Units),
    .Lane (N)
  ) u_rotate (
    .data_i(ring_q),
    .by_i  (get_q),
    .data_o(turned)
  );

  /* verilator lint_off UNUSEDSIGNAL */  // units behind the second word
  weft_cfg_pkg::sp_pair_t behind;         // from the second word's first unit on
  /* verilator lint_on UNUSEDSIGNAL */
  assign behind = turned[16*N-1:0] >> {width0, Log2N'(0)};

  // Eight units with so many of them valid, as a word: units from there on repeat the last one.
  function automatic weft_cfg_pkg::sp_word_t word(input weft_cfg_pkg::sp_word_t units, input logic [3:0] width,
                                                  input logic [7:0] centre);
    logic [N-1:0] sign, plane;
    sign = '0;
    word = '0;
    for (int unsigned b = 0; b < 8; b++) begin
      if (width == 4'(b + 1)) sign = units[N*b +: N];
    end
    for (int unsigned b = 0; b < 8; b++) begin
      plane = 4'(b) < width ? units[N*b +: N] : sign;
      for (int unsigned i = 0; i < N; i++) word[8*i + b] = plane[i];
    end
    for (int unsigned i = 0; i < N; i++) word[8*i +: 8] = word[8*i +: 8] + centre;
  endfunction

  always_comb begin
    out_data_o = '0;
    if (out_valid_o) out_data_o = {word(behind[8*N-1:0], width1, centre_q), word(turned[8*N-1:0], width0, centre_q)};
  end

  // ---- state ---------------------------------------------------------------------

  assign busy_o  = busy_q;
  assign able_o  = busy_q && enough && (widths || !final_out);
  assign whole_o = busy_q && ended_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni || clear_i) begin
      busy_q <= 1'b0;
    end else if (start_i) begin
      busy_q <= 1'b1;
    end else if (step && !widths && final_out) begin
      busy_q <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (start_i) begin
      ended_q <= 1'b0;
      put_q   <= '0;
      get_q   <= '0;
      count_q <= '0;
      pairs_q <= '0;
      words_q <= words_i;
      centre_q <= centre_i;
    end else if (busy_q) begin
      if (in_valid_i && in_ready_o && in_last_i) ended_q <= 1'b1;
      if (push) begin
        put_q <= put_q + 2'd1;
        for (int unsigned i = 0; i < 4; i++) begin
          if (put_q == 2'(i)) ring_q[8*N*i +: 8*N] <= ended_q ? '0 : in_data_i;
        end
      end
      count_q <= count_q + (push ? (UnitBits+1)'(8) : '0) - (step ? {1'b0, need} : '0);
      if (step) begin
        get_q <= get_q + need;
        if (widths) begin
          widths_q <= turned[8*N-1:0];
          pairs_q  <= (Log2N+1)'(N);
        end else begin
          widths_q <= widths_q >> 8;
          pairs_q  <= pairs_q - 1'b1;
          words_q  <= both ? words_q - WordsBits'(2) : '0;
        end
      end
    end
  end

`ifdef WEFT_ASSERT
  always_ff @(posedge clk_i) begin
    if (rst_ni && busy_q) begin
      assert (!start_i && words_q != '0);
      assert (32'(count_q) <= Units);
      assert (!push || 32'(count_q) + 32'd8 <= Units);
      assert (UnitBits'({put_q, 3'd0} - get_q) == count_q[UnitBits-1:0]);
    end
  end
`endif

endmodule
