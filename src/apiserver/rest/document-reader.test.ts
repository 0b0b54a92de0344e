import { deepEqual, equal, rejects } from "node:assert/strict";
import { test } from "node:test";
import { isReason } from "../../api/machinery/status-error.ts";
import { startGuardedServer, startServer } from "../testing/server.ts";

test("a document read in-process is the same as over HTTP, with its query", async () => {
  await using server = await startServer();
  await server.call("POST", "/api/v1/namespaces/default/configmaps", { metadata: { name: "a" } });
  const transport = server.transport();

  for (const path of [
    "/version",
    "/api",
    "/apis",
    "/apis/apps/v1",

    "/debug/k8ts/causes?name=a",
    "/debug/k8ts/causes?name=b",
  ]) {
    deepEqual(await transport.document(path), (await server.call("GET", path)).body, path);
  }
});

for (const [path, reason, sentence] of [
  ["/nothing", "NotFound", /could not find the requested resource/],
  ["/apis/no.such.group/v1", "NotFound", /could not find the requested resource/],
  ["/metrics", "InternalError", /Cannot read the response of \/metrics: it is not JSON/],
  ["/healthz", "InternalError", /Cannot read the response of \/healthz: it is not JSON/],
  ["/api/v1/namespaces", "InternalError", /\/api\/v1\/namespaces is a resource, not a document; request it as a resource/],
] as const) {
  test(`reading ${path} in-process is rejected with ${reason}`, async () => {
    await using server = await startServer();

    await rejects(server.transport().document(path), (error: Error) => isReason(error, reason) && sentence.test(error.message));
  });
}

test("a user without permission for a document over HTTP cannot read it in-process", async () => {
  await using server = await startGuardedServer();
  const user = { name: "jane", groups: [] };
  const transport = server.server.transport({ user, userAgent: "part" });

  await rejects(transport.document("/metrics"), (error) => isReason(error, "Forbidden"));
  equal((await transport.document("/version"))["major"], "1");
});
