/* SPDX-License-Identifier: Apache-2.0 */
/* One of ONNX's node tests: model.onnx with test_data_set_0/input_<n>.pb and output_<n>.pb. */
#ifndef WEFT_TESTS_ONNX_CASE_H
#define WEFT_TESTS_ONNX_CASE_H

enum { ONNX_CASE_PASSED = 0, ONNX_CASE_DIFFERS = 1, ONNX_CASE_NO_TENSORS = 2 };

/*
 * Run a case on golden as weft run does: every input is given, and becomes a
 * constant where the network needs that. Integers, bool and float8 have to be
 * equal, other floats within ONNX's own tolerance (1e-7 + 1e-3 of the value).
 *
 * @param dir  The case's folder.
 * @param why  WEFT_MSG_LEN bytes; says what differs or why the case is refused.
 *
 * @return 0; ONNX_CASE_DIFFERS; ONNX_CASE_NO_TENSORS if the case has sequences,
 *   strings, maps or complex numbers at its edge; or a negative errno of a refusal
 */
int onnx_case_run(const char *dir, char *why);

#endif
