// SPDX-License-Identifier: Apache-2.0
//
// SPI controller for the flash: mode 0, half the clock, one or four bytes a
// write (docs/chip.md, flash_*). MOSI changes with SCK's fall, MISO is taken
// with its rise; 16 cycles a byte. reg_ready_o is low while bytes move, for
// reads and writes alike.
//
// Once flash_lock is set, what a selection begins with is looked at before the
// flash sees it: a command that writes has to come with its whole address. What
// is refused takes the selection back; no bit has left by then.
//
// The flash may hold something else, too, such as a board's bitstream. Then the layout lies in a window of it: the
// upper bits of an address that comes in a selection's first word are those of Base. What could write outside the
// window, which is a command without such an address, is refused whether flash_lock is set or not.
module weft_flash #(
  parameter int unsigned Base   = 0,                            // of the window, a multiple of its size
  parameter int unsigned Window = weft_chip_pkg::FLASH_BYTES    // its bytes, a power of two
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  input  logic        reg_req_i,
  input  logic        reg_write_i,
  input  logic [11:0] reg_addr_i,
  input  logic [31:0] reg_wdata_i,
  output logic [31:0] reg_rdata_o,
  output logic        reg_ready_o,

  output logic        spi_cs_no,
  output logic        spi_sck_o,
  output logic        spi_mosi_o,
  input  logic        spi_miso_i
);

  logic        cs_q, word_q, lock_q;
  logic        first_q;       // nothing has been shifted since flash_control was written
  logic [6:0]  left_q;        // half periods
  logic [31:0] shift_q;       // first byte in the top byte
  assign spi_cs_no   = !cs_q;
  assign spi_sck_o   = left_q[0];
  assign spi_mosi_o  = shift_q[31];
  assign reg_ready_o = left_q == '0;

  // The first byte of an address, the word's second, says whether it is in the 64 KiB that are locked, and takes the upper
  // bits of Base.
  localparam int unsigned LockW   = $clog2(Window) - $clog2(weft_chip_pkg::FLASH_LOCKED_BYTES);
  localparam logic [7:0]  Upper   = 8'(Base / weft_chip_pkg::FLASH_LOCKED_BYTES);
  localparam bit          Shared  = Base != 0;
  logic       write, shift, word, refused;
  logic [7:0] upper;
  assign upper = first_q ? {Upper[7:LockW], reg_wdata_i[8+:LockW]} : reg_wdata_i[15:8];
  assign write = reg_req_i && reg_write_i && left_q == '0;
  assign word  = reg_addr_i == weft_chip_pkg::FLASH_WORD_ADDR;
  assign shift = write && (word || reg_addr_i == weft_chip_pkg::FLASH_BYTE_ADDR);
  always_comb begin
    case (reg_wdata_i[7:0])
      weft_chip_pkg::FLASH_CMD_READ, weft_chip_pkg::FLASH_CMD_READ_STATUS, weft_chip_pkg::FLASH_CMD_JEDEC_ID,
      weft_chip_pkg::FLASH_CMD_WRITE_ENABLE: refused = 1'b0;
      weft_chip_pkg::FLASH_CMD_PROGRAM, weft_chip_pkg::FLASH_CMD_SECTOR_ERASE:
        refused = first_q && (word ? lock_q && reg_wdata_i[8+:LockW] == '0 : lock_q || Shared);
      default: refused = first_q && (lock_q || Shared);
    endcase
  end

  // left_q is even with SCK low; the bit goes in as SCK rises, out as it falls.
  logic in_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      cs_q    <= 1'b0;
      word_q  <= 1'b0;
      lock_q  <= 1'b0;
      first_q <= 1'b0;
      left_q  <= '0;
      shift_q <= '0;
      in_q    <= 1'b0;
    end else if (left_q != '0) begin
      left_q <= left_q - 7'd1;
      if (left_q[0]) shift_q <= {shift_q[30:0], in_q};
      else in_q <= spi_miso_i;
    end else if (shift && refused) begin
      cs_q <= 1'b0;
    end else if (write) begin
      if (shift) first_q <= 1'b0;
      case (reg_addr_i)
        weft_chip_pkg::FLASH_CONTROL_ADDR: begin
          cs_q    <= reg_wdata_i[0];
          first_q <= 1'b1;
        end
        weft_chip_pkg::FLASH_LOCK_ADDR: if (reg_wdata_i[0]) lock_q <= 1'b1;
        weft_chip_pkg::FLASH_BYTE_ADDR: begin
          shift_q <= {reg_wdata_i[7:0], 24'd0};
          left_q  <= 7'd16;
          word_q  <= 1'b0;
        end
        weft_chip_pkg::FLASH_WORD_ADDR: begin
          shift_q <= {reg_wdata_i[7:0], upper, reg_wdata_i[23:16], reg_wdata_i[31:24]};
          left_q  <= 7'd64;
          word_q  <= 1'b1;
        end
        default: ;
      endcase
    end
  end

  logic [31:0] got;
  assign got = word_q ? {shift_q[7:0], shift_q[15:8], shift_q[23:16], shift_q[31:24]} : {24'd0, shift_q[7:0]};
  always_comb begin
    case (reg_addr_i)
      weft_chip_pkg::FLASH_CONTROL_ADDR: reg_rdata_o = {31'd0, cs_q};
      weft_chip_pkg::FLASH_BYTE_ADDR:    reg_rdata_o = {24'd0, got[7:0]};
      weft_chip_pkg::FLASH_WORD_ADDR:    reg_rdata_o = got;
      weft_chip_pkg::FLASH_LOCK_ADDR:    reg_rdata_o = {31'd0, lock_q};
      default:                           reg_rdata_o = '0;
    endcase
  end

`ifdef WEFT_ASSERT
  logic old_sck_q, old_mosi_q;
  always_ff @(posedge clk_i) begin
    old_sck_q  <= spi_sck_o;
    old_mosi_q <= spi_mosi_o;
    if (rst_ni) begin
      assert (!(reg_ready_o && spi_sck_o));                               // mode 0: low at rest
      if (old_sck_q && spi_sck_o) assert (1'b0);                          // half the clock
      if (spi_sck_o && !old_sck_q) assert (spi_mosi_o == old_mosi_q);     // changes with the fall only
    end
  end
`endif

endmodule
