import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "../../api/machinery/object.ts";
import { ByNamespace } from "./by-namespace.ts";

function anObject(namespace: string, name: string, uid = ""): KubeObject {
  return { apiVersion: "v1", kind: "X", metadata: { namespace, name, uid } };
}

test("ByNamespace lists the current objects of a namespace ordered by name", () => {
  const index = new ByNamespace<KubeObject>();
  for (const name of ["b", "a", "c"]) index.put(anObject("n", name));
  index.put(anObject("m", "b"));

  index.put(anObject("n", "b", "new"));
  index.remove(anObject("n", "c"));
  assert.deepEqual(
    index.of("n").map(({ metadata }) => [metadata.name, metadata.uid]),
    [
      ["a", ""],
      ["b", "new"],
    ],
  );
  assert.deepEqual([index.of("m").length, index.of("none")], [1, []]);

  index.remove(anObject("m", "b"));
  assert.deepEqual(index.of("m"), []);
  index.reset();
  assert.deepEqual(index.of("n"), []);
});
