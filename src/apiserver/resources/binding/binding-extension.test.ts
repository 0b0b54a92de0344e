import assert from "node:assert/strict";
import { test } from "node:test";
import { startServer } from "../../testing/server.ts";

test("a Binding created at bindings has the effect of pods/binding", async () => {
  await using server = await startServer();
  const pods = "/api/v1/namespaces/default/pods";
  await server.call("POST", pods, { metadata: { name: "p" }, spec: { containers: [{ name: "c", image: "i" }] } });
  const bind = (name: string) =>
    server.call("POST", "/api/v1/namespaces/default/bindings", { metadata: { name }, target: { kind: "Node", name: "n" } });

  const bound = await bind("p");

  assert.deepEqual([bound.code, bound.body.status], [201, "Success"]);
  assert.equal((await server.call("GET", `${pods}/p`)).body.spec.nodeName, "n");
  assert.equal((await bind("none")).code, 404);
  assert.equal((await bind("p")).code, 409);
  const [unnamed, odd] = [await bind(""), await bind("a/b")];
  assert.deepEqual([unnamed.code, unnamed.body.message], [400, "Name parameter required."]);
  assert.deepEqual([odd.code, odd.body.message], [400, "Name parameter invalid: \"a/b\": may not contain '/'"]);
});
