import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../../../api/machinery/object.ts";
import { startServer } from "../../testing/server.ts";

const ACCOUNTS = "/api/v1/namespaces/default/serviceaccounts";

for (const [what, request, code, message] of [
  ["of an account that there is not", ["other", {}], 404, /serviceaccounts "other" not found/],
  ["of another account than the path's", ["a", { metadata: { name: "b" } }], 422, /metadata\.name: Invalid value: "b"/],
  ["for too short", ["a", { spec: { expirationSeconds: 1 } }], 422, /may not specify a duration less than 10 minutes/],
  ["that nobody signs", ["a", {}], 503, /tokens of service accounts cannot be signed: the server has no key/],
] as const) {
  test(`a token ${what} is refused with ${code}`, async () => {
    await using server = await startServer();
    await server.call("POST", ACCOUNTS, { metadata: { name: "a" } });
    const [account, body] = request as readonly [string, JsonObject];

    const answer = await server.call("POST", `${ACCOUNTS}/${account}/token`, body);

    assert.equal(answer.code, code, answer.text);
    assert.match(answer.body.message, message);
  });
}
