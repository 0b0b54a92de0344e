import { deepEqual, equal, match, ok } from "node:assert/strict";
import { test } from "node:test";
import { compile } from "../compile.ts";
import type { Bindings } from "../contract.ts";
import { createEnvironment } from "../environment.ts";
import { show } from "../testing/show.ts";
import { showEvaluation, suspendedEverywhere } from "../testing/suspended.ts";
import { DYN } from "../types/type.ts";
import { dynValue } from "../values/json.ts";

const bindings: Bindings = { one: dynValue(1), huge: dynValue(5_000_000_000), map: dynValue({ a: [1, { b: "x" }] }), text: "text" };
const environment = createEnvironment({ variables: Object.fromEntries(Object.keys(bindings).map((name) => [name, DYN])) });

function programOf(expression: string) {
  const compilation = compile(environment, expression);
  if (!compilation.ok) throw new Error(compilation.message);
  return compilation.program;
}

function resultOf(expression: string): string {
  const evaluation = programOf(expression).evaluate(bindings);
  return evaluation.ok ? show(evaluation.value) : evaluation.error.message;
}

for (const [expression, result] of [
  ["google.protobuf.Int32Value{value: 1} + 1", "2"],
  [".google.protobuf.UInt64Value{value: 1u} == 1u", "true"],
  ["google.protobuf.BoolValue{?value: optional.none()} || google.protobuf.BoolValue{value: true}", "true"],
  ["google.protobuf.FloatValue{value: 0.1} == 0.1", "false"],
  ["google.protobuf.BytesValue{value: b'a'}.size()", "1"],
  ["google.protobuf.Timestamp{seconds: 1, nanos: 5} - timestamp('1970-01-01T00:00:00Z')", "duration(1000000005)"],
  ["google.protobuf.Duration{seconds: -1}", "duration(-1000000000)"],
  [
    "google.protobuf.Struct{fields: {'a': dyn(1), 'b': dyn(duration('1s')), 'c': dyn(9007199254740993)}}",
    '{"a": double(1), "b": "1s", "c": "9007199254740993"}',
  ],
  ["google.protobuf.Struct{fields: map}.a[1].b", '"x"'],
  ["google.protobuf.ListValue{values: [one, dyn(null)]}", "[double(1), null]"],
  ["google.protobuf.Value{number_value: 1.5} == 1.5 && google.protobuf.Value{} == null", "true"],
  ["type(google.protobuf.StringValue{}) == string", "true"],
  [
    "google.protobuf.Int32Value{value: huge}",
    "field type conversion error for google.protobuf.Int32Value.value value type: integer overflow",
  ],
] as const) {
  test(`${expression} is ${result}`, () => {
    equal(resultOf(expression), result);
    const { evaluation } = suspendedEverywhere(programOf(expression), bindings);
    deepEqual(showEvaluation(evaluation), showEvaluation(programOf(expression).evaluate(bindings)));
  });
}

for (const [expression, message] of [
  ["google.protobuf.Int32Value{value: 'a'}", /^ERROR: <input>:1:33: expected type of field 'value' is 'int' but provided type is 'string'/],
  ["google.protobuf.StringValue{values: 'a'}", /undefined field 'values'/],
  ["google.protobuf.Int32Value{value: 1}.value", /type 'wrapper\(int\)' does not support field selection/],
  ["google.protobuf.Unknown{}", /undeclared reference to 'google\.protobuf\.Unknown'/],
  ["int{value: 1}", /'int' is not a message type/],
] as const) {
  test(`${expression} is refused when it is compiled`, () => {
    const compilation = compile(environment, expression);
    match(compilation.ok ? "" : compilation.message, message);
  });
}

test("a message whose content is converted again and again ends with the cost limit", () => {
  const large = dynValue(Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`k${index}`, index])));
  const expression = "map.all(a, map.all(b, google.protobuf.Struct{fields: map}.size() > 0))";

  const evaluation = programOf(expression).evaluate({ ...bindings, map: large });

  ok(!evaluation.ok && evaluation.reason === "cost");
});
