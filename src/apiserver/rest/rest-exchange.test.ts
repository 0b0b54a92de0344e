import assert from "node:assert/strict";
import { test } from "node:test";
import { startServer } from "../testing/server.ts";

const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const TABLE = { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" };

for (const path of ["/nope", "/apis/nope", "/apis/nope/v1/things"]) {
  test(`${path} is outside the API and is answered in plain text`, async () => {
    await using server = await startServer();

    const { code, headers, text } = await server.call("GET", path);

    assert.deepEqual([code, headers["content-type"], text], [404, "text/plain; charset=utf-8", "404 page not found\n"]);
  });
}

test("HEAD of an object is not allowed", async () => {
  await using server = await startServer();

  assert.equal((await server.call("HEAD", CONFIG_MAPS)).code, 405);
});

test("a watch on the path of one object is a get", async () => {
  await using server = await startServer();
  await server.call("POST", CONFIG_MAPS, { metadata: { name: "a" } });

  const { code, body } = await server.call("GET", `${CONFIG_MAPS}/a?watch=true`);

  assert.deepEqual([code, body.kind, body.metadata.name], [200, "ConfigMap", "a"]);
});

test("includeObject is validated for tables only", async () => {
  await using server = await startServer();

  const table = await server.call("GET", `${CONFIG_MAPS}?includeObject=Bad`, undefined, TABLE);
  const list = await server.call("GET", `${CONFIG_MAPS}?includeObject=Bad`);

  assert.deepEqual([table.code, list.code], [400, 200]);
  assert.match(table.body.message, /^Unable to convert to Table as requested: includeObject: Invalid value: "Bad"/);
});

test("a table in protobuf is not acceptable, and errors for such a request are in JSON", async () => {
  await using server = await startServer();
  const accept = "application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io";

  const refused = await server.call("GET", CONFIG_MAPS, undefined, { accept });
  const missing = await server.call("GET", `${CONFIG_MAPS}/missing`, undefined, TABLE);

  assert.deepEqual([refused.code, refused.headers["content-type"]], [406, "application/json"]);
  assert.deepEqual([missing.code, missing.body.kind], [404, "Status"]);
});

test("the content type of a watch is the same with and without a stream parameter", async () => {
  await using server = await startServer();

  const watch = await server.watch(`${CONFIG_MAPS}?watch=true`, { accept: "application/json;stream=watch" });

  assert.equal(watch.headers["content-type"], "application/json");
  watch.close();
});

test("a request answered in time is not cancelled later", async () => {
  await using server = await startServer();
  const [usual, short, refused] = [new AbortController(), new AbortController(), new AbortController()];
  const path = "/api/v1/namespaces/default/configmaps";
  assert.equal((await server.call("POST", path, { metadata: { name: "a" } }, {}, usual)).code, 201);
  assert.equal((await server.call("POST", `${path}?timeout=1s`, { metadata: { name: "b" } }, {}, short)).code, 201);
  assert.equal((await server.call("POST", path, { metadata: { name: "a" } }, {}, refused)).code, 409);

  await server.clock.advance(120_000);

  assert.deepEqual(
    [usual, short, refused].map(({ signal }) => signal.aborted),
    [false, false, false],
  );
});
