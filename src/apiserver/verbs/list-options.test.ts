import assert from "node:assert/strict";
import { test } from "node:test";
import { startServer } from "../testing/server.ts";

const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";

/** A forged token. */
function token(value: unknown): string {
  return btoa(JSON.stringify(value)).replace(/=+$/, "");
}

for (const [what, query, code, message] of [
  [
    "an invalid resourceVersion",
    "resourceVersion=abc",
    400,
    /^invalid resource version: resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax$/,
  ],
  ["a resourceVersion beyond 64 bits", `resourceVersion=${"9".repeat(20)}`, 400, /value out of range$/],
  [
    "a watch from a future resourceVersion",
    "watch=true&resourceVersion=999999",
    504,
    /^Timeout: Too large resource version: 999999, current: \d+$/,
  ],
  ["a future resourceVersion", "resourceVersion=999999", 504, /^Timeout: Too large resource version: 999999, current: \d+$/],
  [
    "a token of another version",
    `continue=${token({ v: "v2" })}`,
    400,
    /^invalid continue token: continue key is not valid: server does not recognize this encoded version v2$/,
  ],
  [
    "a token without a start key",
    `continue=${token({ v: "meta.k8s.io/v1", rv: 1 })}`,
    400,
    /encoded start key empty \(version meta.k8s.io\/v1\)$/,
  ],
  [
    "a watch with a continue token",
    "watch=true&continue=x",
    422,
    /resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is provided$/,
  ],
  ["a limit that is not a number", "limit=abc", 400, /^strconv.ParseInt: parsing "abc": invalid syntax$/],
] as const) {
  test(`${what} is rejected with ${code}`, async () => {
    await using server = await startServer();

    const answer = await server.call("GET", `${CONFIG_MAPS}?${query}`);

    assert.equal(answer.code, code);
    assert.match(answer.body.message, message);
  });
}

test("a list with resourceVersion 0 is complete, whatever its limit", async () => {
  await using server = await startServer();
  for (const name of ["a", "b", "c"]) await server.call("POST", CONFIG_MAPS, { metadata: { name } });

  const any = await server.call("GET", `${CONFIG_MAPS}?resourceVersion=0&limit=1`);
  const newest = await server.call("GET", `${CONFIG_MAPS}?limit=1`);

  assert.deepEqual([any.body.items.length, newest.body.items.length, newest.body.metadata.remainingItemCount], [3, 1, 2]);
});

test("a cluster-scoped kind with selectable fields of its own rejects metadata.namespace as field selector", async () => {
  await using server = await startServer();

  const { code, body } = await server.call("GET", "/api/v1/nodes?fieldSelector=metadata.namespace%3Dx");

  assert.deepEqual([code, body.message], [400, "field label not supported: metadata.namespace"]);
});
