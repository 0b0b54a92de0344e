import { equal } from "node:assert/strict";
import { test } from "node:test";
import { startServer, type SentBody, type StartedServer } from "../testing/server.ts";

const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const CONFIG_MAP = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } };

interface Request {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly body?: SentBody;
  readonly code?: number;
  readonly lookups?: number;
}

const REQUESTS: readonly Request[] = [
  { name: "create", method: "POST", path: CONFIG_MAPS, body: { ...CONFIG_MAP, metadata: { name: "b" } }, code: 201 },
  { name: "get", method: "GET", path: `${CONFIG_MAPS}/a` },
  { name: "list of a namespace", method: "GET", path: CONFIG_MAPS },
  { name: "list of all namespaces", method: "GET", path: "/api/v1/configmaps" },
  { name: "update", method: "PUT", path: `${CONFIG_MAPS}/a`, body: CONFIG_MAP },
  { name: "delete", method: "DELETE", path: `${CONFIG_MAPS}/a` },
  { name: "deletion of a collection", method: "DELETE", path: CONFIG_MAPS },
  { name: "document", method: "GET", path: "/version", lookups: 0 },
];

for (const { name, method, path, body, code = 200, lookups = 1 } of REQUESTS) {
  test(`a ${name} request looks up its endpoint ${lookups === 1 ? "once" : "never"}`, async () => {
    await using server = await startServer();
    await server.call("POST", CONFIG_MAPS, CONFIG_MAP);
    const counted = countLookups(server);

    const answer = await server.call(method, path, body);

    equal(answer.code, code);
    equal(counted(), lookups);
  });
}

test("a watch request looks up its endpoint once", async () => {
  await using server = await startServer();
  const counted = countLookups(server);

  const watch = await server.watch(`${CONFIG_MAPS}?watch=true`);
  watch.close();

  equal(counted(), 1);
});

/** Counts calls of `find` from now on. */
function countLookups({ server: { endpoints } }: StartedServer): () => number {
  const find = endpoints.find.bind(endpoints);
  let lookups = 0;
  endpoints.find = (...resource) => {
    lookups++;
    return find(...resource);
  };
  return () => lookups;
}
