// SPDX-License-Identifier: Apache-2.0
//
// The alu command: an operation on each element of up to four dimensions, from
// the scratchpad to the scratchpad.
//
// start_i takes cmd_i, which is stable until done_o. The first read is asked for
// two cycles later. done_o pulses in the cycle after the last write was granted.
// An access beyond the scratchpad raises bad_o, with the address, and is never
// asked for; flush_i then forgets everything. Neither request depends on a grant.
//
// Elements go in blocks along dimension 0: a word where bytes are only moved or repeated, N/4
// (N/8 with int48) where every operand is dense or still there, else one. Where only a is neither dense nor
// still, its elements are read one by one, and a block of results is written at once. A block
// costs a cycle for each operand that it reads. If b or c is still along dimension 0, it
// is read once for a row of blocks. If b is the same operand as a, it is not read. With tables a
// block costs one cycle for its index and one (interp: two) for each entry, at least three.
// If dimension 0 is long, a table of at most 256 entries is read first (weft_alu_table), and
// a block then costs one cycle, for its index. Reductions run along dimension 1
// inside a block; where a's elements lie side by side along it, a word of them a cycle.
//
// Model: sim/model/alu.c   Theory: hw/alu/README.md
module weft_alu (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic flush_i,

  input  logic          start_i,
  /* verilator lint_off UNUSEDSIGNAL */  // the header and reserved bits
  input  weft_cmd_pkg::cmd_t cmd_i,
  /* verilator lint_on UNUSEDSIGNAL */
  output logic                   done_o,
  output logic                   bad_o,
  output weft_cfg_pkg::sp_addr_t bad_addr_o,

  output weft_cfg_pkg::sp_read_t rd_o,
  input  logic                   rd_gnt_i,
  input  weft_cfg_pkg::sp_pair_t rd_data_i,  // in the cycle after the grant

  output weft_cfg_pkg::sp_write_t wr_o,
  input  logic                    wr_gnt_i
);

  localparam int unsigned N     = weft_cfg_pkg::N;
  localparam int unsigned AddrW = weft_cfg_pkg::SP_ADDR_BITS;
  localparam int unsigned Log2N = weft_cfg_pkg::LOG2_N;
  localparam int unsigned Lanes = N / 4;
  localparam int unsigned Depth = 8;    // blocks between issue and write

  // ---- the command --------------------------------------------------------------

  logic [4:0] func;
  assign func = cmd_i[weft_cmd_pkg::ALU_FUNC_LSB +: weft_cmd_pkg::ALU_FUNC_W];

  localparam logic [4:0] Move = weft_cmd_pkg::ALU_FUNC_V_MOVE, Add = weft_cmd_pkg::ALU_FUNC_V_ADD,
    Sub = weft_cmd_pkg::ALU_FUNC_V_SUB, Rsub = weft_cmd_pkg::ALU_FUNC_V_RSUB,
    Mul = weft_cmd_pkg::ALU_FUNC_V_MUL, Max = weft_cmd_pkg::ALU_FUNC_V_MAX,
    Min = weft_cmd_pkg::ALU_FUNC_V_MIN, Abs = weft_cmd_pkg::ALU_FUNC_V_ABS,
    And = weft_cmd_pkg::ALU_FUNC_V_AND, Or = weft_cmd_pkg::ALU_FUNC_V_OR,
    Xor = weft_cmd_pkg::ALU_FUNC_V_XOR, Shl = weft_cmd_pkg::ALU_FUNC_V_SHL,
    Shr = weft_cmd_pkg::ALU_FUNC_V_SHR, Eq = weft_cmd_pkg::ALU_FUNC_V_EQ,
    Gt = weft_cmd_pkg::ALU_FUNC_V_GT, Ge = weft_cmd_pkg::ALU_FUNC_V_GE,
    Select = weft_cmd_pkg::ALU_FUNC_V_SELECT, Clz = weft_cmd_pkg::ALU_FUNC_V_CLZ,
    Rescale = weft_cmd_pkg::ALU_FUNC_V_RESCALE, Lookup = weft_cmd_pkg::ALU_FUNC_V_LOOKUP,
    Interp = weft_cmd_pkg::ALU_FUNC_V_INTERP, Scatter = weft_cmd_pkg::ALU_FUNC_V_SCATTER,
    Sum = weft_cmd_pkg::ALU_FUNC_V_SUM, RMax = weft_cmd_pkg::ALU_FUNC_V_RMAX,
    RMin = weft_cmd_pkg::ALU_FUNC_V_RMIN, RAnd = weft_cmd_pkg::ALU_FUNC_V_RAND,
    ROr = weft_cmd_pkg::ALU_FUNC_V_ROR, Dot = weft_cmd_pkg::ALU_FUNC_V_DOT,
    ArgMax = weft_cmd_pkg::ALU_FUNC_V_ARGMAX;

  logic [2:0]             a_type, b_type, c_type;
  logic [1:0]             a_log, b_log, c_log, out_log;  // bytes of an element
  logic [15:0]            n0, n1, n2, n3;
  logic [16:0]            a_zp, b_zp, out_zp;
  logic                   b_imm, c_imm, clamp, rounded, even;
  logic [5:0]             shift;
  logic [31:0]            b_value, c_value, lo, hi;
  weft_cfg_pkg::sp_addr_t idx_step, idx_last, a_s0, b_s0, c_s0, out_s0;

  assign a_type   = cmd_i[weft_cmd_pkg::ALU_A_TYPE_LSB +: 3];
  assign b_type   = cmd_i[weft_cmd_pkg::ALU_B_TYPE_LSB +: 3];
  assign c_type   = cmd_i[weft_cmd_pkg::ALU_C_TYPE_LSB +: 3];
  assign a_log    = a_type[1:0];               // 0..3 and 4..6 are 1, 2, 4, 8 and 1, 2, 4 bytes
  assign b_log    = b_type[1:0];
  assign c_log    = c_type[1:0];
  assign out_log  = cmd_i[weft_cmd_pkg::ALU_OUT_TYPE_LSB +: 2];   // signed or not, the same bytes
  assign n0       = cmd_i[weft_cmd_pkg::ALU_N0_LSB +: 16];
  assign n1       = cmd_i[weft_cmd_pkg::ALU_N1_LSB +: 16];
  assign n2       = cmd_i[weft_cmd_pkg::ALU_N2_LSB +: 16];
  assign n3       = cmd_i[weft_cmd_pkg::ALU_N3_LSB +: 16];
  assign a_zp     = cmd_i[weft_cmd_pkg::ALU_A_ZP_LSB +: 17];
  assign b_zp     = cmd_i[weft_cmd_pkg::ALU_B_ZP_LSB +: 17];
  assign out_zp   = cmd_i[weft_cmd_pkg::ALU_OUT_ZP_LSB +: 17];
  assign b_imm    = cmd_i[weft_cmd_pkg::ALU_B_IMM_LSB];
  assign c_imm    = cmd_i[weft_cmd_pkg::ALU_C_IMM_LSB];
  assign clamp    = cmd_i[weft_cmd_pkg::ALU_CLAMP_LSB];
  assign rounded  = cmd_i[weft_cmd_pkg::ALU_ROUND_LSB];
  assign even     = weft_cfg_pkg::HAS_EVEN && func == Rescale && cmd_i[weft_cmd_pkg::ALU_EVEN_LSB];
  assign shift    = cmd_i[weft_cmd_pkg::ALU_SHIFT_LSB +: 6];
  assign b_value  = cmd_i[weft_cmd_pkg::ALU_B_VALUE_LSB +: 32];
  assign c_value  = cmd_i[weft_cmd_pkg::ALU_C_VALUE_LSB +: 32];
  assign lo       = cmd_i[weft_cmd_pkg::ALU_LO_LSB +: 32];
  assign hi       = cmd_i[weft_cmd_pkg::ALU_HI_LSB +: 32];
  assign idx_step = cmd_i[weft_cmd_pkg::ALU_IDX_STEP_LSB +: AddrW];
  assign idx_last = cmd_i[weft_cmd_pkg::ALU_IDX_LAST_LSB +: AddrW];
  assign a_s0     = cmd_i[weft_cmd_pkg::ALU_A_S0_LSB +: AddrW];
  assign b_s0     = cmd_i[weft_cmd_pkg::ALU_B_S0_LSB +: AddrW];
  assign c_s0     = cmd_i[weft_cmd_pkg::ALU_C_S0_LSB +: AddrW];
  assign out_s0   = cmd_i[weft_cmd_pkg::ALU_OUT_S0_LSB +: AddrW];

  // looks_up: b is a table. here_q: the table has been read into u_table. table_f: its entries are read as they are looked up.
  logic looks_up, here_q, table_f, reduce_f, use_b, use_c;
  assign looks_up = func == Lookup || func == Interp;
  assign table_f  = looks_up && !here_q;
  assign reduce_f = func >= Sum;
  assign use_c    = (func == Select || func == Rescale) && !c_imm;

  always_comb begin
    use_b = !b_imm;
    case (func)
      Move, Abs, Clz, Sum, RMax, RMin, RAnd, ROr, ArgMax: use_b = 1'b0;
      Lookup, Interp: use_b = 1'b0;            // its elements are read by index
      default: ;
    endcase
  end

  // ---- how a block is made up -----------------------------------------------------

  logic a_dense, a_still, b_dense, b_still, c_dense, c_still, out_dense, wide, word, vector, shared, gather;
  assign a_dense   = a_s0 == 20'd1 << a_log;
  assign b_dense   = b_s0 == 20'd1 << b_log;
  assign c_dense   = c_s0 == 20'd1 << c_log;
  assign out_dense = out_s0 == 20'd1 << out_log;
  assign a_still   = a_s0 == '0;
  assign b_still   = b_s0 == '0;
  assign c_still   = c_s0 == '0;
  assign wide      = a_log == 2'd3 || out_log == 2'd3 || ((use_b || looks_up) && b_log == 2'd3) || (use_c && c_log == 2'd3);
  assign word      = func == Move && a_log == out_log && a_log != 2'd3 && a_zp == '0 && out_zp == '0 && !clamp &&
                     (a_dense || a_still) && out_dense;
  // A table whose index is one for the whole block is read once.
  assign shared    = looks_up && a_still && (b_dense || b_still);
  assign vector    = out_dense && (a_dense || a_still) && (!use_b || (func == Scatter ? b_still : b_dense || b_still)) &&
                     (!use_c || c_dense || c_still) && (!looks_up || a_dense || shared);
  // The elements of a are gathered one by one.
  assign gather    = out_dense && !a_dense && !a_still && !looks_up && !reduce_f && func != Scatter && (!use_b || b_still) && (!use_c || c_still);
  logic [2:0] log_d, log_q;      // elements of a block
  logic       fold_d, fold_q;    // of the command that starts; of the command that runs
  assign log_d = word ? 3'(Log2N) - {1'b0, a_log} : (!vector && !gather) || fold_d ? 3'd0 : wide ? 3'(Log2N - 3) : 3'(Log2N - 2);

  // A word of a is folded at once where it is dense along dimension 1: the functions that
  // weft_alu_fold has, without a zero point. fold_d and fold_q say whether one is folded.

  logic [2:0] flog_q;            // elements of such a word, else 1
  assign fold_d = (func == Sum ? a_log == 2'd2 : (func == RMax || func == RMin || func == ArgMax) && a_log != 2'd3) &&
                  cmd_i[weft_cmd_pkg::ALU_A_S1_LSB +: AddrW] == 20'd1 << a_log && a_zp == '0;

  // Is b the same operand as a? Then it is not read again.
  logic twin_d, twin_q;
  assign twin_d = use_b && a_type == b_type &&
                  cmd_i[weft_cmd_pkg::ALU_A_BASE_LSB +: AddrW] == cmd_i[weft_cmd_pkg::ALU_B_BASE_LSB +: AddrW] && a_s0 == b_s0 &&
                  cmd_i[weft_cmd_pkg::ALU_A_S1_LSB +: AddrW] == cmd_i[weft_cmd_pkg::ALU_B_S1_LSB +: AddrW] &&
                  cmd_i[weft_cmd_pkg::ALU_A_S2_LSB +: AddrW] == cmd_i[weft_cmd_pkg::ALU_B_S2_LSB +: AddrW] &&
                  cmd_i[weft_cmd_pkg::ALU_A_S3_LSB +: AddrW] == cmd_i[weft_cmd_pkg::ALU_B_S3_LSB +: AddrW];

  // Is the table read before all else? It is if it is dense, small, the same for all elements and in the scratchpad as a whole, and
  // if dimension 0 has enough elements.
  localparam int unsigned TableWordBits = 11 - Log2N;
  logic                     here_d;
  logic [TableWordBits-1:0] table_words;
  logic [20:0]              table_end;
  assign table_words = TableWordBits'((((11'(idx_last[7:0]) + 11'd1) << b_log) + 11'(N - 1)) >> Log2N);
  assign table_end   = {1'b0, cmd_i[weft_cmd_pkg::ALU_B_BASE_LSB +: AddrW]} + (21'(table_words) << Log2N);
  assign here_d      = func == Lookup && vector && !shared && b_log != 2'd3 && idx_last < AddrW'(256) && n0 >= 16'd256 &&
                       idx_step == AddrW'(1) << b_log && b_still && table_end <= 21'(weft_cfg_pkg::SP_BYTES) &&
                       cmd_i[weft_cmd_pkg::ALU_B_S1_LSB +: AddrW] == '0 && cmd_i[weft_cmd_pkg::ALU_B_S2_LSB +: AddrW] == '0 &&
                       cmd_i[weft_cmd_pkg::ALU_B_S3_LSB +: AddrW] == '0;

  // ---- loops ------------------------------------------------------------------------

  // Level 0 is the innermost: blocks of dimension 0, or dimension 1 in reductions.
  // Operands: 0 a, 1 b, 2 c, 3 out.
  typedef enum logic [2:0] {Idle, Plan, Fill, Issue, Drain} state_e;
  state_e state_q;

  weft_cfg_pkg::sp_addr_t step  [4][4];  // [operand][level]
  weft_cfg_pkg::sp_addr_t at_q  [4];
  weft_cfg_pkg::sp_addr_t hold_q[4][4];  // [operand][level 1..3]: where the level's iteration began
  logic [16:0]            left_q;        // elements of dimension 0
  logic [15:0]            i1_q, i2_q, i3_q;
  logic [15:0]            left1;         // elements of dimension 1
  logic                   end0, end1, end2, end3, first1;
  logic                   lev0, lev1, lev2, last_place;
  logic [1:0]             level;
  logic [6:0]             lanes;

  assign end0   = left_q <= 17'd1 << log_q;
  assign left1  = n1 - i1_q;
  assign end1   = left1 <= 16'd1 << flog_q;
  assign first1 = i1_q == '0;
  assign end2   = i2_q == n2 - 16'd1;
  assign end3   = i3_q == n3 - 16'd1;
  assign lev0   = reduce_f ? end1 : end0;
  assign lev1   = reduce_f ? end0 : end1;
  assign lev2   = end2;
  assign level  = !lev0 ? 2'd0 : !lev1 ? 2'd1 : !lev2 ? 2'd2 : 2'd3;
  assign lanes  = end0 ? left_q[6:0] : 7'd1 << log_q;

  // Fields of an operand's steps: base, s0, s1 in its first word, s2, s3 in the second.
  always_comb begin
    for (int unsigned x = 0; x < 4; x++) begin
      step[x][0] = reduce_f ? (x == 3 ? '0 : x == 0 && fold_q ? AddrW'(N) : cmd_i[weft_cmd_pkg::ALU_A_S1_LSB + 128*x +: AddrW])
                            : cmd_i[weft_cmd_pkg::ALU_A_S0_LSB + 128*x +: AddrW] << log_q;
      step[x][1] = reduce_f ? cmd_i[weft_cmd_pkg::ALU_A_S0_LSB + 128*x +: AddrW] << log_q
                            : cmd_i[weft_cmd_pkg::ALU_A_S1_LSB + 128*x +: AddrW];
      step[x][2] = cmd_i[weft_cmd_pkg::ALU_A_S2_LSB + 128*x +: AddrW];
      step[x][3] = cmd_i[weft_cmd_pkg::ALU_A_S3_LSB + 128*x +: AddrW];
    end
  end

  weft_cfg_pkg::sp_addr_t next_at [4];
  always_comb begin
    for (int unsigned x = 0; x < 4; x++) begin
      case (level)
        2'd0:    next_at[x] = at_q[x];
        2'd1:    next_at[x] = hold_q[x][1];
        2'd2:    next_at[x] = hold_q[x][2];
        default: next_at[x] = hold_q[x][3];
      endcase
      next_at[x] = next_at[x] + step[x][level];
    end
  end

  logic [1:0]             op_q;      // operand that is asked for
  logic                   row_q;     // the block is the first of its row along dimension 0
  logic                   read_b, read_c;   // the block at hand reads b, c
  logic [6:0]             gather_q;  // which element of the block is gathered next,
  weft_cfg_pkg::sp_addr_t gather_at_q;      // and, unless it is the first one, where it lies
  logic [3:0]             flying_q;  // blocks from their issue (tables: last entry) to their write
  logic                   room, granted, last_op, at_bad, place, emit;
  always_ff @(posedge clk_i) begin
    if (start_i) begin
      for (int unsigned x = 0; x < 4; x++) begin
        at_q[x] <= cmd_i[weft_cmd_pkg::ALU_A_BASE_LSB + 128*x +: AddrW];
        for (int unsigned l = 1; l < 4; l++) hold_q[x][l] <= cmd_i[weft_cmd_pkg::ALU_A_BASE_LSB + 128*x +: AddrW];
      end
      left_q <= {1'b0, n0};
      i1_q   <= '0;
      i2_q   <= '0;
      i3_q   <= '0;
      row_q  <= 1'b1;
      log_q  <= log_d;
      fold_q <= fold_d;
      twin_q <= twin_d;
      flog_q <= fold_d ? 3'(Log2N) - {1'b0, a_log} : '0;
    end else if (granted && last_place) begin
      for (int unsigned x = 0; x < 4; x++) begin
        at_q[x] <= next_at[x];
        if (level >= 2'd1) hold_q[x][1] <= next_at[x];
        if (level >= 2'd2) hold_q[x][2] <= next_at[x];
        if (level == 2'd3) hold_q[x][3] <= next_at[x];
      end
      row_q <= reduce_f || end0;
      if (reduce_f ? lev0 : 1'b1) left_q <= end0 ? {1'b0, n0} : left_q - (17'd1 << log_q);
      if (reduce_f ? 1'b1 : lev0) i1_q <= end1 ? '0 : i1_q + (16'd1 << flog_q);
      if (lev0 && lev1) i2_q <= end2 ? '0 : i2_q + 16'd1;
      if (lev0 && lev1 && lev2) i3_q <= i3_q + 16'd1;
    end
  end

  // ---- reads --------------------------------------------------------------------------

  // Operands by their places, and entries of tables by their index. The index of a
  // block is read while the entries of the block before are: it goes first, since it
  // takes longest, but an access that is bad waits for all that come before it.
  weft_cfg_pkg::sp_addr_t at_bad_addr;
  weft_cfg_pkg::sp_addr_t at_op;     // where the operand that is asked for lies
  logic                   gathered;  // a is one element, or its last element is asked for
  logic [6:0]             at_bytes;
  logic [1:0]             op_log;
  logic                   op_dense;

  // Tables: the block whose index is asked for or read, and that whose entries are.
  logic                   next_busy_q, next_ready_q, fetch_q, fetch_bad;
  logic [6:0]             next_lanes_q, lanes_q, lane_q;
  weft_cfg_pkg::sp_addr_t next_out_q, out_q, next_table_q;
  logic                   second_q, last_entry;
  weft_cfg_pkg::sp_addr_t table_q, fetch_bad_addr;  // the entry's address
  logic [6:0]             fetch_bytes;

  // A table's block that is being fetched is not in flying_q yet.
  assign room      = table_f ? flying_q < 4'(Depth - 1) : flying_q < 4'(Depth);
  assign op_log    = op_q == 2'd0 ? a_log : op_q == 2'd1 ? b_log : c_log;
  assign op_dense  = op_q == 2'd0 ? a_dense : op_q == 2'd1 ? b_dense : c_dense;
  assign at_bytes  = fold_q ? (end1 ? left1[6:0] << a_log : 7'(N)) : (op_dense ? lanes : 7'd1) << op_log;
  assign read_b    = use_b && !twin_q && (row_q || !b_still);
  assign read_c    = use_c && (row_q || !c_still);
  assign gathered  = op_q != 2'd0 || !gather || gather_q == lanes - 7'd1;
  assign at_op     = op_q == 2'd0 && gather_q != '0 ? gather_at_q : at_q[op_q];
  assign last_op   = op_q == 2'd0 ? gathered && !read_b && !read_c : op_q == 2'd1 ? !read_c : 1'b1;
  assign emit      = !reduce_f || end1;

  assign fetch_bytes = (shared && b_dense ? lanes_q : 7'd1) << b_log;
  assign last_entry  = (shared || lane_q == lanes_q - 7'd1) && (second_q || func != Interp);

  weft_vec_range u_rd_range (.addr_i(at_op), .bytes_i({2'd0, at_bytes}), .bad_o(at_bad), .bad_addr_o(at_bad_addr));
  weft_vec_range u_table_range (.addr_i(table_q), .bytes_i({2'd0, fetch_bytes}), .bad_o(fetch_bad), .bad_addr_o(fetch_bad_addr));

  logic                   rd_bad, in_order;
  weft_cfg_pkg::sp_addr_t rd_bad_addr;
  assign place         = state_q == Issue && room && !next_busy_q && !(fetch_q && at_bad);
  logic                   fill_req;
  weft_cfg_pkg::sp_addr_t fill_addr;
  assign rd_o.req      = fill_req || (place ? !at_bad : fetch_q && !fetch_bad);
  assign rd_o.wide     = 1'b0;
  assign rd_o.addr     = fill_req ? fill_addr : place ? at_op : table_q;
  assign granted       = rd_o.req && rd_gnt_i && !fill_req;
  assign in_order      = !table_f || flying_q == '0;
  assign rd_bad        = in_order && (place ? at_bad : fetch_q && fetch_bad);
  assign rd_bad_addr   = place ? at_bad_addr : fetch_bad_addr;

  // The block is complete when its last read is granted. (What depends on the grant is
  // spelled out where it is clocked: simulators then look at it only if this clock runs.)
  logic last_read, all_done, empty, here_ready;
  assign last_place = place && last_op;
  assign last_read  = table_f ? !place && last_entry : last_place;
  assign all_done   = end3 && lev2 && lev1 && lev0;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) state_q <= Idle;
    else if (flush_i) state_q <= Idle;
    else begin
      case (state_q)
        Idle:    if (start_i) state_q <= Plan;
        Plan:    state_q <= here_q ? Fill : Issue;
        Fill:    if (here_ready) state_q <= Issue;
        Issue:   if (granted && last_place && all_done) state_q <= Drain;
        default: if (empty) state_q <= Idle;          // Drain
      endcase
    end
  end

  assign done_o = state_q == Drain && empty;

  always_ff @(posedge clk_i) begin
    if (state_q == Plan) op_q <= 2'd0;
    else if (granted && place && gathered)
      op_q <= last_op ? 2'd0 : op_q == 2'd0 && read_b ? 2'd1 : 2'd2;
  end

  always_ff @(posedge clk_i) begin
    if (state_q == Plan) gather_q <= '0;
    else if (granted && place && op_q == 2'd0 && gather) begin
      gather_q    <= gathered ? '0 : gather_q + 7'd1;
      gather_at_q <= at_op + a_s0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni || flush_i) here_q <= 1'b0;
    else if (start_i) here_q <= here_d;
  end

  // ---- operands -------------------------------------------------------------------------

  logic                   t_valid_q, t_last_q, t_dense_q, t_one_q, t_emit_q, t_first_q;
  logic [1:0]             t_op_q;
  logic [6:0]             t_lane_q, t_lanes_q;
  weft_cfg_pkg::sp_addr_t t_at_q;
  logic [15:0]            t_i1_q;
  logic [6:0]             t_bytes_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) t_valid_q <= 1'b0;
    else t_valid_q <= granted && !flush_i;
  end

  always_ff @(posedge clk_i) begin
    if (granted) begin
      t_last_q  <= last_read;
      t_op_q    <= place ? op_q : second_q ? 2'd2 : 2'd1;
      t_dense_q <= place ? op_dense : shared && b_dense;
      t_one_q   <= place ? op_q == 2'd0 && gather : !shared;   // into lane t_lane_q only
      t_lane_q  <= place ? gather_q : lane_q;
      t_lanes_q <= place ? lanes : lanes_q;
      t_emit_q  <= emit;
      t_first_q <= first1;
      t_at_q    <= place ? at_q[3] : out_q;
      t_i1_q    <= i1_q;
      if (fold_q) t_bytes_q <= at_bytes;
    end
  end

  logic [1:0] t_log;
  logic [2:0] t_type;
  assign t_type = t_op_q == 2'd0 ? a_type : t_op_q == 2'd1 || table_f ? b_type : c_type;
  assign t_log  = t_type[1:0];

  // Element l of what was read, extended.
  logic [47:0] got [Lanes];
  always_comb begin
    for (int unsigned l = 0; l < Lanes; l++) begin
      got[l] = '0;
      if (t_valid_q) begin
        case (t_log)
          2'd0: got[l] = {{40{!t_type[2] && rd_data_i[t_dense_q ? 8*l + 7 : 7]}}, rd_data_i[t_dense_q ? 8*l : 0 +: 8]};
          2'd1: got[l] = {{32{!t_type[2] && rd_data_i[t_dense_q ? 16*l + 15 : 15]}}, rd_data_i[t_dense_q ? 16*l : 0 +: 16]};
          2'd2: got[l] = {{16{!t_type[2] && rd_data_i[t_dense_q ? 32*l + 31 : 31]}}, rd_data_i[t_dense_q ? 32*l : 0 +: 32]};
          default: got[l] = rd_data_i[t_dense_q && l < Lanes / 2 ? 64*(l % (N / 8)) : 0 +: 48];
        endcase
      end
    end
  end

  logic [47:0]            a_q [Lanes], b_q [Lanes], c_q [Lanes];
  logic [47:0]            next_a_q [Lanes];     // tables: the next block's index
  logic                   load_now, load_then;  // its first entry is the next, at once or after this one
  weft_cfg_pkg::sp_word_t word_q;

  always_ff @(posedge clk_i) begin
    if (t_valid_q) begin
      for (int unsigned l = 0; l < Lanes; l++) begin
        if (t_op_q == 2'd0 && table_f) next_a_q[l] <= got[l];
        if (t_op_q == 2'd0 && !table_f && (!t_one_q || t_lane_q == 7'(l))) a_q[l] <= got[l];
        if (t_op_q == 2'd0 && twin_q) b_q[l] <= got[l];
        if (t_op_q == 2'd1 && (!t_one_q || t_lane_q == 7'(l))) b_q[l] <= got[t_one_q ? 0 : l];
        if (t_op_q == 2'd2 && (!t_one_q || t_lane_q == 7'(l))) c_q[l] <= got[t_one_q ? 0 : l];
      end
      if (word && a_still) begin
        case (a_log)
          2'd0:    word_q <= {N{rd_data_i[7:0]}};
          2'd1:    word_q <= {N / 2{rd_data_i[15:0]}};
          default: word_q <= {N / 4{rd_data_i[31:0]}};
        endcase
      end else if (word || fold_q) word_q <= rd_data_i[8*N-1:0];
    end
    if (load_now || (granted && load_then)) begin
      for (int unsigned l = 0; l < Lanes; l++) a_q[l] <= next_a_q[l];
    end
  end

  // ---- indices of tables --------------------------------------------------------------------

  // While an entry is asked for, the address of the next is computed: of the block's
  // next element, or of the next block's first.
  logic                   first_entry;
  weft_cfg_pkg::sp_addr_t walk_q;          // b's address at the next element, without its index
  logic [47:0]            pick, index_wide;
  weft_cfg_pkg::sp_addr_t index, scatter_idx, idx_offset;
  logic [6:0]             frac_q [Lanes];  // interp: of the block that is complete
  assign first_entry = !fetch_q || last_entry;
  assign load_now    = next_ready_q && !fetch_q;
  assign load_then   = next_ready_q && fetch_q && last_read;

  always_comb begin
    pick = next_a_q[0];
    for (int unsigned l = 1; l < Lanes; l++) begin
      if (!first_entry && lane_q == 7'(l - 1)) pick = a_q[l];
    end
    pick       = pick - {{31{a_zp[16]}}, a_zp};
    index_wide = func == Interp ? {39'd0, pick[15:7]} : pick;
    index      = index_wide[47] ? '0 : index_wide > 48'(idx_last) ? idx_last : AddrW'(index_wide);
    idx_offset = (func == Scatter ? scatter_idx : index) * idx_step;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni || flush_i) begin
      next_busy_q  <= 1'b0;
      next_ready_q <= 1'b0;
      fetch_q      <= 1'b0;
    end else if (table_f) begin
      if (granted && place) next_busy_q <= 1'b1;
      if (t_valid_q && t_op_q == 2'd0) next_ready_q <= 1'b1;
      if (granted && last_read) fetch_q <= 1'b0;
      if (load_now || (granted && load_then)) begin
        next_busy_q  <= 1'b0;
        next_ready_q <= 1'b0;
        fetch_q      <= 1'b1;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (table_f) begin
      if (granted && place) begin
        next_lanes_q <= lanes;
        next_out_q   <= at_q[3];
        next_table_q <= at_q[1];
      end
      if (granted && last_read) begin
        for (int unsigned l = 0; l < Lanes; l++) frac_q[l] <= a_q[l][6:0] - a_zp[6:0];
      end
      if (load_now || (granted && load_then)) begin
        lanes_q  <= next_lanes_q;
        out_q    <= next_out_q;
        lane_q   <= '0;
        second_q <= 1'b0;
        table_q  <= next_table_q + idx_offset;
        walk_q   <= next_table_q + b_s0;
      end else if (granted && !place) begin
        if (func == Interp && !second_q) begin
          second_q <= 1'b1;
          table_q  <= table_q + idx_step;
        end else begin
          lane_q   <= lane_q + 7'd1;
          second_q <= 1'b0;
          table_q  <= walk_q + idx_offset;
          walk_q   <= walk_q + b_s0;
        end
      end
    end
  end

  // ---- first stage: what needs no product, and the factors ------------------------------------

  logic                   p_valid_q, p_emit_q, p_first_q;
  logic [6:0]             p_lanes_q;
  weft_cfg_pkg::sp_addr_t p_at_q;
  logic [15:0]            p_i1_q;
  logic [6:0]             p_bytes_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) p_valid_q <= 1'b0;
    else p_valid_q <= t_valid_q && t_last_q && !flush_i;
  end
  always_ff @(posedge clk_i) begin
    if (t_valid_q) begin
      p_emit_q  <= t_emit_q;
      p_first_q <= t_first_q;
      p_lanes_q <= t_lanes_q;
      p_at_q    <= t_at_q;
      p_i1_q    <= t_i1_q;
      if (fold_q) p_bytes_q <= t_bytes_q;
    end
  end

  logic [47:0] a_v [Lanes], b_v [Lanes], c_v [Lanes];
  logic [63:0] product [Lanes];
  always_comb begin
    for (int unsigned l = 0; l < Lanes; l++) begin
      a_v[l] = '0;
      b_v[l] = '0;
      c_v[l] = '0;
      if (p_valid_q) begin
        a_v[l] = a_q[l] - {{31{a_zp[16]}}, a_zp};
        b_v[l] = b_imm && !table_f ? {{16{b_value[31]}}, b_value} : b_q[l] - {{31{b_zp[16]}}, b_zp};
        c_v[l] = func == Interp ? c_q[l] - {{31{b_zp[16]}}, b_zp} : c_imm ? {{16{c_value[31]}}, c_value} : c_q[l];
      end
    end
  end

  logic [47:0]      folded;            // with x_valid_q
  logic [Log2N-1:0] fold_place;
  weft_alu_fold u_fold (
    .clk_i(clk_i), .en_i(p_valid_q && fold_q), .word_i(word_q), .log_i(a_log), .unsigned_i(a_type[2]), .bytes_i(p_bytes_q),
    .sum_i(func == Sum), .least_i(func == RMin), .value_o(folded), .place_o(fold_place));

  logic [48*Lanes-1:0] here_entry;   // with x_valid_q
  logic [8*Lanes-1:0]  here_index;
  always_comb begin
    here_index = '0;
    for (int unsigned l = 0; l < Lanes; l++) begin
      here_index[8*l +: 8] = a_v[l][47] ? '0 : a_v[l] > 48'(idx_last) ? idx_last[7:0] : a_v[l][7:0];
    end
  end
  weft_alu_table u_table (
    .clk_i(clk_i), .rst_ni(rst_ni), .flush_i(flush_i),
    .start_i(state_q == Plan && here_q), .base_i(at_q[1]), .words_i(table_words), .ready_o(here_ready),
    .rd_req_o(fill_req), .rd_addr_o(fill_addr), .rd_gnt_i(rd_gnt_i), .rd_data_i(rd_data_i[8*N-1:0]),
    .en_i(p_valid_q && here_q), .log_i(b_log), .unsigned_i(b_type[2]), .index_i(here_index), .entry_o(here_entry));

  logic                   x_valid_q, x_emit_q, x_first_q;
  logic [6:0]             x_lanes_q;
  weft_cfg_pkg::sp_addr_t x_at_q;
  logic [15:0]            x_i1_q;
  logic [47:0]            x_v_q [Lanes];
  logic [63:0]            x_p_q [Lanes];
  logic [63:0]            x_r_q [Lanes];  // rounding to add to the product
  logic [5:0]             x_s_q [Lanes];
  weft_cfg_pkg::sp_word_t x_word_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) x_valid_q <= 1'b0;
    else x_valid_q <= p_valid_q && !flush_i;
  end

  // scatter: out moves by its index
  assign scatter_idx = b_v[0][47] ? '0 : b_v[0] > 48'(idx_last) ? idx_last : AddrW'(b_v[0]);

  function automatic logic [5:0] zeros(input logic [31:0] v);
    zeros = 6'd32;
    for (int i = 0; i < 32; i++) begin
      if (v[i]) zeros = 6'(31 - i);
    end
  endfunction

  logic        long_x;                 // rescale of int48
  logic        has_product;
  assign long_x      = func == Rescale && a_type == 3'd3;
  assign has_product = func == Mul || func == Rescale || func == Interp || func == Dot;

  // Factors of 32 bits, or of 48 and 16 (wide_x): in both cases two partial products of
  // at most 32 x 17 bits, the second 2^16 times.
  logic               wide_x;
  logic signed [47:0] fx [Lanes];
  logic signed [31:0] fy [Lanes];
  logic signed [31:0] low_a, high_a;
  logic signed [16:0] low_b, high_b;
  assign wide_x = long_x || func == Interp;

  always_comb begin
    low_a  = '0;
    low_b  = '0;
    high_a = '0;
    high_b = '0;
    for (int unsigned l = 0; l < Lanes; l++) begin
      product[l] = '0;
      fx[l]      = '0;
      fy[l]      = '0;
      if (p_valid_q && has_product) begin
        fx[l] = a_v[l];
        fy[l] = b_v[l][31:0];
        if (func == Interp) begin
          fx[l] = c_v[l] - b_v[l];
          fy[l] = {25'd0, frac_q[l]};
        end
        low_a  = fx[l][31:0];
        low_b  = {1'b0, fy[l][15:0]};
        high_a = fx[l][31:0];
        high_b = 17'($signed(fy[l][31:16]));
        if (wide_x) begin
          low_a  = {16'd0, fx[l][15:0]};
          low_b  = 17'($signed(fy[l][15:0]));
          high_a = fx[l][47:16];
          high_b = 17'($signed(fy[l][15:0]));
        end
        product[l] = 64'(low_a) * 64'(low_b) + ((64'(high_a) * 64'(high_b)) << 16);
      end
    end
  end

  logic [5:0]         s;
  logic [63:0]        half;
  logic [47:0]        v;
  logic               up;
  /* verilator lint_off BLKSEQ */  // s, half, v, up only
  always @(posedge clk_i) begin
    if (p_valid_q) begin
      x_emit_q  <= p_emit_q;
      x_first_q <= p_first_q;
      x_lanes_q <= p_lanes_q;
      x_at_q    <= func == Scatter ? p_at_q + idx_offset : p_at_q;
      x_i1_q    <= p_i1_q;
      if (word) x_word_q <= word_q;
      else begin
        for (int unsigned l = 0; l < Lanes; l++) begin
          v = a_v[l];
          case (func)
            Add: v = a_v[l] + b_v[l];
            Sub: v = a_v[l] - b_v[l];
            Rsub: v = b_v[l] - a_v[l];
            Max: v = $signed(a_v[l]) > $signed(b_v[l]) ? a_v[l] : b_v[l];
            Min: v = $signed(a_v[l]) < $signed(b_v[l]) ? a_v[l] : b_v[l];
            Abs: v = a_v[l][47] ? -a_v[l] : a_v[l];
            And: v = a_v[l] & b_v[l];
            Or:  v = a_v[l] | b_v[l];
            Xor: v = a_v[l] ^ b_v[l];
            Shl: v = a_v[l] << b_v[l][5:0];
            Shr: begin
              up = rounded && b_v[l][5:0] != '0 && 1'({{16{a_v[l][47]}}, a_v[l]} >> (b_v[l][5:0] - 6'd1));
              v  = 48'($signed({{16{a_v[l][47]}}, a_v[l]}) >>> b_v[l][5:0]) + 48'(up);
            end
            Eq: v = 48'(a_v[l] == b_v[l]);
            Gt: v = 48'($signed(a_v[l]) > $signed(b_v[l]));
            Ge: v = 48'($signed(a_v[l]) >= $signed(b_v[l]));
            Select: v = c_v[l] != '0 ? a_v[l] : b_v[l];
            Clz: v = {42'd0, zeros(a_v[l][31:0])};
            Lookup: v = b_v[l];
            Interp: v = b_v[l] << 7;
            default: ;
          endcase
          x_v_q[l] <= v;
          if (has_product) begin
            s    = func == Rescale ? c_v[l][5:0] : func == Mul ? shift : 6'd0;
            half = s == '0 ? '0 : 64'd1 << (s - 6'd1);
            if (func == Rescale && rounded && !even && s > 6'd31)
              half = half + (fx[l][long_x ? 47 : 31] ? -(64'd1 << 30) : 64'd1 << 30);
            x_p_q[l] <= product[l];
            x_r_q[l] <= half;
            x_s_q[l] <= s;
          end
        end
      end
    end
  end
  /* verilator lint_on BLKSEQ */

  // ---- second stage: shift, sums along dimension 1 -----------------------------------------------

  logic                   y_valid_q;
  logic [6:0]             y_lanes_q;
  weft_cfg_pkg::sp_addr_t y_at_q;
  logic [47:0]            y_v_q [Lanes];  // also the running results of reductions
  logic [47:0]            y_i_q [Lanes];  // argmax
  weft_cfg_pkg::sp_word_t y_word_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) y_valid_q <= 1'b0;
    else y_valid_q <= x_valid_q && x_emit_q && !flush_i;
  end

  /* verilator lint_off UNUSEDSIGNAL */  // the upper bits
  logic [63:0] shifted;
  /* verilator lint_on UNUSEDSIGNAL */
  logic [47:0] w;
  logic [15:0] i1;                     // a word's first element has 0 in the bits of fold_place
  /* verilator lint_off BLKSEQ */  // shifted, w, i1 only
  always @(posedge clk_i) begin
    if (x_valid_q) begin
      y_lanes_q <= x_lanes_q;
      y_at_q    <= x_at_q;
      if (word) y_word_q <= x_word_q;
      else begin
        for (int unsigned l = 0; l < Lanes; l++) begin
          w  = l == 0 && fold_q ? folded : here_q ? here_entry[48*l +: 48] - {{31{b_zp[16]}}, b_zp} : x_v_q[l];
          i1 = l == 0 && fold_q ? x_i1_q | 16'(fold_place) : x_i1_q;
          if (has_product) begin
            shifted = $signed(x_p_q[l] + x_r_q[l]) >>> x_s_q[l];
            // A tie is a product that has a half below the result and nothing else.
            if (even && x_s_q[l] != '0 && ((x_p_q[l] ^ x_r_q[l]) & ~(64'hffff_ffff_ffff_ffff << x_s_q[l])) == '0)
              shifted[0] = 1'b0;
            w = func == Rescale ? {{16{shifted[31]}}, shifted[31:0]} : func == Interp ? w + shifted[47:0] : shifted[47:0];
          end
          if (!reduce_f || x_first_q) begin
            y_v_q[l] <= w;
            y_i_q[l] <= {32'd0, i1};
          end else begin
            case (func)
              RMax: if ($signed(w) > $signed(y_v_q[l])) y_v_q[l] <= w;
              RMin: if ($signed(w) < $signed(y_v_q[l])) y_v_q[l] <= w;
              RAnd: y_v_q[l] <= y_v_q[l] & w;
              ROr:  y_v_q[l] <= y_v_q[l] | w;
              ArgMax: begin
                if ($signed(w) > $signed(y_v_q[l])) begin
                  y_v_q[l] <= w;
                  y_i_q[l] <= {32'd0, i1};
                end
              end
              default: y_v_q[l] <= y_v_q[l] + w;      // sum, dot
            endcase
          end
        end
      end
    end
  end
  /* verilator lint_on BLKSEQ */

  // ---- writes ---------------------------------------------------------------------------------------

  weft_cfg_pkg::sp_word_t packed_word;
  logic [47:0]            r;
  always_comb begin
    packed_word = '0;
    r           = '0;
    if (y_valid_q) begin
      if (word) packed_word = y_word_q;
      else begin
        for (int unsigned l = 0; l < Lanes; l++) begin
          r = (func == ArgMax ? y_i_q[l] : y_v_q[l]) + {{31{out_zp[16]}}, out_zp};
          if (clamp && $signed(r) < $signed({{16{lo[31]}}, lo})) r = {{16{lo[31]}}, lo};
          else if (clamp && $signed(r) > $signed({{16{hi[31]}}, hi})) r = {{16{hi[31]}}, hi};
          case (out_log)
            2'd0: packed_word[8*l +: 8] = r[7:0];
            2'd1: packed_word[16*l +: 16] = r[15:0];
            2'd2: packed_word[32*l +: 32] = r[31:0];
            default: if (l < N / 8) packed_word[64*(l % (N / 8)) +: 64] = {{16{r[47]}}, r};
          endcase
        end
      end
    end
  end

  logic                   q_valid, q_pop, wr_bad;
  logic [6:0]             q_bytes;
  weft_cfg_pkg::sp_addr_t wr_bad_addr;
  logic [8*N+AddrW+6:0]   q_data;
  /* verilator lint_off UNUSEDSIGNAL */  // there is always room: flying_q counts
  logic        q_ready;
  logic [3:0]  q_count;
  /* verilator lint_on UNUSEDSIGNAL */

  weft_fifo #(.Width(8*N + AddrW + 7), .Depth(Depth)) u_out (
    .clk_i(clk_i), .rst_ni(rst_ni), .clr_i(flush_i),
    .wvalid_i(y_valid_q), .wready_o(q_ready), .wdata_i({y_lanes_q << out_log, y_at_q, packed_word}),
    .rvalid_o(q_valid), .rready_i(q_pop), .rdata_o(q_data), .count_o(q_count));

  assign q_bytes   = q_data[8*N+AddrW +: 7];
  weft_cfg_pkg::sp_addr_t wr_addr;
  assign wr_addr   = q_data[8*N +: AddrW];
  assign wr_o.addr = wr_addr;
  assign wr_o.data = q_data[8*N-1:0];
  assign wr_o.req  = q_valid && !wr_bad;
  assign q_pop     = wr_o.req && wr_gnt_i;

  weft_vec_range u_wr_range (.addr_i(wr_addr), .bytes_i({2'd0, q_bytes}), .bad_o(wr_bad), .bad_addr_o(wr_bad_addr));

  always_comb begin
    for (int unsigned i = 0; i < N; i++) wr_o.mask[i] = 7'(i) < q_bytes;
  end

  assign bad_o      = rd_bad || (q_valid && wr_bad);
  assign bad_addr_o = q_valid && wr_bad ? wr_bad_addr : rd_bad_addr;

  logic last_emit;
  assign last_emit = last_read && emit;
  assign empty = flying_q == '0 && !t_valid_q && !p_valid_q && !x_valid_q && !y_valid_q &&
                 !next_busy_q && !fetch_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) flying_q <= '0;
    else if (flush_i) flying_q <= '0;
    else if (granted && last_emit) flying_q <= q_pop ? flying_q : flying_q + 4'd1;
    else if (q_pop) flying_q <= flying_q - 4'd1;
  end

`ifdef WEFT_ASSERT
  always_ff @(posedge clk_i) begin
    if (rst_ni && !flush_i) begin
      assert (!(y_valid_q && !q_ready));
      assert (flying_q <= 4'(Depth));
      // What weft_alu_fold wants: whole elements, one at least, and sums of 4 bytes only.
      if (p_valid_q && fold_q) begin
        assert (p_bytes_q != '0 && p_bytes_q <= 7'(N));
        assert (a_log != 2'd3 && (p_bytes_q & ((7'd1 << a_log) - 7'd1)) == '0);
        assert (func != Sum || a_log == 2'd2);
      end
      assert (!(func == Interp && granted && last_read && t_valid_q && t_last_q));   // frac_q is read then
    end
  end
`endif

endmodule
