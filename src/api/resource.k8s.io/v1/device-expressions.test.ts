import assert from "node:assert/strict";
import test from "node:test";
import { firstCauses } from "../../machinery/validation-errors.ts";
import { describeFieldError } from "../../machinery/field-error.ts";
import { compileDeviceExpressionQuickly, validateDeviceExpression } from "./device-expressions.ts";

/** Worst-case costs are those that Kubernetes 1.36 estimates. */
const COSTS: readonly [expression: string, cost: bigint][] = [
  ["true", 0n],
  ['device.driver == ""', 2n],
  ['device.driver == "dra.example.com"', 4n],
  ["device.allowMultipleAllocations == true", 3n],
  ['"no-such-domain" in device.attributes', 3n],
  ['device.attributes["dra.example.com"].name', 4n],
  ['device.attributes["dra.example.com"]["name"]', 4n],
  ['device.attributes["dra.example.com"].name > 0', 5n],
  ['device.attributes["dra.example.com"].name == "fish"', 5n],
  ['device.attributes["dra.example.com"].name.isGreaterThan(semver("0.0.1"))', 6n],
  ['device.capacity["dra.example.com"].name.isGreaterThan(quantity("1Ki"))', 6n],
  ['"name" in device.capacity["dra.example.com"] && device.capacity["dra.example.com"].name.isGreaterThan(quantity("1Ki"))', 10n],
  ['device.attributes.exists_one(x, x == "dra.example.com")', 164n],
  ['device.attributes["dra.example.com"].exists_one(x, x == "services")', 133n],
  ['device.capacity["dra.example.com"].exists_one(x, x == "memory")', 133n],
  ['device.attributes["dra.example.com"].services.split("example").size() >= 2', 19n],
  ['device.attributes["dra.example.com"].services.matches("[^a]?sym")', 18n],
  ['cel.bind(dra, device.attributes["dra.example.com"], dra.name)', 15n],
];

for (const [expression, cost] of COSTS) {
  test(`the device selector ${expression} is valid and costs at most ${cost}`, () => {
    const compilation = compileDeviceExpressionQuickly(expression);

    assert.deepEqual(firstCauses(validateDeviceExpression(expression, "at")), []);
    assert.equal(compilation?.ok === true && compilation.program.estimatedCost.max, cost);
  });
}

const TEN = "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]";
const EXPENSIVE = ["a", "b", "c", "d", "e", "f"].reduce((inner, name) => `${TEN}.all(${name}, ${inner})`, "'1'.matches('[0-9]*')");

const PROBLEMS: readonly [expression: string, problem: string][] = [
  [
    "noSuchVar",
    String.raw`Invalid value: "noSuchVar": compilation failed: ERROR: <input>:1:1: undeclared reference to 'noSuchVar' (in container '')`,
  ],
  ["device.model", "Invalid value: \"device.model\": compilation failed: ERROR: <input>:1:7: undefined field 'model'"],
  [
    "device.attributes[true].someBoolean",
    "Invalid value: \"device.attributes[true].someBoolean\": compilation failed: ERROR: <input>:1:18: found no matching overload for '_[_]' applied to '(map(string, map(string, any)), bool)'",
  ],
  ["1", 'Invalid value: "1": must evaluate to bool or the unknown type, not int'],
  ["dyn(true)", 'Invalid value: "dyn(true)": must evaluate to bool or the unknown type, not dyn'],
  [
    "device.attributes",
    'Invalid value: "device.attributes": must evaluate to bool or the unknown type, not map(string, map(string, google.protobuf.Any))',
  ],
  [
    "cel.bind(a.b, 1, true)",
    'Invalid value: "cel.bind(a.b, 1, true)": compilation failed: ERROR: <input>:1:11: cel.bind() variable names must be simple identifiers',
  ],
  [EXPENSIVE, "Forbidden: too complex, exceeds cost limit"],
];

for (const [expression, problem] of PROBLEMS) {
  test(`the device selector ${expression} is rejected`, () => {
    const [first, ...more] = firstCauses(validateDeviceExpression(expression, "at")).map(describeFieldError);

    assert.deepEqual(more, []);
    assert.equal(first?.split("\n")[0], `at: ${problem}`);
  });
}

test("where a device selector is malformed is shown below it", () => {
  const [problem] = firstCauses(validateDeviceExpression("device.model", "at")).map(describeFieldError);

  assert.equal(
    problem,
    "at: Invalid value: \"device.model\": compilation failed: ERROR: <input>:1:7: undefined field 'model'\n | device.model\n | ......^",
  );
});

test("an empty device selector is rejected", () => {
  const [problem = ""] = firstCauses(validateDeviceExpression("", "at")).map(describeFieldError);

  assert.match(problem, /^at: Invalid value: "": compilation failed: ERROR: <input>:1:0: Syntax error: /);
});
