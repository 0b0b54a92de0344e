import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { startServer } from "../testing/server.ts";

test("/ lists the paths of the server, sorted and without duplicates", async () => {
  await using server = await startServer();

  const { code, headers, body } = await server.call("GET", "/");

  const paths = body.paths as readonly string[];
  equal(code, 200);
  equal(headers["content-type"], "application/json");
  deepEqual(paths, [...new Set(paths)].toSorted());
  for (const path of [
    ...["/api", "/api/v1", "/apis", "/apis/", "/apis/apps", "/apis/apps/v1", "/healthz", "/healthz/ping", "/livez", "/livez/etcd"],
    ...["/metrics", "/metrics/slis", "/openapi/v2", "/openapi/v3", "/openapi/v3/", "/readyz/shutdown", "/version"],
    "/livez/poststarthook/rbac/bootstrap-roles",
  ]) {
    equal(paths.includes(path), true, path);
  }
});

test("every path listed at / is served", async () => {
  await using server = await startServer();
  const { paths } = (await server.call("GET", "/")).body as { readonly paths: readonly string[] };

  const codes = new Set<number>();
  for (const path of paths.filter((listed) => !listed.startsWith("/openapi"))) codes.add((await server.call("GET", path)).code);

  deepEqual([...codes], [200]);
});

test("/ requires permission", async () => {
  await using server = await startServer({ config: { authorizationModes: ["RBAC"] } });
  const anonymous = { name: "system:anonymous", groups: ["system:unauthenticated"] };

  const { code, body } = await server.as(anonymous).call("GET", "/");

  deepEqual([code, body.message], [403, 'forbidden: User "system:anonymous" cannot get path "/"']);
});

for (const path of ["/version?timeout=soon", "/healthz?timeout=1", "/api/v1/pods?timeout=1x", "/?timeout=-"]) {
  test(`an invalid timeout parameter is rejected: ${path}`, async () => {
    await using server = await startServer();

    const { code, body } = await server.call("GET", path);

    equal(code, 400);
    equal(String(body.message).startsWith("invalid timeout specified in the request URL - time: "), true, body.message);
  });
}

for (const path of ["/version?timeout=30s", "/healthz?timeout=0", "/version?timeout=", "/version?notimeout=x"]) {
  test(`a valid timeout parameter is accepted: ${path}`, async () => {
    await using server = await startServer();
    equal((await server.call("GET", path)).code, 200);
  });
}
