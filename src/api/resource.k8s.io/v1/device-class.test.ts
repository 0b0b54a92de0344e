import assert from "node:assert/strict";
import test from "node:test";
import type { JsonObject } from "../../machinery/object.ts";
import { changedObject, columnNames, newObject, problemsOfChange, problemsOfNew } from "../../testing/kind.ts";
import { deviceClasses } from "./device-class.ts";
import { NOT_A_SUBDOMAIN } from "./testing/messages.ts";

const PARAMETERS_MAX_BYTES = 10 * 1024;
const LARGE_PARAMETERS = { text: "x".repeat(PARAMETERS_MAX_BYTES) };

const EXPENSIVE = ["a", "b", "c", "d", "e", "f", "g"].reduce(
  (inner, name) => `[1, 2, 3, 4, 5, 6, 7, 8, 9, 10].all(${name}, ${inner})`,
  "true",
);

function opaque(driver: string, parameters: JsonObject[string]): JsonObject {
  return { opaque: { driver, parameters } };
}

const ROWS: readonly [title: string, spec: JsonObject, problems: readonly string[]][] = [
  ["nothing", {}, []],
  [
    "a selector, a configuration and a name for an extended resource",
    {
      selectors: [{ cel: { expression: "true" } }],
      config: [opaque("D.Example", { a: 1 })],
      extendedResourceName: "example.com/gpu",
    },
    [],
  ],
  ["a selector of no kind", { selectors: [{}] }, ["spec.selectors[0].cel: Required value"]],
  [
    "an expression that is too long to be compiled",
    { selectors: [{ cel: { expression: "x".repeat(10_241) } }] },
    ["spec.selectors[0].cel.expression: Too long: may not be more than 10240 bytes"],
  ],
  [
    "expressions that do not compile, are no condition, or cost too much",
    {
      selectors: ["device.driver == 1", "device.driver", "true", EXPENSIVE].map((expression) => ({ cel: { expression } })),
    },
    [
      `spec.selectors[0].cel.expression: Invalid value: "device.driver == 1": compilation failed: ERROR: <input>:1:15: found no matching overload for '_==_' applied to '(string, int)'\n | device.driver == 1\n | ..............^`,
      'spec.selectors[1].cel.expression: Invalid value: "device.driver": must evaluate to bool or the unknown type, not string',
      "spec.selectors[3].cel.expression: Forbidden: too complex, exceeds cost limit",
    ],
  ],
  [
    "too many selectors and configurations, of which only the number is said",
    { selectors: Array.from({ length: 33 }, () => ({})), config: Array.from({ length: 33 }, () => ({})) },
    ["spec.selectors: Too many: 33: must have at most 32 items", "spec.config: Too many: 33: must have at most 32 items"],
  ],
  [
    "configurations that say nothing",
    { config: [{}, { opaque: {} }] },
    [
      "spec.config[0].opaque: Required value",
      "spec.config[1].opaque.driver: Required value",
      "spec.config[1].opaque.parameters: Required value",
    ],
  ],
  [
    "drivers that cannot be called so",
    { config: [opaque("A_B", {}), opaque("x".repeat(64), {})] },
    [
      `spec.config[0].opaque.driver: Invalid value: "A_B": ${NOT_A_SUBDOMAIN}`,
      "spec.config[1].opaque.driver: Too long: may not be more than 63 bytes",
    ],
  ],
  [
    "parameters that are no object, which are not shown",
    { config: [opaque("d", 5), opaque("d", []), opaque("d", "x"), opaque("d", null), opaque("d", LARGE_PARAMETERS)] },
    [
      'spec.config[0].opaque.parameters: Invalid value: "<value omitted>": must be a valid JSON object',
      'spec.config[1].opaque.parameters: Invalid value: "<value omitted>": must be a valid JSON object',
      'spec.config[2].opaque.parameters: Invalid value: "<value omitted>": must be a valid JSON object',
      "spec.config[3].opaque.parameters: Required value",
      "spec.config[4].opaque.parameters: Too long: may not be more than 10240 bytes",
    ],
  ],
  [
    "an extended resource that is one of Kubernetes' own",
    { extendedResourceName: "cpu" },
    ['spec.extendedResourceName: Invalid value: "cpu": must be a valid extended resource name'],
  ],
];

for (const [title, spec, problems] of ROWS) {
  test(`a DeviceClass with ${title} is ${problems.length === 0 ? "valid" : "rejected"}`, () => {
    assert.deepEqual(problemsOfNew(deviceClasses, { spec }), problems);
    assert.deepEqual(problemsOfChange(deviceClasses, newObject(deviceClasses, { spec: {} }), { spec }), problems);
  });
}

test("opaque parameters stored before there was a limit remain valid until they change", () => {
  const config = [opaque("d", LARGE_PARAMETERS)];
  const previous = newObject(deviceClasses, { spec: { config } });

  assert.deepEqual(problemsOfChange(deviceClasses, previous, { spec: { config, extendedResourceName: "a.b/c" } }), []);
  assert.equal(problemsOfChange(deviceClasses, previous, { spec: { config: [...config, opaque("e", {})] } }).length, 1);
});

test("selectors stored before expressions were compiled remain valid until they change", () => {
  const selectors = [{ cel: { expression: "noSuchVar" } }];
  const previous = newObject(deviceClasses, { spec: { selectors } });
  const more = [...selectors, { cel: { expression: "true" } }];

  assert.deepEqual(problemsOfChange(deviceClasses, previous, { spec: { selectors, extendedResourceName: "a.b/c" } }), []);
  assert.equal(problemsOfChange(deviceClasses, previous, { spec: { selectors: more } }).length, 1);
});

test("a change of the spec of a DeviceClass increments the generation, one of the labels does not", () => {
  const previous = newObject(deviceClasses, { spec: {} });
  const labelled = changedObject(deviceClasses, previous, { metadata: { labels: { a: "b" } }, spec: {} });
  const renamed = changedObject(deviceClasses, previous, { spec: { extendedResourceName: "a.b/c" } });

  assert.deepEqual(
    [labelled, renamed].map((next) => deviceClasses.changesGeneration?.(next, previous)),
    [false, true],
  );
  assert.deepEqual(columnNames(deviceClasses), ["Name", "Age"]);
});
