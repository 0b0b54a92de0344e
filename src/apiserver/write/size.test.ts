import assert from "node:assert/strict";
import { test } from "node:test";
import { OBJECT_BYTES_MAX } from "../../store/store.ts";
import { startServer } from "../testing/server.ts";

const PATH = "/api/v1/namespaces/default/configmaps";

function configMap(value: string) {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: { a: value, "wrong key": "" } };
}

test("an object that is too large to be stored is rejected as such, whatever else is invalid", async () => {
  await using started = await startServer();
  const small = await started.call("POST", PATH, configMap("x"));
  const large = await started.call("POST", PATH, configMap("x".repeat(OBJECT_BYTES_MAX)));

  assert.equal(small.code, 422);
  assert.equal(large.code, 413);
  assert.match(large.body.message, /Cannot store configmaps "a": it is 15\d{5} bytes large, at most 1500000 are allowed/);
});

test("a change that makes an object too large is rejected, and the object stays unchanged", async () => {
  await using started = await startServer();
  const { "wrong key": _, ...data } = configMap("x").data;
  await started.call("POST", PATH, { ...configMap("x"), data });
  const answer = await started.call("PUT", `${PATH}/a`, configMap("x".repeat(OBJECT_BYTES_MAX)));

  assert.equal(answer.code, 413);
  assert.deepEqual((await started.call("GET", `${PATH}/a`)).body.data, data);
});

test("a dry run of an object that is too large is rejected, too", async () => {
  await using started = await startServer();

  assert.equal((await started.call("POST", `${PATH}?dryRun=All`, configMap("x".repeat(OBJECT_BYTES_MAX)))).code, 413);
});
