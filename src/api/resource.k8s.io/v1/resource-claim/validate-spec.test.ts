import assert from "node:assert/strict";
import test from "node:test";
import type { JsonObject } from "../../../machinery/object.ts";
import { problemsOfNew } from "../../../testing/kind.ts";
import { resourceClaims } from "../resource-claim.ts";
import { NOT_AN_IDENTIFIER, NOT_A_LABEL, NOT_A_NAME, NOT_A_REQUEST, NOT_A_SUBDOMAIN, NOT_A_VALUE, times } from "../testing/messages.ts";

const NOT_QUALIFIED = "a fully qualified name must be a domain and a name separated by a slash";

function exactly(wanted: JsonObject = {}, name = "r"): JsonObject {
  return { name, exactly: { deviceClassName: "c", ...wanted } };
}

function either(...alternatives: readonly JsonObject[]): JsonObject {
  return { name: "s", firstAvailable: alternatives };
}

const CONFIGURATION = { opaque: { driver: "d", parameters: {} } };
const TWO = [exactly(), either({ name: "a", deviceClassName: "c" })];

const ROWS: readonly [title: string, devices: JsonObject, problems: readonly string[]][] = [
  ["nothing", {}, []],
  [
    "everything",
    {
      requests: [
        exactly({ selectors: [{ cel: { expression: "true" } }], count: 3, tolerations: [{ key: "a.b/c", value: "d", effect: "None" }] }),
        either({ name: "a", deviceClassName: "c" }, { name: "b", deviceClassName: "c", allocationMode: "All" }),
      ],
      constraints: [{ requests: ["r", "s/a"], matchAttribute: "a.b/c" }, { distinctAttribute: "a.b/c" }],
      config: [{ requests: ["s"], ...CONFIGURATION }],
    },
    [],
  ],
  [
    "requests of no kind and of both",
    { requests: [{}, { ...exactly({}, "R"), firstAvailable: [{ name: "a", deviceClassName: "c" }] }] },
    [
      `requests[0].name: Invalid value: "": ${NOT_A_LABEL}`,
      "requests[0]: Required value: exactly one of `exactly` or `firstAvailable` is required",
      `requests[1].name: Invalid value: "R": ${NOT_A_LABEL}`,
      "requests[1]: Invalid value: null: exactly one of `exactly` or `firstAvailable` is required, but multiple fields are set",
    ],
  ],
  [
    "names that are there twice",
    { requests: [exactly(), exactly(), either({ name: "a", deviceClassName: "c" }, { name: "a", deviceClassName: "c" })] },
    ['requests[2].firstAvailable[1]: Duplicate value: "a"', 'requests[1]: Duplicate value: "r"'],
  ],
  [
    "too much of everything",
    {
      requests: [...times(32, (index) => exactly({}, `r${index}`)), {}],
      constraints: times(33, () => ({})),
      config: times(33, () => ({})),
    },
    [
      "requests: Too many: 33: must have at most 32 items",
      "constraints: Too many: 33: must have at most 32 items",
      "config: Too many: 33: must have at most 32 items",
    ],
  ],
  [
    "too many alternatives",
    { requests: [either(...times(9, () => ({})))] },
    ["requests[0].firstAvailable: Too many: 9: must have at most 8 items"],
  ],
  [
    "classes and alternatives that cannot be called so",
    { requests: [exactly({ deviceClassName: "" }), exactly({ deviceClassName: "A" }, "a"), either({ name: "A", deviceClassName: "" })] },
    [
      "requests[0].exactly.deviceClassName: Required value",
      `requests[1].exactly.deviceClassName: Invalid value: "A": ${NOT_A_SUBDOMAIN}`,
      `requests[2].firstAvailable[0].name: Invalid value: "A": ${NOT_A_LABEL}`,
      "requests[2].firstAvailable[0].deviceClassName: Required value",
    ],
  ],
  [
    "selectors that select nothing",
    {
      requests: [
        exactly({ selectors: [{}, { cel: { expression: "x".repeat(10_241) } }] }),
        exactly({ selectors: times(33, () => ({})) }, "a"),
        either({ name: "a", deviceClassName: "c", selectors: [{}] }),
      ],
    },
    [
      "requests[0].exactly.selectors[0].cel: Required value",
      "requests[0].exactly.selectors[1].cel.expression: Too long: may not be more than 10240 bytes",
      "requests[1].exactly.selectors: Too many: 33: must have at most 32 items",
      "requests[2].firstAvailable[0].selectors[0].cel: Required value",
    ],
  ],
  [
    "selectors that do not compile",
    {
      requests: [
        exactly({ selectors: [{ cel: { expression: 'device.driver == "a"' } }, { cel: { expression: "noSuchVar" } }] }),
        either({ name: "a", deviceClassName: "c", selectors: [{ cel: { expression: "device.capacity" } }] }),
      ],
    },
    [
      `requests[0].exactly.selectors[1].cel.expression: Invalid value: "noSuchVar": compilation failed: ERROR: <input>:1:1: undeclared reference to 'noSuchVar' (in container '')\n | noSuchVar\n | ^`,
      'requests[1].firstAvailable[0].selectors[0].cel.expression: Invalid value: "device.capacity": must evaluate to bool or the unknown type, not map(string, map(string, kubernetes.Quantity))',
    ],
  ],
  [
    "counts that do not fit the mode",
    {
      requests: [
        exactly({ allocationMode: "All", count: 1 }),
        exactly({ count: -1 }, "a"),
        exactly({ allocationMode: "Some" }, "b"),
        either({ name: "a", deviceClassName: "c", count: -1 }),
      ],
    },
    [
      "requests[0].exactly.count: Invalid value: 1: must not be specified when allocationMode is 'All'",
      "requests[1].exactly.count: Invalid value: -1: must be greater than zero",
      'requests[2].exactly.allocationMode: Unsupported value: "Some": supported values: "All", "ExactCount"',
      "requests[3].firstAvailable[0].count: Invalid value: -1: must be greater than zero",
    ],
  ],
  [
    "tolerations that tolerate nothing",
    {
      requests: [
        exactly({
          tolerations: [{ key: "-" }, { value: "-" }, { operator: "Exists", value: "x" }, { operator: "In", effect: "NoRun" }],
        }),
        either({ name: "a", deviceClassName: "c", tolerations: [{ operator: "In" }] }),
      ],
    },
    [
      `requests[0].exactly.tolerations[0].key: Invalid value: "-": ${NOT_A_NAME}`,
      `requests[0].exactly.tolerations[1].value: Invalid value: "-": ${NOT_A_VALUE}`,
      'requests[0].exactly.tolerations[2].value: Invalid value: "x": must be empty for operator `Exists`',
      'requests[0].exactly.tolerations[3].operator: Unsupported value: "In": supported values: "Equal", "Exists"',
      'requests[0].exactly.tolerations[3].effect: Unsupported value: "NoRun": supported values: "NoExecute", "NoSchedule", "None"',
      'requests[1].firstAvailable[0].tolerations[0].operator: Unsupported value: "In": supported values: "Equal", "Exists"',
    ],
  ],
  [
    "references to requests that are not there",
    { requests: TWO, constraints: [{ requests: ["R", "s/b", "r/a", "a/B/c", "r", "r"], matchAttribute: "a/b" }] },
    [
      `constraints[0].requests[0]: Invalid value: "R": ${NOT_A_LABEL}`,
      `constraints[0].requests[0]: Invalid value: "R": ${NOT_A_REQUEST}`,
      `constraints[0].requests[1]: Invalid value: "s/b": ${NOT_A_REQUEST}`,
      `constraints[0].requests[2]: Invalid value: "r/a": ${NOT_A_REQUEST}`,
      `constraints[0].requests[3]: Invalid value: "a/B/c": ${NOT_A_REQUEST}`,
      'constraints[0].requests[5]: Duplicate value: "r"',
    ],
  ],
  [
    "too many references",
    {
      requests: TWO,
      constraints: [{ requests: times(33, () => "x"), matchAttribute: "a/b" }],
      config: [{ requests: times(33, () => "x"), ...CONFIGURATION }],
    },
    ["constraints[0].requests: Too many: 33: must have at most 32 items", "config[0].requests: Too many: 33: must have at most 32 items"],
  ],
  [
    "constraints without an attribute, and with names that are none",
    {
      constraints: [
        {},
        { matchAttribute: "a" },
        { matchAttribute: "/" },
        { matchAttribute: "A_/1" },
        { matchAttribute: `a/${"x".repeat(33)}` },
        { distinctAttribute: `${"x".repeat(64)}/a` },
        { distinctAttribute: "a" },
        { matchAttribute: `${"x".repeat(64)}/a` },
        { distinctAttribute: "/" },
        { distinctAttribute: "A_/1" },
        { distinctAttribute: `a/${"x".repeat(33)}` },
      ],
    },
    [
      'constraints[0]: Required value: exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set',
      `constraints[1].matchAttribute: Invalid value: "a": ${NOT_QUALIFIED}`,
      'constraints[2].matchAttribute: Invalid value: "": the domain must not be empty',
      'constraints[2].matchAttribute: Invalid value: "": the name must not be empty',
      `constraints[3].matchAttribute: Invalid value: "A_": ${NOT_A_SUBDOMAIN}`,
      `constraints[3].matchAttribute: Invalid value: "1": ${NOT_AN_IDENTIFIER}`,
      "constraints[4].matchAttribute: Too long: may not be more than 32 bytes",
      "constraints[5].distinctAttribute: Too long: may not be more than 63 bytes",
      `constraints[6].distinctAttribute: Invalid value: "a": ${NOT_QUALIFIED}`,
      "constraints[7].matchAttribute: Too long: may not be more than 63 bytes",
      'constraints[8].distinctAttribute: Invalid value: "": the domain must not be empty',
      'constraints[8].distinctAttribute: Invalid value: "": the name must not be empty',
      `constraints[9].distinctAttribute: Invalid value: "A_": ${NOT_A_SUBDOMAIN}`,
      `constraints[9].distinctAttribute: Invalid value: "1": ${NOT_AN_IDENTIFIER}`,
      "constraints[10].distinctAttribute: Too long: may not be more than 32 bytes",
    ],
  ],
  [
    "configurations that say nothing, or of nothing",
    { requests: TWO, config: [{}, { requests: ["r", "x", "r"], opaque: {} }, { opaque: { driver: "d", parameters: 1 } }] },
    [
      "config[0].opaque: Required value",
      `config[1].requests[1]: Invalid value: "x": ${NOT_A_REQUEST}`,
      'config[1].requests[2]: Duplicate value: "r"',
      "config[1].opaque.driver: Required value",
      "config[1].opaque.parameters: Required value",
      'config[2].opaque.parameters: Invalid value: "<value omitted>": must be a valid JSON object',
    ],
  ],
  [
    "alternatives that cannot be had",
    {
      requests: [
        either(
          { name: "a", deviceClassName: "A", allocationMode: "All", count: 1 },
          { name: "b", deviceClassName: "c", allocationMode: "Some" },
          { name: "c", deviceClassName: "c", selectors: times(33, () => ({})) },
        ),
      ],
    },
    [
      `requests[0].firstAvailable[0].deviceClassName: Invalid value: "A": ${NOT_A_SUBDOMAIN}`,
      "requests[0].firstAvailable[0].count: Invalid value: 1: must not be specified when allocationMode is 'All'",
      'requests[0].firstAvailable[1].allocationMode: Unsupported value: "Some": supported values: "All", "ExactCount"',
      "requests[0].firstAvailable[2].selectors: Too many: 33: must have at most 32 items",
    ],
  ],
  [
    "configurations for requests that cannot be called so",
    { requests: TWO, config: [{ requests: ["R", "s/A"], ...CONFIGURATION }] },
    [
      `config[0].requests[0]: Invalid value: "R": ${NOT_A_LABEL}`,
      `config[0].requests[0]: Invalid value: "R": ${NOT_A_REQUEST}`,
      `config[0].requests[1]: Invalid value: "A": ${NOT_A_LABEL}`,
      `config[0].requests[1]: Invalid value: "s/A": ${NOT_A_REQUEST}`,
    ],
  ],
];

for (const [title, devices, problems] of ROWS) {
  test(`a claim with ${title} is ${problems.length === 0 ? "valid" : "rejected"}`, () => {
    assert.deepEqual(
      problemsOfNew(resourceClaims, { spec: { devices } }),
      problems.map((problem) => `spec.devices.${problem}`),
    );
  });
}
