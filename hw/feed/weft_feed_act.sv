// SPDX-License-Identifier: Apache-2.0
//
// Activation feeder: walks a conv command's column tiles, pixel groups, taps
// and chunks, and offers one word for each row of each chunk: N bytes, or in
// mode 1 N int16, or in mode 2 N float8, 16 bits apart, with bit 8 set where there
// is no product.
//
// Where two column tiles are computed at a time (pairs), a group has N/2 pixels, and
// rows N/2 to N-1 get the same words as rows 0 to N/2-1.
//
// start_i is a pulse; cmd_i is stable from then until idle_o. Bytes outside
// the input or the run are replaced by the zero point, and words without any
// byte inside are not read. step_o, step_odd_o, step_pair_o, group_end_o and tile_end_o
// drive the weight feeder in lock-step. A word is offered 4 cycles after its
// step if the scratchpad grants at once; one word a cycle is sustained. A word
// of int16 is one wide read if its address is a multiple of N or its used bytes
// come with one, else two reads and a cycle more.
//
// A word whose first used byte lies beyond the scratchpad is never requested:
// fault_o stays high, and nothing moves, until clr_i.
//
// Model: sim/model/conv.c   Theory: hw/feed/README.md
module weft_feed_act (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic clr_i,

  input  logic               start_i,
  input  weft_cmd_pkg::cmd_t cmd_i,
  output logic               idle_o,   // cmd_i may change
  output logic               empty_o,  // idle, and every word taken

  output logic                             step_o,
  input  logic                             step_ready_i,
  output logic                             step_odd_o,   // row of the step is odd
  output logic                             step_pair_o,  // two column tiles at a time
  output logic                             group_end_o,
  output logic                             tile_end_o,

  output weft_cfg_pkg::sp_read_t read_o,
  input  logic                   gnt_i,
  input  weft_cfg_pkg::sp_pair_t rdata_i,

  output logic                    valid_o,
  input  logic                    ready_i,
  output weft_cfg_pkg::row_half_t word_o,    // bytes in the low half, int16, or float8
  output logic [1:0]              kind_o,    // 0 int8, 1 int16, 2 float8
  output logic [7:0]              zp_o,      // float8: {log2_scale, format}
  output logic                    row_ok_o,  // the row is a pixel
  output logic                    pair_o,    // two column tiles at a time
  output logic                    last_o,    // last word of a pixel group whose sums leave the array

  output logic                   fault_o,
  output weft_cfg_pkg::sp_addr_t fault_addr_o
);
  localparam int N = weft_cfg_pkg::N;
  localparam int unsigned AddrW = weft_cfg_pkg::SP_ADDR_BITS;
  localparam int LOG2_N = weft_cfg_pkg::LOG2_N;
  localparam int SP_BITS = weft_cfg_pkg::LOG2_SP_BYTES;

  // Command fields
  weft_cfg_pkg::sp_addr_t in_base, oy_step, ox_step, ky_step, kx_step, run_len, x_limit;
  logic [15:0]            ow, oh, oc, in_h;
  logic [11:0]            n_ky, n_kx;
  logic [13:0]            stride_y, dil_y;
  logic [20:0]            xb_start;
  logic [15:0]            iy_start;
  logic [7:0]             x_zp;
  logic [5:0]             log2_scale;
  logic [1:0]             x_fmt;
  logic                   keep, pairs, two, fp;
  assign in_base  = cmd_i[weft_cmd_pkg::CONV_IN_BASE_LSB +: AddrW];
  assign oy_step  = cmd_i[weft_cmd_pkg::CONV_OY_STEP_LSB +: AddrW];
  assign ox_step  = cmd_i[weft_cmd_pkg::CONV_OX_STEP_LSB +: AddrW];
  assign ky_step  = cmd_i[weft_cmd_pkg::CONV_KY_STEP_LSB +: AddrW];
  assign kx_step  = cmd_i[weft_cmd_pkg::CONV_KX_STEP_LSB +: AddrW];
  assign run_len  = cmd_i[weft_cmd_pkg::CONV_RUN_LEN_LSB +: AddrW];
  assign x_limit  = cmd_i[weft_cmd_pkg::CONV_X_LIMIT_LSB +: AddrW];
  assign ow       = cmd_i[weft_cmd_pkg::POST_OW_LSB +: 16];
  assign oh       = cmd_i[weft_cmd_pkg::POST_OH_LSB +: 16];
  assign oc       = cmd_i[weft_cmd_pkg::POST_OC_LSB +: 16];
  assign in_h     = cmd_i[weft_cmd_pkg::CONV_IN_H_LSB +: 16];
  assign n_ky     = cmd_i[weft_cmd_pkg::CONV_N_KY_LSB +: 12];
  assign n_kx     = cmd_i[weft_cmd_pkg::CONV_N_KX_LSB +: 12];
  assign stride_y = cmd_i[weft_cmd_pkg::CONV_STRIDE_Y_LSB +: 14];
  assign dil_y    = cmd_i[weft_cmd_pkg::CONV_DIL_Y_LSB +: 14];
  assign xb_start = cmd_i[weft_cmd_pkg::CONV_XB_START_LSB +: 21];
  assign iy_start = cmd_i[weft_cmd_pkg::CONV_IY_START_LSB +: 16];
  assign keep     = cmd_i[weft_cmd_pkg::CONV_KEEP_LSB];
  assign pairs    = weft_cfg_pkg::HAS_PAIRS && cmd_i[weft_cmd_pkg::CONV_PAIRS_LSB];
  assign x_zp     = cmd_i[weft_cmd_pkg::CONV_X_ZP_LSB +: 8];
  assign log2_scale = cmd_i[weft_cmd_pkg::CONV_LOG2_SCALE_LSB +: 6];
  assign x_fmt    = cmd_i[weft_cmd_pkg::POST_X_FMT_LSB +: 2];
  assign two      = weft_cfg_pkg::HAS_INT16 && cmd_i[weft_cmd_pkg::POST_MODE_LSB +: weft_cmd_pkg::POST_MODE_W] == weft_cmd_pkg::POST_MODE_V_INT16;
  assign fp       = weft_cfg_pkg::HAS_FP8 && cmd_i[weft_cmd_pkg::POST_MODE_LSB +: weft_cmd_pkg::POST_MODE_W] == weft_cmd_pkg::POST_MODE_V_FLOAT8;
  logic unused_cmd;  // fields of other modules
  assign unused_cmd = ^cmd_i;

  // Output pixel walker. xb and iy only grow from one row's start on; once
  // beyond every legal limit they stay there, so that they need no more bits.
  logic                   px_ok_q;
  logic [15:0]            px_ox_q, px_oy_q;
  weft_cfg_pkg::sp_addr_t px_addr_q, px_row_addr_q;
  logic signed [21:0]     px_xb_q;
  logic signed [17:0]     px_iy_q;

  // Row contexts of the group
  weft_cfg_pkg::sp_addr_t ctx_addr_q [N];
  logic signed [21:0]     ctx_xb_q [N];
  logic signed [17:0]     ctx_iy_q [N];
  logic [N-1:0]           ctx_ok_q;

  // Loop state: row, chunk in the run, tap
  logic                   run_q, first_chunk_q;
  logic [LOG2_N-1:0]      row_q;
  weft_cfg_pkg::sp_addr_t left_q;             // bytes of the run from this chunk on
  logic [11:0]            kx_q, ky_q;
  weft_cfg_pkg::sp_addr_t off_addr_q, kx_addr_q, ky_addr_q;
  logic [21:0]            off_xb_q, kx_xb_q;  // saturate from 2^21 on
  logic [17:0]            off_iy_q;           // saturates from 2^17 on
  logic [15:0]            oc_left_q;

  // Stage A: sums
  logic                   a_valid_q, a_ok_q, a_last_q, a_pair_q;
  weft_cfg_pkg::sp_addr_t a_addr_q;
  logic signed [23:0]     a_xb_q;
  logic signed [19:0]     a_iy_q;      // no address: a row of the input, 18 bits and two of carry
  logic [LOG2_N+1:0]      a_left_q;  // bytes of the run in this chunk, at most 2N
  // Stage B: request, once or twice
  logic                   b_valid_q, b_need_q, b_ok_q, b_last_q, b_pair_q, b_bad_q;
  weft_cfg_pkg::sp_addr_t b_addr_q, b_first_q;
  logic [LOG2_N+1:0]      b_lo_q, b_hi_q;
  logic                   b_two_q, b_fp_q, b_wide_q, b_split_q, b_second_q;
  logic [7:0]             b_zp_q;
  // Stage C: data
  logic                   c_valid_q, c_need_q, c_ok_q, c_last_q, c_pair_q;
  logic [LOG2_N+1:0]      c_lo_q, c_hi_q;
  logic                   c_two_q, c_fp_q, c_split_q;
  logic                   c_first_q;  // the first of two reads comes
  weft_cfg_pkg::sp_word_t c_low_q;    // what it brought
  logic [7:0]             c_zp_q;
  // Words
  weft_cfg_pkg::row_half_t fifo_word_q [4];
  logic [12:0]             fifo_info_q [4];
  logic [1:0]              fifo_wr_q, fifo_rd_q;
  logic [2:0]              fifo_n_q;

  logic                   a_ready, b_ready, b_room, b_first, b_go, step, row_end, run_end, kx_end, ky_end, px_row_end;
  logic                   px_ok_next;
  logic                   pair, walk;          // two column tiles at a time; the walker gives the row's pixel
  logic [LOG2_N-1:0]      ctx;                 // which context is the row's
  logic [15:0]            columns;             // of the tiles that are computed at a time
  weft_cfg_pkg::sp_addr_t chunk;  // bytes

  assign b_room  = (fifo_n_q + 3'(c_valid_q)) < 3'd4;
  assign read_o.req   = b_valid_q && b_need_q && !b_bad_q && b_room;
  assign read_o.addr  = (b_addr_q + (b_second_q ? AddrW'(N) : '0)) & AddrW'(weft_cfg_pkg::SP_BYTES - 1);
  assign read_o.wide  = b_wide_q;
  assign b_first = b_split_q && !b_second_q;
  assign b_go    = b_valid_q && !b_bad_q && b_room && ((gnt_i && !b_first) || !b_need_q);
  assign b_ready = !b_valid_q || b_go;
  assign a_ready = !a_valid_q || b_ready;
  assign step    = run_q && a_ready && step_ready_i;

  assign row_end     = row_q == LOG2_N'(N - 1);
  assign chunk       = two ? AddrW'(2*N) : AddrW'(N);
  assign run_end     = left_q <= chunk;
  assign kx_end      = kx_q + 12'd1 == n_kx;
  assign ky_end      = ky_q + 12'd1 == n_ky;
  assign px_row_end  = px_ox_q + 16'd1 == ow;
  assign pair        = pairs && oc_left_q > 16'(N);
  assign columns     = pair ? 16'(2*N) : 16'(N);
  assign ctx         = pair ? row_q & LOG2_N'(N/2 - 1) : row_q;
  assign walk        = first_chunk_q && ctx == row_q;
  assign px_ok_next  = px_ok_q && !(walk && px_row_end && px_oy_q + 16'd1 == oh);

  assign step_o      = step;
  assign step_odd_o  = row_q[0];
  assign step_pair_o = pair;
  assign group_end_o = row_end && run_end && kx_end && ky_end;
  assign tile_end_o  = group_end_o && !px_ok_next;
  assign idle_o      = !run_q && !a_valid_q && !b_valid_q;
  assign empty_o     = idle_o && !c_valid_q && fifo_n_q == 3'd0;

  assign fault_o      = b_valid_q && b_bad_q;
  assign fault_addr_o = b_first_q;

  // Walker and loops
  weft_cfg_pkg::sp_addr_t next_row_addr;
  assign next_row_addr = px_row_addr_q + oy_step;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      run_q <= 1'b0;
    end else if (clr_i) begin
      run_q <= 1'b0;
    end else if (start_i) begin
      run_q         <= 1'b1;
      first_chunk_q <= 1'b1;
      row_q         <= '0;
      left_q        <= run_len;
      kx_q          <= '0;
      ky_q          <= '0;
      off_addr_q    <= '0;
      kx_addr_q     <= '0;
      ky_addr_q     <= '0;
      off_xb_q      <= '0;
      kx_xb_q       <= '0;
      off_iy_q      <= '0;
      oc_left_q     <= oc;
      px_ok_q       <= 1'b1;
      px_ox_q       <= '0;
      px_oy_q       <= '0;
      px_addr_q     <= in_base;
      px_row_addr_q <= in_base;
      px_xb_q       <= 22'($signed(xb_start));
      px_iy_q       <= 18'($signed(iy_start));
    end else if (step) begin
      row_q <= row_q + LOG2_N'(1);
      if (walk) begin
        ctx_addr_q[row_q] <= px_addr_q;
        ctx_xb_q[row_q]   <= px_xb_q;
        ctx_iy_q[row_q]   <= px_iy_q;
        ctx_ok_q[row_q]   <= px_ok_q;
        px_ok_q           <= px_ok_next;
        if (px_row_end) begin
          px_ox_q       <= '0;
          px_oy_q       <= px_oy_q + 16'd1;
          px_addr_q     <= next_row_addr;
          px_row_addr_q <= next_row_addr;
          px_xb_q       <= 22'($signed(xb_start));
          if (px_iy_q[17:16] != 2'b01) px_iy_q <= px_iy_q + $signed({4'b0, stride_y});
        end else begin
          px_ox_q   <= px_ox_q + 16'd1;
          px_addr_q <= px_addr_q + ox_step;
          if (px_xb_q[21:20] != 2'b01) px_xb_q <= px_xb_q + $signed({2'b0, ox_step});
        end
      end
      if (row_end) begin
        first_chunk_q <= 1'b0;
        if (!run_end) begin
          left_q     <= left_q - chunk;
          off_addr_q <= off_addr_q + chunk;
          if (!off_xb_q[21]) off_xb_q <= off_xb_q + 22'(chunk);
        end else begin
          left_q <= run_len;
          if (!kx_end) begin
            kx_q       <= kx_q + 12'd1;
            off_addr_q <= kx_addr_q + kx_step;
            kx_addr_q  <= kx_addr_q + kx_step;
            off_xb_q   <= kx_xb_q[21] ? kx_xb_q : kx_xb_q + 22'(kx_step);
            kx_xb_q    <= kx_xb_q[21] ? kx_xb_q : kx_xb_q + 22'(kx_step);
          end else begin
            kx_q     <= '0;
            off_xb_q <= '0;
            kx_xb_q  <= '0;
            if (!ky_end) begin
              ky_q       <= ky_q + 12'd1;
              off_addr_q <= ky_addr_q + ky_step;
              kx_addr_q  <= ky_addr_q + ky_step;
              ky_addr_q  <= ky_addr_q + ky_step;
              if (!off_iy_q[17]) off_iy_q <= off_iy_q + 18'(dil_y);
            end else begin
              ky_q          <= '0;
              off_addr_q    <= '0;
              kx_addr_q     <= '0;
              ky_addr_q     <= '0;
              off_iy_q      <= '0;
              first_chunk_q <= 1'b1;
              if (!px_ok_next) begin
                run_q         <= oc_left_q > columns;
                oc_left_q     <= oc_left_q - columns;
                px_ok_q       <= 1'b1;
                px_ox_q       <= '0;
                px_oy_q       <= '0;
                px_addr_q     <= in_base;
                px_row_addr_q <= in_base;
                px_xb_q       <= 22'($signed(xb_start));
                px_iy_q       <= 18'($signed(iy_start));
              end
            end
          end
        end
      end
    end
  end

  // Stage A
  logic signed [21:0] base_xb;
  logic signed [17:0] base_iy;
  assign base_xb = walk ? px_xb_q : ctx_xb_q[ctx];
  assign base_iy = walk ? px_iy_q : ctx_iy_q[ctx];

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      a_valid_q <= 1'b0;
    end else if (clr_i) begin
      a_valid_q <= 1'b0;
    end else if (a_ready) begin
      a_valid_q <= step;
      if (step) begin
        a_addr_q <= (walk ? px_addr_q : ctx_addr_q[ctx]) + off_addr_q;
        a_xb_q   <= 24'(base_xb) + $signed({2'b0, off_xb_q});
        a_iy_q   <= 20'(base_iy) + $signed({2'b0, off_iy_q});
        a_ok_q   <= walk ? px_ok_q : ctx_ok_q[ctx];
        a_pair_q <= pair;
        a_left_q <= run_end ? (LOG2_N+2)'(left_q) : (LOG2_N+2)'(chunk);
        a_last_q <= group_end_o && !keep;
      end
    end
  end

  // Stage B: bytes lo..hi-1 of the word are used.
  logic signed [23:0]     x_room;
  logic [LOG2_N+1:0]      lo, hi, got;  // got: bytes that one narrow read brings
  logic                   need, aligned;
  weft_cfg_pkg::sp_addr_t first, last;
  always_comb begin
    x_room = $signed({4'b0, x_limit}) - a_xb_q;
    lo = '0;
    if (a_xb_q < 24'sd0) lo = (a_xb_q < -24'(2*N)) ? (LOG2_N+2)'(2*N) : (LOG2_N+2)'(-a_xb_q);
    hi = a_left_q;
    if (x_room <= 24'sd0) hi = '0;
    else if (x_room < $signed(24'(a_left_q))) hi = (LOG2_N+2)'(x_room);
    need = a_ok_q && a_iy_q >= 20'sd0 && a_iy_q < $signed({4'b0, in_h}) && lo < hi;
    first = a_addr_q + AddrW'(lo);
    last = a_addr_q + AddrW'(hi) - 20'd1;
    aligned = a_addr_q[LOG2_N-1:0] == '0;
    got = (LOG2_N+2)'(2*N) - (LOG2_N+2)'(a_addr_q[LOG2_N-1:0]);
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      b_valid_q  <= 1'b0;
      b_second_q <= 1'b0;
    end else if (clr_i) begin
      b_valid_q  <= 1'b0;
      b_second_q <= 1'b0;
    end else if (b_ready) begin
      b_valid_q  <= a_valid_q;
      b_second_q <= 1'b0;
      if (a_valid_q) begin
        b_need_q  <= need;
        b_bad_q   <= need && ((first | last) >> SP_BITS) != 20'd0;
        b_addr_q  <= a_addr_q;
        b_first_q <= (first >> SP_BITS) != 20'd0 ? first : last;
        b_lo_q    <= lo;
        b_hi_q    <= hi;
        b_ok_q    <= a_ok_q;
        b_last_q  <= a_last_q;
        b_pair_q  <= a_pair_q;
        b_two_q   <= two;
        b_fp_q    <= fp;
        b_wide_q  <= aligned && hi > (LOG2_N+2)'(N);
        b_split_q <= need && !aligned && hi > got;
        b_zp_q    <= fp ? {log2_scale, x_fmt} : x_zp;
      end
    end else if (b_first && read_o.req && gnt_i) begin
      b_second_q <= 1'b1;
    end
  end

  // Stage C and the words. The FIFO has room: b_room counted this word.
  weft_cfg_pkg::row_half_t word;
  /* verilator lint_off BLKSEQ */  // word only
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      c_valid_q <= 1'b0;
      c_first_q <= 1'b0;
      fifo_wr_q <= '0;
      fifo_rd_q <= '0;
      fifo_n_q  <= '0;
    end else if (clr_i) begin
      c_valid_q <= 1'b0;
      c_first_q <= 1'b0;
      fifo_wr_q <= '0;
      fifo_rd_q <= '0;
      fifo_n_q  <= '0;
    end else begin
      c_valid_q <= b_go;
      c_first_q <= b_first && read_o.req && gnt_i;
      if (c_first_q) c_low_q <= rdata_i[8*N-1:0];
      if (b_go) begin
        c_need_q  <= b_need_q;
        c_ok_q    <= b_ok_q;
        c_last_q  <= b_last_q;
        c_pair_q  <= b_pair_q;
        c_lo_q    <= b_lo_q;
        c_hi_q    <= b_hi_q;
        c_two_q   <= b_two_q;
        c_fp_q    <= b_fp_q;
        c_split_q <= b_split_q;
        c_zp_q    <= b_zp_q;
      end
      if (c_valid_q) begin
        word = rdata_i;
        if (c_split_q) word = {rdata_i[8*N-1:0], c_low_q};
        if (weft_cfg_pkg::HAS_FP8 && c_fp_q) begin
          for (int j = 0; j < N; j++) begin
            word[16*j +: 16] = {8'd0, rdata_i[8*j +: 8]};
            if (!c_need_q || (LOG2_N+2)'(j) < c_lo_q || (LOG2_N+2)'(j) >= c_hi_q) word[16*j + 8] = 1'b1;
          end
        end else if (!c_need_q) begin
          word = {(2*N){c_zp_q}};
        end else if (c_lo_q != '0 || c_hi_q != (c_two_q ? (LOG2_N+2)'(2*N) : (LOG2_N+2)'(N))) begin
          for (int j = 0; j < N; j++) begin
            if ((LOG2_N+2)'(j) < c_lo_q || (LOG2_N+2)'(j) >= c_hi_q) word[8*j +: 8] = c_zp_q;
          end
          if (c_two_q) begin
            for (int j = N; j < 2*N; j++) begin
              if ((LOG2_N+2)'(j) < c_lo_q || (LOG2_N+2)'(j) >= c_hi_q) word[8*j +: 8] = c_zp_q;
            end
          end
        end
        fifo_word_q[fifo_wr_q] <= word;
        fifo_info_q[fifo_wr_q] <= {c_pair_q, c_fp_q, c_two_q, c_last_q, c_ok_q, c_zp_q};
        fifo_wr_q <= fifo_wr_q + 2'd1;
      end
      if (valid_o && ready_i) fifo_rd_q <= fifo_rd_q + 2'd1;
      fifo_n_q <= fifo_n_q + 3'(c_valid_q) - 3'(valid_o && ready_i);
    end
  end
  // verilator lint_on BLKSEQ

  assign valid_o  = fifo_n_q != 3'd0;
  assign word_o   = fifo_word_q[fifo_rd_q];
  assign zp_o     = fifo_info_q[fifo_rd_q][7:0];
  assign row_ok_o = fifo_info_q[fifo_rd_q][8];
  assign last_o   = fifo_info_q[fifo_rd_q][9];
  assign kind_o   = fifo_info_q[fifo_rd_q][11:10];
  assign pair_o   = weft_cfg_pkg::HAS_PAIRS && fifo_info_q[fifo_rd_q][12];

`ifdef WEFT_ASSERT
  always @(posedge clk_i) begin
    if (rst_ni && !clr_i) begin
      assert (fifo_n_q <= 3'd4);
      assert (!(start_i && run_q));
      assert (!(ready_i && !valid_o));
    end
  end
`endif
endmodule
