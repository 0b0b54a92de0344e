import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { pathKey, yamlLines } from "./lines.ts";

test("every member and item of a YAML document has its line", () => {
  const [first, second, ...others] = yamlLines(
    "# a comment\nkind: Pod\nspec:\n  containers:\n    - name: a\n      image: b\n    - {name: c}\n---\n\nkind: Service\n---\n",
  );

  deepEqual(others, []);
  equal(first?.line, 2);
  deepEqual(Object.fromEntries(first?.lines ?? []), {
    [pathKey(["kind"])]: 2,
    [pathKey(["spec"])]: 3,
    [pathKey(["spec", "containers"])]: 4,
    [pathKey(["spec", "containers", 0])]: 5,
    [pathKey(["spec", "containers", 0, "name"])]: 5,
    [pathKey(["spec", "containers", 0, "image"])]: 6,
    [pathKey(["spec", "containers", 1])]: 7,
    [pathKey(["spec", "containers", 1, "name"])]: 7,
  });
  equal(second?.line, 10);
});

test("a document with a mistake has the lines before it", () => {
  const [document] = yamlLines("kind: Pod\nspec: {\n");
  equal(document?.lines.get(pathKey(["kind"])), 1);
});
