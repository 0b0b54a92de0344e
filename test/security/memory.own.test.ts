/** Client-chosen values are answered and not retained: neither long paths nor reviews of users with many attributes. */
import { equal, ok } from "node:assert/strict";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { startGuardedServer } from "../../src/apiserver/testing/server.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

/** Far more than cacheable responses take, far less than what was sent. */
const KEPT_BYTES_MAX = 30 * 1024 * 1024;

async function keptBytes(send: () => Promise<void>): Promise<number> {
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  await send();
  collectGarbage();
  return process.memoryUsage().heapUsed - before;
}

test("long paths with unknown namespaces and groups are not retained in memory", async () => {
  await using server = await startGuardedServer();
  const anonymous = server.as({ name: "system:anonymous", groups: ["system:unauthenticated"] });
  const long = "x".repeat(60_000);

  const kept = await keptBytes(async () => {
    for (let index = 0; index < 1_000; index++) {
      equal((await anonymous.call("GET", `/api/v1/namespaces/made-up-namespace-${index}/pods/${long}`)).code, 403);
      equal((await anonymous.call("GET", `/apis/made-up-group-${index}/v1/things/${long}`)).code, 403);
    }
  });

  ok(kept < KEPT_BYTES_MAX, `${kept} bytes are retained`);
});

test("a review retains only the relevant attributes of its user in memory", async () => {
  await using server = await startGuardedServer();
  const resourceAttributes = { verb: "get", resource: "pods", namespace: "default" };

  const kept = await keptBytes(async () => {
    for (let index = 0; index < 1_000; index++) {
      const spec = { user: `u${index}`, extra: { a: [String(index % 10).repeat(60_000)] }, resourceAttributes };
      equal((await server.call("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", { spec })).code, 201);
    }
  });

  ok(kept < KEPT_BYTES_MAX, `${kept} bytes are retained`);
});
