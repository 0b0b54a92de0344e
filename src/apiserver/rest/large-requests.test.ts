import assert from "node:assert/strict";
import { test } from "node:test";
import { LARGE_BODY_BYTES } from "../limits/large-bodies.ts";
import { startServer } from "../testing/server.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";
const YAML = { "content-type": "application/yaml" };
const APPLY = { "content-type": "application/apply-patch+yaml" };
const MERGE = { "content-type": "application/merge-patch+json" };
const JSON_PATCH = { "content-type": "application/json-patch+json" };

/** White space makes a body large without changing its content. */
const SPACES = " ".repeat(2 * LARGE_BODY_BYTES);

interface Row {
  readonly it: string;
  readonly method?: string;
  readonly path?: string;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const ROWS: readonly Row[] = [
  { it: "a create", body: '{"metadata":{"name":"a"},"data":{"k":"v"}}' },
  { it: "a create with unknown fields", body: '{"metadata":{"name":"a","x":{"y":[1]}},"data":{"k":"v"},"z":1,"z":2,"2":1,"1":2}' },
  {
    it: "a create with unknown fields under Strict",
    path: `${MAPS}?fieldValidation=Strict`,
    body: '{"metadata":{"name":"a","x":1},"z":{"z":2}}',
  },
  {
    it: "a create with duplicate fields",
    path: `${MAPS}?fieldValidation=Strict`,
    body: '{"metadata":{"name":"a"},"data":{"k":"1","k":"2"}}',
  },
  { it: "a create in invalid JSON", body: '{"metadata":{"name":"a"},"data":{"k":"v"' },
  { it: "a create with a wrong type", body: '{"metadata":{"name":"a"},"data":{"k":1.0}}' },
  { it: "a create in YAML", body: "metadata: {name: a}\ndata:\n  k: v\n  k: w\nx: 1", headers: YAML },
  { it: "a create in invalid YAML", body: "metadata: {name: a}\n\t- beyond the summary", headers: YAML },
  { it: "an update", method: "PUT", path: `${MAPS}/there`, body: '{"metadata":{"name":"there","x":1},"data":{"k":"w"}}' },
  { it: "a merge patch", method: "PATCH", path: `${MAPS}/there`, body: '{"data":{"k":"w"},"x":1,"x":2}', headers: MERGE },
  {
    it: "a JSON patch",
    method: "PATCH",
    path: `${MAPS}/there`,
    body: '[{"op":"add","path":"/data/n","value":"w"}]',
    headers: JSON_PATCH,
  },
  {
    it: "an apply in JSON",
    method: "PATCH",
    path: `${MAPS}/there?fieldManager=m&force=true`,
    body: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"there"},"data":{"k":"w"}}',
    headers: APPLY,
  },
  {
    it: "an apply in JSON with a duplicate key",
    method: "PATCH",
    path: `${MAPS}/there?fieldManager=m&force=true`,
    body: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"there"},"data":{"k":"w","k":"x"}}',
    headers: APPLY,
  },
  {
    it: "an apply in YAML",
    method: "PATCH",
    path: `${MAPS}/there?fieldManager=m&force=true`,
    body: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: there}\ndata: {k: w}",
    headers: APPLY,
  },
];

async function answerTo({ method = "POST", path = MAPS, body, headers = {} }: Row) {
  await using server = await startServer();
  await server.call("POST", MAPS, { metadata: { name: "there" }, data: { k: "v" } });
  const { code, text, headers: answered } = await server.call(method, path, body, headers);
  return { code, text, warning: answered["warning"] };
}

for (const row of ROWS) {
  test(`${row.it} with a large body is answered as with a small one`, async () => {
    const spaced = row.headers === YAML || row.body.startsWith("apiVersion:") ? `${row.body}\n#${SPACES}` : row.body + SPACES;

    const large = await answerTo({ ...row, body: spaced });

    assert.deepEqual(large, await answerTo(row));
  });
}

test("a small request is answered while an earlier large one is in progress", async () => {
  await using server = await startServer({ yieldsToEventLoop: true });
  const order: string[] = [];
  const keys = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`k${index}`, "v"]));

  const large = server.call("POST", MAPS, { metadata: { name: "large" }, data: keys }).then(({ code }) => order.push(`large ${code}`));
  const small = server.call("POST", MAPS, { metadata: { name: "small" } }).then(({ code }) => order.push(`small ${code}`));
  await server.clock.settle();
  await Promise.all([large, small]);

  assert.deepEqual(order, ["small 201", "large 201"]);
});

test("bodies that never arrive do not block others, however many there are", async () => {
  await using server = await startServer();
  const controller = new AbortController();
  const late = new Promise<Uint8Array>(() => undefined);
  const slow = Array.from({ length: 40 }, () => server.call("POST", MAPS, late, {}, controller));
  await server.clock.settle();

  const { code } = await server.call("POST", MAPS, { metadata: { name: "a" }, data: { k: SPACES } });

  assert.equal(code, 201);
  controller.abort(new Error("The client disconnected"));
  await Promise.all(slow);
});

test("a client that disconnects while its large body waits acquires no slot and does not block others", async () => {
  await using server = await startServer();
  const controller = new AbortController();
  let send: (body: Uint8Array) => void = () => undefined;
  const late = new Promise<Uint8Array>((resolve) => (send = resolve));
  const cancelled = Array.from({ length: 5 }, () => server.call("POST", MAPS, late, {}, controller));
  await server.clock.settle();

  send(new TextEncoder().encode(JSON.stringify({ metadata: { generateName: "a" }, data: { k: SPACES } })));
  controller.abort(new Error("The client disconnected"));
  await Promise.all(cancelled);
  const { code } = await server.call("POST", MAPS, { metadata: { name: "a" }, data: { k: SPACES } });

  assert.equal(code, 201);
});
