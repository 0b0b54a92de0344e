import assert from "node:assert/strict";
import test from "node:test";
import type { JsonObject } from "../../machinery/object.ts";
import { problems, received } from "../../testing/kind.ts";
import { bindings, validateBinding } from "./binding.ts";

const ROWS: readonly [title: string, target: JsonObject, problems: readonly string[]][] = [
  ["to a node", { kind: "Node", name: "n" }, []],
  ["to something with a name", { name: "n" }, []],
  ["to nothing", {}, ["target.name: Required value"]],
  [
    "to what is no node",
    { kind: "Service", name: "" },
    ['target.kind: Unsupported value: "Service": supported values: "Node", "<empty>"', "target.name: Required value"],
  ],
];

for (const [title, target, expected] of ROWS) {
  test(`a Binding ${title} is ${expected.length === 0 ? "valid" : "rejected"}`, () => {
    assert.deepEqual(problems(validateBinding(received(bindings, { target })), "Binding"), expected);
  });
}
