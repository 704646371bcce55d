// SPDX-License-Identifier: Apache-2.0
//
// Output-stationary systolic array, N x N, with its skew buffers.
//
// In a slot (a cycle with adv_i) the word of row phase_i and the word of
// column phase_i enter the skew buffers (zeros if load_i is low), every row
// and column passes its next element, minus the zero point, to the operand
// registers of its first PE, operands move on by one PE, and every PE
// multiplies and adds what it held. A word that enters in slot s leaves element j
// in slot s+j, so the words of rows 0..N-1 in successive slots are skewed as a
// systolic array needs them.
//
// last_i (in the slot of row N-1 of a group's last chunk) starts a token: one
// bit per anti-diagonal, moving a diagonal a slot. Behind it PE(r,c) copies
// its sum to its shadow register and starts again from zero. Row r is whole
// N+1+r slots after last_i: due_o and due_row_o announce it, and a slot with
// take_i puts it in row_o. It must be taken in that slot, or it is lost.
// leaving_o: row 0 is due in the next slot.
// Groups may follow each other every N slots, the length of one chunk.
//
// wgt_second_i is a word of weights for rows N/2 to N-1; rows 0 to N/2-1 get wgt_i. They
// are the same word if all rows work on the same column tile. In groups of float8 all
// rows get wgt_i.
//
// kind_i says what a word of row elements holds: N bytes minus act_zp_i; N int16;
// or N float8, 16 bits apart, with bit 8 set where there is no product (padding).
// Then act_zp_i is {log2_scale, format} and wgt_zp_i the weights' format. Sums
// have 32 bits, of which only the low part of row_o counts, or 48, or 48 and
// two that say infinite or NaN (row_state_o). A group is of one kind. Groups of
// bytes and int16 may follow each other at will, but between float8 and others
// the array must be empty: 2N slots without load_i.
//
// All of it is one flat block with blocking assignments in dependency order,
// because that simulates an order of magnitude faster than PE modules.
// Registers read outside the block are assigned without blocking.
//
// Lazy = 1 is for simulators: upper parts and float8 are computed only where a
// group needs them, and sums are added in two parts. The same rows leave.
//
// Theory: hw/array/README.md
module weft_array #(
  parameter logic Lazy = 1'b0
) (
  input  logic clk_i,
  input  logic rst_ni,

  input  logic                            clr_i,   // forget everything
  input  logic                            adv_i,
  input  logic                            load_i,
  input  logic                            last_i,
  input  logic [1:0]                      kind_i,  // 0 int8, 1 int16, 2 float8
  input  logic [weft_cfg_pkg::LOG2_N-1:0] phase_i,
  input  weft_cfg_pkg::row_half_t         act_i,   // bytes in the low half
  input  logic [7:0]                      act_zp_i,
  input  weft_cfg_pkg::sp_word_t          wgt_i,
  input  weft_cfg_pkg::sp_word_t          wgt_second_i,  // without HAS_PAIRS not used
  input  logic [7:0]                      wgt_zp_i,

  output logic                            leaving_o,
  output logic                            due_o,
  output logic [weft_cfg_pkg::LOG2_N-1:0] due_row_o,
  input  logic                            take_i,
  output weft_cfg_pkg::row_acc_t          row_o,
  output weft_cfg_pkg::row_state_t        row_state_o  // 0 finite, 1 +inf, 2 -inf, 3 NaN
);
  localparam int N = weft_cfg_pkg::N;
  localparam int LOG2_N = weft_cfg_pkg::LOG2_N;

  // Tokens: bit d belongs to the PEs with r + c = d; from bit N on, to row d - N
  // on its way out.
  logic [2*N-1:0] token_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni)      token_q <= '0;
    else if (clr_i)   token_q <= '0;
    else if (adv_i)   token_q <= {token_q[2*N-2:0], last_i};
  end

  assign leaving_o = token_q[N-1];

  always_comb begin
    due_o = |token_q[2*N-1:N];
    due_row_o = '0;
    for (int r = 0; r < N; r++) begin
      if (token_q[N + r]) due_row_o = due_row_o | LOG2_N'(r);
    end
  end

  // What a configuration has no mode for is left out.
  localparam logic HAS_FP8 = weft_cfg_pkg::HAS_FP8;
  localparam logic HAS_INT16 = weft_cfg_pkg::HAS_INT16;
  localparam logic HAS_WIDE = HAS_FP8 || HAS_INT16;
  localparam logic HAS_PAIRS = weft_cfg_pkg::HAS_PAIRS;
  localparam int A_BITS = HAS_INT16 ? 16 : 9;

  // These variables need fewer than 32 bits. Simulators are quickest if all variables are equally wide, so with Lazy
  // they have 32; in hardware they have the bits that they need.
  localparam int UPPER = Lazy ? 32 : 16;    // bits 47:32 of a sum
  localparam int PRODUCT = Lazy ? 32 : 9;   // of two float8 significands
  localparam int PAIR = Lazy ? 32 : 2;      // flags and states
  localparam int ONE = Lazy ? 32 : 1;

  // What the array works on is float8. It changes only while the array is empty.
  logic float_q, fp;
  assign fp = HAS_FP8 && (float_q || (load_i && {1'b0, kind_i} == weft_cmd_pkg::POST_MODE_V_FLOAT8));

  always_ff @(posedge clk_i) begin
    if (!rst_ni)              float_q <= 1'b0;
    else if (clr_i)           float_q <= 1'b0;
    else if (adv_i && load_i) float_q <= HAS_FP8 && {1'b0, kind_i} == weft_cmd_pkg::POST_MODE_V_FLOAT8;
  end

  // Are they computed in this slot?
  logic fp_on, hi_on, hi_q;
  assign fp_on = HAS_FP8 && (!Lazy || fp);
  assign hi_on = HAS_WIDE && (!Lazy || hi_q);

  // The upper parts of the sums work from the first wide word on, until a token
  // that followed none has left: then every sum belongs to narrow groups, and
  // the upper parts start from zero. hi_q: they work; hi_left_q: slots until
  // that token has left, once it has started.
  logic [LOG2_N+1:0] hi_left_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      hi_q      <= 1'b0;
      hi_left_q <= '0;
    end else if (clr_i) begin
      hi_q      <= 1'b0;
      hi_left_q <= '0;
    end else if (HAS_WIDE && adv_i && (hi_q || {1'b0, kind_i} != weft_cmd_pkg::POST_MODE_V_INT8)) begin
      if (load_i && {1'b0, kind_i} != weft_cmd_pkg::POST_MODE_V_INT8) begin
        hi_q      <= 1'b1;
        hi_left_q <= '0;
      end else if (hi_left_q != '0) begin
        hi_left_q <= hi_left_q - (LOG2_N+2)'(1);
        if (hi_left_q == (LOG2_N+2)'(1)) hi_q <= 1'b0;
      end else if (last_i) begin
        hi_left_q <= (LOG2_N+2)'(2*N);
      end
    end
  end

  // skew_x[k][r]: what row r passes on in the slots whose phase is k.
  logic signed [A_BITS-1:0] skew_a [N][N];
  logic signed [8:0]  skew_w [N][N];
  // The same for the weights of rows N/2..N-1, which come there N/2 slots later: late_w holds
  // the words of so many slots, that of phase p at p modulo N/2.
  logic signed [8:0]  skew_w2 [N][N];
  logic signed [8:0]  late_w [N/2][N];
  // Operand registers of PE(r,c). A 16x9 multiplier serves int16 as well.
  // That of row r and column c is N*r + c: along a row all of them move as one.
  logic signed [A_BITS-1:0] op_a [N*N] /*verilator public_flat_rd*/;
  logic signed [8:0]  op_w [N*N];
  // Sums; bits 47:32 count in wide groups only.
  logic signed [31:0] acc_lo [N][N];
  logic [UPPER-1:0] acc_hi [N][N];
  logic signed [31:0] shadow_lo [N][N];
  logic [15:0] shadow_hi [N][N];
  logic signed [A_BITS-1:0] in_a [N];    // elements of the word that enters
  logic signed [8:0]  in_w [N];
  logic signed [8:0]  in_w2 [N];
  logic signed [8:0]  old_w2 [N];
  logic signed [31:0] out_lo;
  logic [15:0]        out_hi;
  logic [31:0]        carry;
  logic signed [31:0] add_lo [N][N];   // what is added to the sums
  logic [UPPER-1:0]   add_hi [N][N];
  logic [ONE-1:0]     half [N][N];     // and one more
  logic [UPPER-1:0]   sum_hi [N][N];
  logic [48:0]        total [N][N];    // and that bit twice below
  // float8: significands are in op_a and op_w; beside them flags and exponents,
  // that of the row with log2_scale and the bias that makes their sum the place
  // of the product: bit 8 of the shifted product is 2^-28.
  logic [8:0]         skew_ax [N][N];
  logic [6:0]         skew_wx [N][N];
  logic [8:0]         op_ax [N*N];
  logic [6:0]         op_wx [N*N];
  logic [8:0]         in_ax [N];
  logic [6:0]         in_wx [N];
  logic [4:0]         significand;
  logic [4:0]         exponent;
  logic [1:0]         kind;
  // Steps of a multiplication.
  logic signed [31:0] place [N][N];
  logic [63:0]        term [N][N];
  logic [PRODUCT-1:0] near [N][N];   // the product, unless it is below the least bit
  logic [PRODUCT-1:0] far [N][N];
  logic [PAIR-1:0]    flags [N][N];
  logic [PAIR-1:0]    brings [N][N];
  logic [PAIR-1:0]    state [N][N];
  logic [PAIR-1:0]    shadow_state [N][N];
  logic [1:0]         out_state;

`ifdef WEFT_FAULT_HOOK
  // [31] enable, [15:8] row, [23:16] column, [5:0] bit of the sum stuck at 1
  logic [31:0] fault_hook_q /*verilator public_flat_rw*/;
  initial fault_hook_q = '0;
`endif

  // verilator lint_off BLKSEQ
  always_ff @(posedge clk_i) begin
    if (clr_i) begin
      for (int r = 0; r < N; r++) begin
        for (int c = 0; c < N; c++) begin
          skew_a[r][c] = '0;
          skew_w[r][c] = '0;
          if (HAS_PAIRS) begin
            skew_w2[r][c] = '0;
            late_w[r % (N/2)][c] = '0;
          end
          op_a[N*r + c] = '0;
          op_w[N*r + c] = '0;
          acc_lo[r][c] = '0;
          acc_hi[r][c] = '0;
          if (HAS_FP8) begin
            skew_ax[r][c] = '0;
            skew_wx[r][c] = '0;
            op_ax[N*r + c] = '0;
            op_wx[N*r + c] = '0;
            state[r][c] = '0;
          end
        end
      end
    end else if (adv_i) begin
      if (take_i) begin
        for (int c = 0; c < N; c++) begin
          out_lo = '0;
          for (int r = 0; r < N; r++) out_lo = out_lo | (shadow_lo[r][c] & {32{token_q[N + r]}});
          row_o[48*c +: 32] <= out_lo;
        end
        if (hi_on) begin
          for (int c = 0; c < N; c++) begin
            out_hi = '0;
            for (int r = 0; r < N; r++) out_hi = out_hi | (shadow_hi[r][c] & {16{token_q[N + r]}});
            row_o[48*c + 32 +: 16] <= out_hi;
          end
        end
        if (fp_on) begin
          for (int c = 0; c < N; c++) begin
            out_state = '0;
            for (int r = 0; r < N; r++) out_state = out_state | (shadow_state[r][c][1:0] & {2{token_q[N + r]}});
            row_state_o[2*c +: 2] <= out_state;
          end
        end
      end

      if (Lazy && !hi_on) begin
        for (int r = 0; r < N; r++) begin
          for (int c = 0; c < N; c++) acc_lo[r][c] = acc_lo[r][c] + op_a[N*r + c] * op_w[N*r + c];
        end
      end else begin
        // Multiply.
        for (int r = 0; r < N; r++) begin
          for (int c = 0; c < N; c++) add_lo[r][c] = op_a[N*r + c] * op_w[N*r + c];
        end
        if (HAS_FP8) begin
          for (int r = 0; r < N; r++) begin
            for (int c = 0; c < N; c++) half[r][c] = '0;
          end
        end

        // Upper parts. A float8 product goes to its place; beyond 48 bits it is infinite.
        // Small steps over the whole array, because compilers make vectors of these.
        if (hi_on) begin
          if (fp_on) begin
            for (int r = 0; r < N; r++) begin
              for (int c = 0; c < N; c++) place[r][c] = 32'($signed(op_ax[N*r + c][6:0])) + $signed({27'd0, op_wx[N*r + c][4:0]});
            end
            for (int r = 0; r < N; r++) begin
              for (int c = 0; c < N; c++) near[r][c] = PRODUCT'(add_lo[r][c][8:0]) & {PRODUCT{!place[r][c][31]}};
            end
            for (int r = 0; r < N; r++) begin
              for (int c = 0; c < N; c++) begin
                term[r][c] = Lazy ? 64'($signed(near[r][c][8:0])) << place[r][c][5:0]
                                  : weft_float_pkg::shifted(near[r][c][8:0], place[r][c][5:0]);
              end
            end
            // Bits 63..55 are not all the same: does not fit. Places above 55 do not fit unless 0.
            for (int r = 0; r < N; r++) begin
              for (int c = 0; c < N; c++) far[r][c] = PRODUCT'((term[r][c] ^ (term[r][c] << 1)) >> 56);
            end
            for (int r = 0; r < N; r++) begin
              for (int c = 0; c < N; c++) begin
                far[r][c] = far[r][c] | (near[r][c] & {PRODUCT{Lazy ? place[r][c] > 32'sd55 : place[r][c][6] || place[r][c][5:3] == 3'd7}});
              end
            end
            // INF and NAN are one bit each; the states of an infinity are one bit each, NaN is both.
            for (int r = 0; r < N; r++) begin
              for (int c = 0; c < N; c++) begin
                flags[r][c] = PAIR'({op_ax[N*r + c][8:7] | op_wx[N*r + c][6:5]})
                              & {PAIR{op_ax[N*r + c][8:7] != weft_float_pkg::NOTHING && op_wx[N*r + c][6:5] != weft_float_pkg::NOTHING}};
              end
            end
            for (int r = 0; r < N; r++) begin
              for (int c = 0; c < N; c++) begin
                brings[r][c] = PAIR'({add_lo[r][c][8], !add_lo[r][c][8]}) & {PAIR{far[r][c] != '0 || flags[r][c][0]}};
              end
            end
            for (int r = 0; r < N; r++) begin
              for (int c = 0; c < N; c++) begin
                brings[r][c] = brings[r][c] | PAIR'({2{flags[r][c][1] || (flags[r][c][0] && add_lo[r][c][8:0] == '0)}});
              end
            end
            for (int r = 0; r < N; r++) begin
              for (int c = 0; c < N; c++) begin
                add_lo[r][c] = Lazy || fp ? $signed(term[r][c][39:8]) : add_lo[r][c];
                add_hi[r][c] = Lazy || fp ? UPPER'($signed(term[r][c][55:40])) : {UPPER{add_lo[r][c][31]}};
                half[r][c] = ONE'(fp && term[r][c][7]);
              end
            end
          end
          if (!HAS_FP8 || (Lazy && !fp)) begin
            for (int r = 0; r < N; r++) begin
              for (int c = 0; c < N; c++) add_hi[r][c] = {UPPER{add_lo[r][c][31]}};
            end
          end
          if (!Lazy) begin
            for (int r = 0; r < N; r++) begin
              for (int c = 0; c < N; c++) begin
                total[r][c] = {acc_hi[r][c][15:0], acc_lo[r][c], 1'b1} + {add_hi[r][c][15:0], add_lo[r][c], HAS_FP8 && half[r][c][0]};
              end
            end
          end
          // In two parts: the carry out of bit 31 is the majority of the two addends' top
          // bits and the inverted top bit of their sum.
          for (int r = 0; r < N; r++) begin
            for (int c = 0; c < N; c++) begin
              carry = acc_lo[r][c] + add_lo[r][c] + (HAS_FP8 ? 32'(half[r][c]) : 32'd0);
              carry = (acc_lo[r][c] & add_lo[r][c]) | ((acc_lo[r][c] | add_lo[r][c]) & ~carry);
              sum_hi[r][c] = Lazy ? acc_hi[r][c] + add_hi[r][c] + UPPER'(carry >> 31) : UPPER'(total[r][c][48:33]);
            end
          end
          // A float8 sum that leaves 48 bits is infinite for good.
          if (fp_on) begin
            for (int r = 0; r < N; r++) begin
              for (int c = 0; c < N; c++) begin
                flags[r][c] = PAIR'({acc_hi[r][c][15], !acc_hi[r][c][15]})
                              & {PAIR{acc_hi[r][c][15] == add_hi[r][c][15] && acc_hi[r][c][15] != sum_hi[r][c][15]}};
              end
            end
            for (int r = 0; r < N; r++) begin
              for (int c = 0; c < N; c++) begin
                brings[r][c] = brings[r][c] | (flags[r][c] & {PAIR{(state[r][c] | brings[r][c]) == '0}});
                if (Lazy || fp) state[r][c] = state[r][c] | brings[r][c];
              end
            end
          end
          for (int r = 0; r < N; r++) begin
            for (int c = 0; c < N; c++) acc_hi[r][c] = sum_hi[r][c];
          end
        end

        // Add; a float8 product is rounded half up.
        for (int r = 0; r < N; r++) begin
          for (int c = 0; c < N; c++) begin
            acc_lo[r][c] = !Lazy && HAS_WIDE ? total[r][c][32:1]
                         : HAS_FP8 ? acc_lo[r][c] + add_lo[r][c] + 32'(half[r][c]) : acc_lo[r][c] + add_lo[r][c];
          end
        end
      end
`ifdef WEFT_FAULT_HOOK
      if (fault_hook_q[31]) begin
        if (fault_hook_q[5])
          acc_hi[fault_hook_q[8 +: LOG2_N]][fault_hook_q[16 +: LOG2_N]][$clog2(UPPER)'(fault_hook_q[3:0])] = 1'b1;
        else
          acc_lo[fault_hook_q[8 +: LOG2_N]][fault_hook_q[16 +: LOG2_N]][fault_hook_q[4:0]] = 1'b1;
      end
`endif

      if (token_q[2*N-2:0] != '0) begin
        for (int d = 0; d < 2*N - 1; d++) begin
          if (token_q[d]) begin
            for (int r = 0; r < N; r++) begin
              if (d >= r && d - r < N) begin
                shadow_lo[r][d - r] = acc_lo[r][d - r];
                acc_lo[r][d - r] = '0;
              end
            end
          end
        end
        if (hi_on) begin
          for (int d = 0; d < 2*N - 1; d++) begin
            if (token_q[d]) begin
              for (int r = 0; r < N; r++) begin
                if (d >= r && d - r < N) begin
                  shadow_hi[r][d - r] = acc_hi[r][d - r][15:0];
                  acc_hi[r][d - r] = '0;
                end
              end
            end
          end
        end
        if (fp_on) begin
          for (int d = 0; d < 2*N - 1; d++) begin
            if (token_q[d]) begin
              for (int r = 0; r < N; r++) begin
                if (d >= r && d - r < N) begin
                  shadow_state[r][d - r] = state[r][d - r];
                  state[r][d - r] = '0;
                end
              end
            end
          end
        end
      end
      if (hi_on && hi_left_q == (LOG2_N+2)'(1)) begin
        for (int r = 0; r < N; r++) begin
          for (int c = 0; c < N; c++) acc_hi[r][c] = '0;
        end
      end

      // Operands move on; what goes from one row's end into the next row is replaced below.
      for (int r = N - 1; r >= 0; r--) begin
        for (int c = N - 1; c >= 0; c--) begin
          if (r > 0 || c > 0) op_a[N*r + c] = op_a[(N*r + c + N*N - 1) % (N*N)];
        end
      end
      for (int r = N - 1; r > 0; r--) begin
        for (int c = 0; c < N; c++) op_w[N*r + c] = op_w[N*r - N + c];
      end
      if (fp_on) begin
        for (int r = N - 1; r >= 0; r--) begin
          for (int c = N - 1; c >= 0; c--) begin
            if (r > 0 || c > 0) op_ax[N*r + c] = op_ax[(N*r + c + N*N - 1) % (N*N)];
          end
        end
        for (int r = N - 1; r > 0; r--) begin
          for (int c = 0; c < N; c++) op_wx[N*r + c] = op_wx[N*r - N + c];
        end
      end

      // New words, then the elements whose turn it is.
      if (load_i) begin
        if (HAS_FP8 && {1'b0, kind_i} == weft_cmd_pkg::POST_MODE_V_FLOAT8) begin
          for (int j = 0; j < N; j++) begin
            {kind, exponent, significand} = weft_float_pkg::operand(act_i[16*j +: 8], act_zp_i[1:0]);
            if (act_i[16*j + 8]) {kind, significand} = {weft_float_pkg::NOTHING, 5'd0};
            in_a[j] = A_BITS'($signed(significand));
            in_ax[j] = {kind, 7'(exponent) + 7'($signed(act_zp_i[7:2])) + 7'd2};
            {kind, exponent, significand} = weft_float_pkg::weight(wgt_i[8*j +: 8], wgt_zp_i[1:0]);
            in_w[j] = 9'($signed(significand));
            in_w2[j] = in_w[j];
            in_wx[j] = {kind, exponent};
          end
        end else begin
          if (HAS_INT16 && kind_i[0]) begin
            for (int j = 0; j < N; j++) in_a[j] = A_BITS'($signed(act_i[16*j +: 16]));
          end else begin
            for (int j = 0; j < N; j++) in_a[j] = A_BITS'($signed(act_i[8*j +: 8])) - A_BITS'($signed(act_zp_i));
          end
          for (int j = 0; j < N; j++) in_w[j] = 9'($signed(wgt_i[8*j +: 8])) - 9'($signed(wgt_zp_i));
          if (HAS_PAIRS) begin
            for (int j = 0; j < N; j++) in_w2[j] = 9'($signed(wgt_second_i[8*j +: 8])) - 9'($signed(wgt_zp_i));
          end
          if (fp_on) begin
            for (int j = 0; j < N; j++) begin
              in_ax[j] = '0;
              in_wx[j] = '0;
            end
          end
        end
      end else begin
        for (int j = 0; j < N; j++) begin
          in_a[j] = '0;
          in_w[j] = '0;
          in_w2[j] = '0;
        end
        if (fp_on) begin
          for (int j = 0; j < N; j++) begin
            in_ax[j] = '0;
            in_wx[j] = '0;
          end
        end
      end
      for (int r = 0; r < N; r++) begin
        if (phase_i == LOG2_N'(r)) begin
          for (int j = 0; j < N; j++) begin
            skew_a[(r + j) % N][r] = in_a[j];
            skew_w[(r + j) % N][r] = in_w[j];
          end
          if (fp_on) begin
            for (int j = 0; j < N; j++) begin
              skew_ax[(r + j) % N][r] = in_ax[j];
              skew_wx[(r + j) % N][r] = in_wx[j];
            end
          end
        end
      end
      for (int r = 0; r < N; r++) begin
        op_a[N*r] = skew_a[phase_i][r];
        op_w[r] = skew_w[phase_i][r];
      end
      if (HAS_PAIRS) begin
        for (int j = 0; j < N; j++) begin
          old_w2[j] = late_w[phase_i[LOG2_N-2:0]][j];
          late_w[phase_i[LOG2_N-2:0]][j] = in_w2[j];
        end
        for (int r = 0; r < N; r++) begin
          if (phase_i == LOG2_N'((r + N/2) % N)) begin
            for (int j = 0; j < N; j++) skew_w2[(r + N/2 + j) % N][r] = old_w2[j];
          end
        end
        for (int r = 0; r < N; r++) op_w[N*(N/2) + r] = skew_w2[phase_i][r];
      end
      if (fp_on) begin
        for (int r = 0; r < N; r++) begin
          op_ax[N*r] = skew_ax[phase_i][r];
          op_wx[r] = skew_wx[phase_i][r];
        end
      end
    end
  end
  // verilator lint_on BLKSEQ

`ifdef WEFT_ASSERT
  // Where the controller breaks a rule of the header, rows are lost or sums mix.
  logic              chunk_q;       // the slot before held a word: the next phase follows
  logic [LOG2_N-1:0] old_phase_q;
  logic [LOG2_N+1:0] empty_q;       // slots since the last word, up to 2N: then the array is empty
  logic              was_fp_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni || clr_i) begin
      chunk_q <= 1'b0;
      empty_q <= (LOG2_N+2)'(2*N);
    end else if (adv_i) begin
      chunk_q     <= load_i;
      old_phase_q <= phase_i;
      was_fp_q    <= {1'b0, kind_i} == weft_cmd_pkg::POST_MODE_V_FLOAT8;
      if (load_i) empty_q <= '0;
      else if (empty_q != (LOG2_N+2)'(2*N)) empty_q <= empty_q + (LOG2_N+2)'(1);
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_ni && !clr_i) begin
      assert ((token_q[2*N-1:N] & (token_q[2*N-1:N] - N'(1))) == '0);  // one row is due at a time
      if (take_i) assert (adv_i && due_o);
      if (adv_i && last_i) assert (load_i && phase_i == LOG2_N'(N - 1));
      if (adv_i && last_i) assert (token_q[N-2:0] == '0);              // groups are N slots apart at least
      if (adv_i && chunk_q) assert (phase_i == old_phase_q + LOG2_N'(1));
      if (adv_i && load_i) assert (kind_i != 2'd3 && (HAS_FP8 || !kind_i[1]) && (HAS_INT16 || !kind_i[0]));
      if (adv_i && load_i && empty_q != (LOG2_N+2)'(2*N) && !chunk_q) assert (phase_i == '0 || empty_q != '0);
      if (adv_i && load_i && empty_q != (LOG2_N+2)'(2*N) && empty_q != '0)
        assert (float_q == ({1'b0, kind_i} == weft_cmd_pkg::POST_MODE_V_FLOAT8));
      if (adv_i && load_i && chunk_q) assert (was_fp_q == ({1'b0, kind_i} == weft_cmd_pkg::POST_MODE_V_FLOAT8));
    end
  end
`endif

endmodule
