import assert from "node:assert/strict";
import test from "node:test";
import type { JsonObject } from "../../machinery/object.ts";
import { cellsOf, columnNames, newObject, problemsOfChange, problemsOfNew } from "../../testing/kind.ts";
import { controllerRevisions } from "./controller-revision.ts";

const ROWS: readonly [title: string, sent: JsonObject, problems: readonly string[]][] = [
  ["data", { revision: 1, data: { a: 1 } }, []],
  ["empty data and no number", { data: {} }, []],
  [
    "a number below none, and no data",
    { revision: -1 },
    ["revision: Invalid value: -1: must be greater than or equal to 0", "data: Required value: data is mandatory"],
  ],
  ["a list for data", { revision: 1, data: [1] }, ["data: Required value: data must be a valid JSON object"]],
  ["a text for data", { revision: 1, data: "a" }, ["data: Required value: data must be a valid JSON object"]],
];

for (const [title, sent, problems] of ROWS) {
  test(`a ControllerRevision with ${title} is ${problems.length === 0 ? "valid" : "rejected"}`, () => {
    assert.deepEqual(problemsOfNew(controllerRevisions, sent), problems);
  });
}

const CHANGES: readonly [title: string, sent: JsonObject, problems: readonly string[]][] = [
  ["its number", { revision: 7, data: { a: 1, b: 2 } }, []],
  ["the order of its data", { revision: 1, data: { b: 2, a: 1 } }, []],
  [
    "its data",
    { revision: -7, data: { a: 2 } },
    ["revision: Invalid value: -7: must be greater than or equal to 0", 'data: Invalid value: {"a":2}: field is immutable'],
  ],
];

for (const [title, sent, problems] of CHANGES) {
  test(`a change of a ControllerRevision's ${title} is ${problems.length === 0 ? "allowed" : "rejected"}`, () => {
    const previous = newObject(controllerRevisions, { revision: 1, data: { a: 1, b: 2 } });

    assert.deepEqual(problemsOfChange(controllerRevisions, previous, sent), problems);
  });
}

const OWNERS: readonly [apiVersion: string, kind: string, shown: string][] = [
  ["apps/v1", "DaemonSet", "daemonset.apps/owner"],
  ["v1", "Pod", "pod/owner"],
];

for (const [apiVersion, kind, shown] of OWNERS) {
  test(`the table of ControllerRevisions shows the controller: ${shown}`, () => {
    const ownerReferences = [
      { apiVersion: "v1", kind: "Node", name: "other", uid: "v" },
      { apiVersion, kind, name: "owner", uid: "u", controller: true },
    ];
    const revision = newObject(controllerRevisions, { metadata: { ownerReferences }, revision: 3, data: {} });

    assert.deepEqual(columnNames(controllerRevisions), ["Name", "Controller", "Revision", "Age"]);
    assert.deepEqual(Object.values(cellsOf(controllerRevisions, revision)), ["x", shown, 3, "<unknown>"]);
  });
}

test("the table shows <none> for a ControllerRevision without a controller", () => {
  assert.equal(cellsOf(controllerRevisions, newObject(controllerRevisions, { data: {} }))["Controller"], "<none>");
});
