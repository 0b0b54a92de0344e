import assert from "node:assert/strict";
import test from "node:test";
import { validateDnsLabel, validateLabelValue, validateQualifiedName } from "../../machinery/names.ts";
import type { Json } from "../../machinery/object.ts";
import { cellsOf, columnNames, newObject, problemsOfChange, problemsOfNew, warningsOfNew, type Sent } from "../../testing/kind.ts";
import { runtimeClasses } from "./runtime-class.ts";

const [LABEL = ""] = validateDnsLabel("A");
const [LABEL_VALUE = ""] = validateLabelValue("-");
const [QUALIFIED_NAME = ""] = validateQualifiedName("a b");

const costing = (podFixed: Json): Sent => ({ handler: "a", overhead: { podFixed } });
const tolerating = (...tolerations: readonly Json[]): Sent => ({ handler: "a", scheduling: { tolerations } });
const LIMITS = "overhead.limits";
const TOLERATIONS = "scheduling.tolerations";

const NEW: readonly [title: string, sent: Sent, problems: readonly string[]][] = [
  ["a handler", { handler: "a" }, []],
  ["no handler", {}, ["handler: Required value"]],
  ["a handler that cannot be", { handler: "A" }, [`handler: Invalid value: "A": ${LABEL}`]],
  ["a handler with dots", { handler: "a.b" }, ['handler: Invalid value: "a.b": must not contain dots']],
  ["a cost", costing({ cpu: "250m", memory: "1Gi" }), []],
  ["a cost below zero", costing({ cpu: "-1" }), ['overhead.limits[cpu]: Invalid value: "-1": must be greater than or equal to 0']],
  ["half of what is counted", costing({ "a.b/c": "1500m" }), ['overhead.limits[a.b/c]: Invalid value: "1500m": must be an integer']],
  ["huge pages alone", costing({ "hugepages-2Mi": "2Mi" }), ["overhead: Forbidden: HugePages require cpu or memory"]],
  [
    "half of a huge page",
    costing({ cpu: "1", "hugepages-2Mi": "3Mi" }),
    [`${LIMITS}[hugepages-2Mi]: Invalid value: "3Mi": 3Mi is not positive integer multiple of hugepages-2Mi`],
  ],
  [
    "a cost of what cannot be",
    costing({ "a b": "1" }),
    [
      `${LIMITS}[a b]: Invalid value: "a b": ${QUALIFIED_NAME}`,
      `${LIMITS}[a b]: Invalid value: "a b": must be a standard resource for containers`,
    ],
  ],
  [
    "a cost of what there is not",
    costing({ plain: "1" }),
    [
      `${LIMITS}[plain]: Invalid value: "plain": must be a standard resource type or fully qualified`,
      `${LIMITS}[plain]: Invalid value: "plain": must be a standard resource for containers`,
    ],
  ],
  [
    "a cost of what only quotas count",
    costing({ "requests.a/b": "1" }),
    [`${LIMITS}[requests.a/b]: Invalid value: "requests.a/b": doesn't follow extended resource name standard`],
  ],
  [
    "a selector of nodes that is wrong",
    { handler: "a", scheduling: { nodeSelector: { "a b": "-" } } },
    [`scheduling.nodeSelector: Invalid value: "a b": ${QUALIFIED_NAME}`, `scheduling.nodeSelector: Invalid value: "-": ${LABEL_VALUE}`],
  ],
  ["tolerations", tolerating({ key: "a" }, { key: "a", effect: "NoSchedule" }, { key: "b" }), []],
  [
    "tolerations that are wrong",
    tolerating({}, { key: "a b", operator: "Exists" }, { key: "a", operator: "Exists", tolerationSeconds: 1 }, { key: "a", operator: "x" }),
    [
      `${TOLERATIONS}[0].operator: Invalid value: "": operator must be Exists when \`key\` is empty, which means "match all values and all keys"`,
      `${TOLERATIONS}[1].key: Invalid value: "a b": ${QUALIFIED_NAME}`,
      `${TOLERATIONS}[2].effect: Invalid value: "": effect must be 'NoExecute' when \`tolerationSeconds\` is set`,
      `${TOLERATIONS}[3].operator: Unsupported value: "x": supported values: "Equal", "Exists"`,
    ],
  ],
  [
    "tolerations of what cannot be",
    tolerating({ key: "a", operator: "Exists", value: "x" }, { key: "a", effect: "Odd" }),
    [
      `${TOLERATIONS}[0].operator: Invalid value: "x": value must be empty when \`operator\` is 'Exists'`,
      `${TOLERATIONS}[1].effect: Unsupported value: "Odd": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"`,
    ],
  ],
  [
    "the same toleration twice, for different times",
    tolerating(
      { key: "a", operator: "Exists", effect: "NoExecute" },
      { key: "a", operator: "Exists", effect: "NoExecute", tolerationSeconds: 3 },
    ),
    [`${TOLERATIONS}[1]: Duplicate value: {"Key":"a","Operator":"Exists","Value":"","Effect":"NoExecute","TolerationSeconds":3}`],
  ],
];

for (const [title, sent, problems] of NEW) {
  test(`a RuntimeClass with ${title} is ${problems.length === 0 ? "valid" : "rejected"}`, () =>
    assert.deepEqual(problemsOfNew(runtimeClasses, sent), problems));
}

test("finalizers of a RuntimeClass need no domain", () => assert.equal(runtimeClasses.allowsPlainFinalizers, true));

test("the handler of a RuntimeClass is immutable", () => {
  const previous = newObject(runtimeClasses, { handler: "a" });

  assert.deepEqual(problemsOfChange(runtimeClasses, previous, { handler: "b" }), ['handler: Invalid value: "b": field is immutable']);
  assert.deepEqual(problemsOfChange(runtimeClasses, previous, tolerating({ key: "a" })), []);
});

test("a node selector with a deprecated label produces a warning", () => {
  assert.deepEqual(
    warningsOfNew(runtimeClasses, { handler: "a", scheduling: { nodeSelector: { a: "b", "beta.kubernetes.io/os": "linux" } } }),
    ['scheduling.nodeSelector: deprecated since v1.14; use "kubernetes.io/os" instead'],
  );
});

test("a RuntimeClass is created by a PUT, requires a resourceVersion on update, and its table shows the handler", () => {
  assert.deepEqual([runtimeClasses.createOnUpdate, runtimeClasses.unconditionalUpdate], [true, false]);
  assert.deepEqual(columnNames(runtimeClasses), ["Name", "Handler", "Age"]);
  assert.equal(cellsOf(runtimeClasses, newObject(runtimeClasses, { handler: "a" })).Handler, "a");
});
