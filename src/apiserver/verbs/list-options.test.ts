import assert from "node:assert/strict";
import { test } from "node:test";
import { startServer } from "../testing/server.ts";

const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";

/** As a client would make it up. */
function token(value: unknown): string {
  return btoa(JSON.stringify(value)).replace(/=+$/, "");
}

for (const [what, query, code, message] of [
  [
    "a version that is none",
    "resourceVersion=abc",
    400,
    /^invalid resource version: resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax$/,
  ],
  ["a version beyond 64 bits", `resourceVersion=${"9".repeat(20)}`, 400, /value out of range$/],
  [
    "a watch from a version that is yet to come",
    "watch=true&resourceVersion=999999",
    504,
    /^Timeout: Too large resource version: 999999, current: \d+$/,
  ],
  ["a version that is yet to come", "resourceVersion=999999", 504, /^Timeout: Too large resource version: 999999, current: \d+$/],
  [
    "a token of another version",
    `continue=${token({ v: "v2" })}`,
    400,
    /^invalid continue token: continue key is not valid: server does not recognize this encoded version v2$/,
  ],
  [
    "a token without a place",
    `continue=${token({ v: "meta.k8s.io/v1", rv: 1 })}`,
    400,
    /encoded start key empty \(version meta.k8s.io\/v1\)$/,
  ],
  [
    "a watch that continues",
    "watch=true&continue=x",
    422,
    /resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is provided$/,
  ],
  ["a limit that is no number", "limit=abc", 400, /^strconv.ParseInt: parsing "abc": invalid syntax$/],
] as const) {
  test(`${what} is refused with ${code}`, async () => {
    await using server = await startServer();

    const answer = await server.call("GET", `${CONFIG_MAPS}?${query}`);

    assert.equal(answer.code, code);
    assert.match(answer.body.message, message);
  });
}

test("who takes any version gets the whole list, whatever limit it names", async () => {
  await using server = await startServer();
  for (const name of ["a", "b", "c"]) await server.call("POST", CONFIG_MAPS, { metadata: { name } });

  const any = await server.call("GET", `${CONFIG_MAPS}?resourceVersion=0&limit=1`);
  const newest = await server.call("GET", `${CONFIG_MAPS}?limit=1`);

  assert.deepEqual([any.body.items.length, newest.body.items.length, newest.body.metadata.remainingItemCount], [3, 1, 2]);
});

test("what is in no namespace cannot be selected by it, once it has fields of its own", async () => {
  await using server = await startServer();

  const { code, body } = await server.call("GET", "/api/v1/nodes?fieldSelector=metadata.namespace%3Dx");

  assert.deepEqual([code, body.message], [400, "field label not supported: metadata.namespace"]);
});
