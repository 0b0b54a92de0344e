/** What somebody makes up is answered and not kept: neither long paths, nor questions about users of whom much is told. */
import { equal, ok } from "node:assert/strict";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { startGuardedServer } from "../../src/apiserver/testing/server.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

/** Far more than answers take that may be kept, far less than what was sent. */
const KEPT_BYTES_MAX = 30 * 1024 * 1024;

async function keptBytes(send: () => Promise<void>): Promise<number> {
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  await send();
  collectGarbage();
  return process.memoryUsage().heapUsed - before;
}

test("long paths of namespaces and groups that are not there are not remembered", async () => {
  await using server = await startGuardedServer();
  const anonymous = server.as({ name: "system:anonymous", groups: ["system:unauthenticated"] });
  const long = "x".repeat(60_000);

  const kept = await keptBytes(async () => {
    for (let index = 0; index < 1_000; index++) {
      equal((await anonymous.call("GET", `/api/v1/namespaces/made-up-namespace-${index}/pods/${long}`)).code, 403);
      equal((await anonymous.call("GET", `/apis/made-up-group-${index}/v1/things/${long}`)).code, 403);
    }
  });

  ok(kept < KEPT_BYTES_MAX, `${kept} bytes are kept`);
});

test("of a user in a review only what was asked for is remembered", async () => {
  await using server = await startGuardedServer();
  const resourceAttributes = { verb: "get", resource: "pods", namespace: "default" };

  const kept = await keptBytes(async () => {
    for (let index = 0; index < 1_000; index++) {
      const spec = { user: `u${index}`, extra: { a: [String(index % 10).repeat(60_000)] }, resourceAttributes };
      equal((await server.call("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", { spec })).code, 201);
    }
  });

  ok(kept < KEPT_BYTES_MAX, `${kept} bytes are kept`);
});
