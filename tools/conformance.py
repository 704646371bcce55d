#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/CONFORMANCE.md from what `weft conform --json -v` printed.

usage: conformance.py DATA SPEC GOLDEN.json [DEVICE.json] > docs/CONFORMANCE.md
  DATA         the folder of conformance vectors that was run
  SPEC         the folder with tosa_ops.tsv and the specification's text
  GOLDEN.json  weft conform DATA --json -v
  DEVICE.json  the same with --device model (or rtl): what the NPU took, and why not the rest

Every row of tosa_ops.tsv and every ERROR_IF of the text gets a line. Exit 1 if
one has nothing to show for it: then the page would claim too much.
"""
import csv
import glob
import json
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

TYPES = {'i4_t': 'INT4', 'i8_t': 'INT8', 'i16_t': 'INT16', 'i32_t': 'INT32', 'i48_t': 'INT48', 'bool_t': 'BOOL',
         'fp16_t': 'FP16', 'bf16_t': 'BF16', 'fp32_t': 'FP32', 'fp8e4m3_t': 'FP8E4M3', 'fp8e5m2_t': 'FP8E5M2'}
MODES = {'fp16': 'FP16', 'fp32': 'FP32', 'bf16': 'BF16', 'fp8e4m3': 'FP8E4M3', 'fp8e5m2': 'FP8E5M2', 'Boolean': 'BOOL',
         '4-bit': 'INT4', '8-bit': 'INT8', '16-bit': 'INT16', '32-bit': 'INT32', '48-bit': 'INT48'}

# Rows that the foreign set has no case of, and the test that has.
OWN = {
    'VARIABLE': 'unit/tosa_flow', 'VARIABLE_READ': 'unit/tosa_flow', 'VARIABLE_WRITE': 'unit/tosa_flow',
    'CUSTOM': 'conformance/tosa (converted networks)', 'COND_IF': 'unit/tosa_flow', 'WHILE_LOOP': 'unit/tosa_flow',
}

# ERROR_IF statements that only a file can break, and the foreign error that breaks them.
FOREIGN = {
    ('SLICE', 'rank(shape1) != length(start) || rank(shape1) != length(size)'): 'InputSizeStartLengthMismatch',
    ('SLICE', 'shape[index] != size[index]'): 'SizeOutputShapeMismatch',
    ('COND_IF', 'tensor_list_shape(input_list) != tosa_input_shape(then_graph)'): 'CondIfInputListThenGraphMismatch',
    ('COND_IF', 'tensor_list_shape(input_list) != tosa_input_shape(else_graph)'): 'CondIfInputListElseGraphMismatch',
    ('COND_IF', 'tensor_list_shape(output_list) != tosa_output_shape(then_graph)'): 'CondIfOutputListThenGraphMismatch',
    ('COND_IF', 'tensor_list_shape(output_list) != tosa_output_shape(else_graph)'): 'CondIfOutputListElseGraphMismatch',
    ('COND_IF', 'tensor_size(shape) != 1'): 'CondIfCondShapeNotSizeOne',
    ('WHILE_LOOP', 'tensor_list_shape(input_list) != tensor_list_shape(output_list)'): 'InputListOutputListMismatch',
    ('WHILE_LOOP', 'tensor_list_shape(input_list) != tosa_input_shape(cond_graph)'): 'InputListCondGraphMismatch',
    ('WHILE_LOOP', 'tensor_list_shape(input_list) != tosa_input_shape(body_graph)'): 'InputListBodyGraphInputMismatch',
    ('WHILE_LOOP', 'tensor_list_shape(input_list) != tosa_output_shape(body_graph)'): 'InputListBodyGraphOutputMismatch',
    ('WHILE_LOOP', 'tensor_size(tosa_output_shape(cond_graph)) != 1'): 'CondGraphOutputShapeNotSizeOne',
    ('WHILE_LOOP', 'tosa_output_type(cond_graph) != bool_t'): 'CondGraphOutputNotMatchingBool',
}
OWN_ERRORS = {
    ('COND_IF', 'tosa_nesting_depth >= MAX_NESTING'): 'unit/tosa_flow, unit/graph_level',
    ('WHILE_LOOP', 'tosa_nesting_depth >= MAX_NESTING'): 'unit/tosa_flow, unit/graph_level',
}


class Case:
    def __init__(self, folder, result):
        meta = json.load(open(os.path.join(folder, result['test'], 'test.json')))
        self.name = result['test']
        self.verdict = result['verdict']
        self.op = re.sub(r'^COND_IF_\w+$', 'COND_IF', meta['op'])
        self.types = meta.get('types') or []
        self.out = [o['type'] for o in meta.get('outputs', [])]
        self.error = meta.get('error') or ''
        acc = re.search(r'_acc([a-z]+\d+)', self.name)
        self.acc = {'i': 'INT', 'f': 'FP'}[acc.group(1)[0]] + acc.group(1)[1:] if acc else ''


def fits(row, case):
    """Is a case one of a row of the table of types?"""
    if case.op != row['operator']:
        return False
    first = TYPES.get(row['in_t'] or row['in_out_t']) or MODES.get(row['mode'])
    if row['mode'] == 'All' or row['operator'] == 'CONST_SHAPE':
        return True
    if row['operator'] == 'CONST':
        return case.out[:1] == [TYPES[row['out_t']]]
    if case.types[:1] != [first]:
        return False
    if row['weight_t'] and case.types[1] != TYPES[row['weight_t']]:
        return False
    if row['out_t'] and case.out[:1] != [TYPES[row['out_t']]]:
        return False
    return not (row['acc_t'] and case.acc) or case.acc == TYPES[row['acc_t']]


# Operators that must run on the NPU in the types that it has: integers, float8, and fp16 in three.
LISTED = set('''CONV2D CONV3D DEPTHWISE_CONV2D TRANSPOSE_CONV2D MATMUL AVG_POOL2D MAX_POOL2D CLAMP TABLE RESCALE CAST ADD SUB
MUL MAXIMUM MINIMUM ABS NEGATE ARITHMETIC_RIGHT_SHIFT LOGICAL_LEFT_SHIFT LOGICAL_RIGHT_SHIFT BITWISE_AND BITWISE_NOT BITWISE_OR
BITWISE_XOR EQUAL GREATER GREATER_EQUAL SELECT REDUCE_SUM REDUCE_MAX REDUCE_MIN ARGMAX RESIZE CONCAT PAD RESHAPE REVERSE SLICE
TILE TRANSPOSE GATHER'''.split())
HALF = {'ADD', 'CLAMP', 'CAST'}


def taken(row):
    """Is a row of a type that the NPU has?"""
    text = ' '.join([row['mode'], row['in_t'], row['in_out_t'], row['out_t']])
    if re.search(r'fp32|bf16', text.replace('fp32 accumulate', '')):
        return False
    return 'fp8' in text or 'fp16' not in text or row['operator'] in HALF


def reason(t):
    """Why an operator ran on the host; the operator is named where the test is of another."""
    return t['reason'] or t['host']


def read_cases(folder, path):
    return [Case(folder, t) for t in json.load(open(path))['tests']]


def plain(s):
    """A statement without the spaces that the text's line breaks leave."""
    return re.sub(r'\s+', '', re.sub(r'<\|[^|]*\|>', '', s))


def statements(spec, operators):
    """(operator, statement) of every ERROR_IF in the operators' pseudocode."""
    for path in sorted(glob.glob(os.path.join(spec, '*.txt'))):
        text = open(path, errors='replace').read().split('\n')
        if sum('ERROR_IF' in line for line in text) < 100:
            continue
        op = None
        for i, line in enumerate(text):
            head = re.match(r'^(?:<\|[^|]*\|>)?\d+\.\d+\.\d+\.?\s+([A-Z][A-Z0-9_]+)\s*$', line.strip())
            if head and head.group(1) in operators:
                op = head.group(1)
            if re.match(r'^\d+\.\d+\.\s|^Chapter 3|^3\. ', line.strip()) and 'Operators' not in line:
                op = None if line.strip().startswith('3') else op
            at = line.find('ERROR_IF(')
            if at < 0 or not op:
                continue
            s, j, depth = '', i, 0
            rest = line[at + 8:]
            while True:
                for ch in rest:
                    depth += (ch == '(') - (ch == ')')
                    s += ch
                    if not depth:
                        break
                if not depth:
                    break
                j += 1
                rest = ' ' + text[j].strip()
            yield op, re.sub(r'\s+', ' ', s[1:-1]).strip()


def own_statements():
    """What unit/tosa_errors tries: {(operator, statement): times}."""
    tried = {}
    text = open(os.path.join(ROOT, 'tests/unit/tosa_errors.c')).read()
    for op, rule in re.findall(r'\{ WEFT_OP_(\w+), "(.*)", s\d+ \}', text):
        key = op, plain(rule)
        tried[key] = tried.get(key, 0) + 1
    return tried


def count(cases, verdict):
    return sum(c.verdict == verdict for c in cases)


def main():
    folder, spec, golden = sys.argv[1:4]
    cases = read_cases(folder, golden)
    npu, host = set(), {}
    if len(sys.argv) > 4:
        passed = [t for t in json.load(open(sys.argv[4]))['tests'] if t['verdict'] == 'passed']
        npu = {t['test'] for t in passed if t['npu']}
        host = {t['test']: t for t in passed if 'host' in t}
    rows = list(csv.DictReader(open(os.path.join(spec, 'tosa_ops.tsv')), delimiter='\t'))
    bare = []

    print('<!-- Generated by tools/conformance.py (make conformance); do not edit. -->')
    print('# TOSA 1.0 conformance\n')
    print(f'Of {len(cases)} foreign vectors {count(cases, "passed")} pass on golden and {count(cases, "refused")} broken')
    print(f'graphs are refused; {count(cases, "failed")} fail, {count(cases, "unsupported")} are known not to pass.')
    if npu:
        print(f'{len(npu)} pass with `--device model` with at least one operator on the NPU; the RTL runs the same streams.')
    print('\n`make conformance` runs them and writes this page. `tests` counts vectors that pass on golden,')
    print('`NPU` those of them that ran there, `host` those of which something ran on the host, with the')
    print('compiler\'s reason. EXT-DYNAMIC has no rows; `conformance/tosa_dynamic` has its tests. Arguments that')
    print('only it lets be computed put an operator on the host, but for TABLE\'s table and RESCALE\'s')
    print('multiplier and shift.\n')
    print('## Rows of the type tables\n')
    print('| operator | profile or extension | types | tests | NPU | host | why | own test |')
    print('|---|---|---|---:|---:|---:|---|---|')
    for r in rows:
        fit = [c for c in cases if c.verdict == 'passed' and fits(r, c)]
        own = OWN.get(r['operator'], '') if not fit or r['operator'] in OWN else ''
        if not fit and not own:
            bare.append(f"{r['operator']} {r['mode']}: no case")
        on_host = [host[c.name] for c in fit if c.name in host]
        # A network of one operator: what else runs there, runs beside control flow.
        if r['operator'] in LISTED and taken(r) and on_host:
            bare.append(f"{r['operator']} {r['mode']}: on the host: {on_host[0]['reason']}")
        print(f"| {r['operator']} | {r['profile_extension']} | {r['mode']} | {len(fit)} | "
              f"{sum(c.name in npu for c in fit) or ''} | {len(on_host) or ''} | "
              f"{'; '.join(sorted({reason(t) for t in on_host}))} | {own} |")
    print(f'\n{len(rows)} rows.\n')
    print('## ERROR_IF\n')
    print('Each statement of the operators\' pseudocode, and where it is seen refused. Statements on types,')
    print('ranks and counts of operands are common to all: the foreign set has them for every operator')
    print('(`WrongInputType`, `WrongOutputType`, `WrongRank`, `WrongInputList`, `WrongOutputList`).\n')
    print('| operator | statement | seen refused by |')
    print('|---|---|---|')
    tried, used, n = own_statements(), set(), 0
    operators = {r['operator'] for r in rows}
    for op, s in statements(spec, operators):
        key = op, plain(s)
        n += 1
        by = []
        if key in tried:
            used.add(key)
            by.append(f'unit/tosa_errors ({tried[key]})')
        name = FOREIGN.get((op, s))
        hits = sum(c.op == op and c.error == name and c.verdict == 'refused' for c in cases) if name else 0
        if hits:
            by.append(f'{name} ({hits})')
        if (op, s) in OWN_ERRORS:
            by.append(OWN_ERRORS[op, s])
        if not by:
            bare.append(f'{op} ERROR_IF({s}): nobody sees it refused')
        print(f'| {op} | `{s}` | {", ".join(by)} |'.replace('||', '\\|\\|'))
    print(f'\n{n} statements.')
    for key in sorted(set(tried) - used):
        print(f'conformance.py: note: not found in the text: {key}', file=sys.stderr)
    for b in bare:
        print(f'conformance.py: {b}', file=sys.stderr)
    return 1 if bare else 0


if __name__ == '__main__':
    sys.exit(main())
