import assert from "node:assert/strict";
import test from "node:test";
import type { JsonObject } from "../../machinery/object.ts";
import { cellsOf, columnNames, newObject, problemsOfChange, problemsOfNew, received, warningsOfNew } from "../../testing/kind.ts";
import { podTemplates } from "./pod-template.ts";

const CONTAINERS: JsonObject = { containers: [{ name: "c", image: "i" }] };
const TEMPLATE: JsonObject = { metadata: { labels: { b: "c", a: "b" } }, spec: CONTAINERS };

test("a PodTemplate gets the defaults of templates, once", () => {
  const podTemplate = received(podTemplates, { template: TEMPLATE });

  assert.equal(podTemplate.template?.spec?.dnsPolicy, "ClusterFirst");
  assert.equal(podTemplates.served[0]?.defaults?.(podTemplate), podTemplate);
});

const ROWS: readonly [title: string, template: JsonObject, problems: readonly string[]][] = [
  ["a container", TEMPLATE, []],
  ["nothing", {}, ["template.spec.containers: Required value"]],
  [
    "labels that are none",
    { ...TEMPLATE, metadata: { labels: { a: "b c" } } },
    [
      "template.labels: Invalid value: \"b c\": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
    ],
  ],
  [
    "an unknown policy",
    { ...TEMPLATE, spec: { ...CONTAINERS, restartPolicy: "Foo" } },
    ['template.spec.restartPolicy: Unsupported value: "Foo": supported values: "Always", "OnFailure", "Never"'],
  ],
];

for (const [title, template, problems] of ROWS) {
  test(`a PodTemplate with ${title} is ${problems.length === 0 ? "valid" : "refused"}, new or changed`, () => {
    assert.deepEqual(problemsOfNew(podTemplates, { template }), problems);
    assert.deepEqual(problemsOfChange(podTemplates, newObject(podTemplates, { template: TEMPLATE }), { template }), problems);
  });
}

test("what is odd about it is warned of when that is new, and only then", () => {
  const odd = { ...TEMPLATE, spec: { ...CONTAINERS, nodeSelector: { "beta.kubernetes.io/os": "x" } } };
  const [previous, plain] = [newObject(podTemplates, { template: odd }), newObject(podTemplates, { template: TEMPLATE })];

  assert.deepEqual(warningsOfNew(podTemplates, { template: odd }), [
    'template.spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead',
  ]);
  assert.equal(podTemplates.changesGeneration?.(previous, plain), true);
  assert.equal([...(podTemplates.warnings?.(previous, plain) ?? [])].length, 1);
  assert.deepEqual([...(podTemplates.warnings?.(previous, previous) ?? [])], []);
});

test("a table shows what a PodTemplate would run", () => {
  assert.deepEqual(columnNames(podTemplates), ["Name", "Containers", "Images", "Pod Labels"]);
  assert.deepEqual(Object.values(cellsOf(podTemplates, newObject(podTemplates, { template: TEMPLATE }))), ["x", "c", "i", "a=b,b=c"]);
});
