// SPDX-License-Identifier: Apache-2.0
//
// Where the bits of a Hamming code stand. Bit i of the data has the (i+1)th place that is no power of
// two, from 3 on; check bit k has place 2^k. The check bits are the places of the data bits
// that are 1, added without carry; one bit more makes the number of ones even.
package weft_secded_pkg;

  // Check bits for so many bits of data, up to 64, without the bit of parity.
  function automatic int unsigned n_check(input int unsigned bits);
    n_check = bits <= 4 ? 3 : bits <= 11 ? 4 : bits <= 26 ? 5 : bits <= 57 ? 6 : 7;
  endfunction

  // Place of bit i of the data.
  function automatic int unsigned place(input int unsigned i);
    place = i + 3 + (i >= 1 ? 1 : 0) + (i >= 4 ? 1 : 0) + (i >= 11 ? 1 : 0) + (i >= 26 ? 1 : 0) + (i >= 57 ? 1 : 0);
  endfunction

endpackage
