import assert from "node:assert/strict";
import test from "node:test";
import { problems } from "../../../testing/kind.ts";
import { validateContainerResourceName } from "./validation/resources.ts";
import { errorsOf } from "../../../machinery/findings.ts";

const ROWS: readonly [name: string, problems: readonly string[]][] = [
  ["cpu", []],
  ["hugepages-2Mi", []],
  ["example.com/gpu", []],
  ["kubernetes.io/x", []],
  ["pods", ["must be a standard resource for containers"]],
  ["requests.cpu", ["must be a standard resource for containers"]],
  ["foo", ["must be a standard resource type or fully qualified", "must be a standard resource for containers"]],
  ["requests.foo/bar", ["doesn't follow extended resource name standard"]],
];

for (const [name, expected] of ROWS) {
  test(`${name} is ${expected.length === 0 ? "valid" : "rejected"} as a container resource name`, () => {
    assert.deepEqual(
      problems(errorsOf((errors) => validateContainerResourceName(errors, name, "name"))),
      expected.map((problem) => `name: Invalid value: "${name}": ${problem}`),
    );
  });
}

test("a resource name must be a qualified name", () => {
  assert.match(
    problems(errorsOf((errors) => validateContainerResourceName(errors, "a b", "name")))[0] ?? "",
    /^name: Invalid value: "a b": name part must consist of/,
  );
});
