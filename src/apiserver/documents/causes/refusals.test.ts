import { deepEqual, equal, match } from "node:assert/strict";
import { test } from "node:test";
import { CAUSES_PATH, type CauseItem, type CauseList } from "../../../explain/explain-api.ts";
import { DEFAULT_API_SERVER_CONFIG } from "../../framework/api-server-config.ts";
import { startGuardedServer, startServer, type StartedServer } from "../../testing/server.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";
const CAUSE_HEADERS = { "k8ts-cause": "controller=deployment-controller,key=default%2Fweb" };

async function causesOf({ call }: Pick<StartedServer, "call">, query: string): Promise<CauseList> {
  const { code, body } = await call("GET", `${CAUSES_PATH}?${query}`);
  equal(code, 200);
  return body as CauseList;
}

test("/debug/k8ts/causes finds a request that authorization refused by its Audit-Id", async () => {
  await using server = await startGuardedServer();
  const { code, headers } = await server.as({ name: "jane", groups: [] }).call("GET", `${MAPS}/a`);
  equal(code, 403);

  const { items } = await causesOf(server, `requestID=${String(headers["audit-id"])}`);

  const [item] = items as [CauseItem];
  deepEqual([item.user, item.verb, item.resource, item.name, item.resourceVersion], ["jane", "get", "configmaps", "a", undefined]);
  deepEqual([item.refusal?.code, item.refusal?.reason, item.refusal?.stage], [403, "Forbidden", "authorization"]);
  match(item.refusal?.message ?? "", /User "jane" cannot get resource "configmaps"/);
});

for (const { it, method, path, body, reason, stage } of [
  { it: "an invalid object", method: "POST", path: MAPS, body: { metadata: { name: "A" } }, reason: "Invalid", stage: "write" },
  { it: "an existing name", method: "POST", path: MAPS, body: { metadata: { name: "there" } }, reason: "AlreadyExists", stage: "write" },
  {
    it: "an outdated version",
    method: "PUT",
    path: `${MAPS}/there`,
    body: { metadata: { name: "there", resourceVersion: "1" } },
    reason: "Conflict",
    stage: "write",
  },
] as const) {
  test(`/debug/k8ts/causes records a write that is refused because of ${it}`, async () => {
    await using server = await startServer();
    await server.call("POST", MAPS, { metadata: { name: "there" } });
    const { headers } = await server.call(method, path, body);

    const { items } = await causesOf(server, `outcome=refused&requestID=${String(headers["audit-id"])}`);

    deepEqual(
      items.map(({ refusal }) => [refusal?.reason, refusal?.stage]),
      [[reason, stage]],
    );
  });
}

test("/debug/k8ts/causes names the admission plugin that refused a write, and those that changed one", async () => {
  await using server = await startGuardedServer({ config: { admission: DEFAULT_API_SERVER_CONFIG.admission } });
  const pod = { metadata: { name: "p" }, spec: { containers: [{ name: "c", image: "i" }] } };
  await server.call("POST", "/api/v1/namespaces/nowhere/pods", pod);
  await server.call("POST", "/api/v1/namespaces/default/serviceaccounts", { metadata: { name: "default" } });
  await server.clock.settle();
  await server.call("POST", "/api/v1/namespaces/default/pods", pod);

  const refused = await causesOf(server, "resource=pods&outcome=refused");
  const written = await causesOf(server, "resource=pods&outcome=committed");

  deepEqual(
    refused.items.map(({ refusal }) => [refusal?.stage, refusal?.plugin]),
    [["admission", "NamespaceLifecycle"]],
  );
  const steps = new Map(written.items[0]?.admission?.map(({ plugin, changed }) => [plugin, changed]));
  deepEqual(steps.get("ServiceAccount")?.includes("spec.volumes"), true);
  deepEqual(steps.get("Priority")?.includes("spec.priority"), true);
});

test("/debug/k8ts/causes believes the cause of a component, and not that of an ordinary user", async () => {
  await using server = await startGuardedServer();
  const role = { metadata: { name: "writer" }, rules: [{ apiGroups: [""], resources: ["configmaps"], verbs: ["create"] }] };
  const api = "/apis/rbac.authorization.k8s.io/v1";
  await server.call("POST", `${api}/clusterroles`, role);
  const subjects = ["jane", "system:node:n", "system:serviceaccount:kube-system:c"].map((name) => ({ kind: "User", name }));
  await server.call("POST", `${api}/clusterrolebindings`, {
    metadata: { name: "writer" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "writer" },
    subjects: subjects.map((subject) => ({ ...subject, apiGroup: "rbac.authorization.k8s.io" })),
  });
  await server.clock.settle();
  for (const [index, { name }] of subjects.entries()) {
    const made = await server.as({ name, groups: [] }).call("POST", MAPS, { metadata: { name: `m${index}` } }, CAUSE_HEADERS);
    equal(made.code, 201);
  }

  const { items } = await causesOf(server, "resource=configmaps&namespace=default&verb=create");

  deepEqual(
    items.filter(({ name }) => /^m\d$/.test(name ?? "")).map(({ user, cause }) => [user, cause?.controller]),
    [
      ["jane", undefined],
      ["system:node:n", "deployment-controller"],
      ["system:serviceaccount:kube-system:c", "deployment-controller"],
    ],
  );
});

test("/debug/k8ts/causes is paged by limit and continue, and rejects other values", async () => {
  await using server = await startServer();
  for (const name of ["a", "b", "c"]) await server.call("POST", MAPS, { metadata: { name } });

  const first = await causesOf(server, "resource=configmaps&namespace=default&limit=2");
  const second = await causesOf(server, `resource=configmaps&namespace=default&limit=2&continue=${first.metadata.continue}`);

  deepEqual(
    [first, second].map(({ items }) => items.map(({ name }) => name)),
    [["a", "b"], ["c"]],
  );
  equal(second.metadata.continue, undefined);
  equal((await server.call("GET", `${CAUSES_PATH}?limit=-1`)).code, 400);
});

test("a watch of /debug/k8ts/causes delivers what is recorded after its start, by filter, and earlier records with after", async () => {
  await using server = await startServer();
  await server.call("POST", MAPS, { metadata: { name: "a" } });
  const { metadata } = await causesOf(server, "limit=1");
  const live = await server.watch(`${CAUSES_PATH}?watch=true&resource=configmaps`);
  await server.call("POST", MAPS, { metadata: { name: "b" } });
  await server.call("POST", "/api/v1/namespaces", { metadata: { name: "other" } });
  const resumed = await server.watch(`${CAUSES_PATH}?watch=true&namespace=default&after=${metadata.newest}`);

  deepEqual(
    [live, resumed].map(({ events }) => events.map(({ type, object }) => `${type} ${object.name}`)),
    [["ADDED b"], ["ADDED b"]],
  );
  live.close();
  resumed.close();
});

test("a watch of /debug/k8ts/causes ends with an error if the client does not read", async () => {
  await using server = await startServer();
  const watch = await server.watch(`${CAUSES_PATH}?watch=true`);
  watch.hold(2 * 1024 * 1024);
  await server.call("POST", MAPS, { metadata: { name: "a" } });

  deepEqual([watch.events.map(({ type }) => type), watch.isEnded], [["ADDED", "ERROR"], true]);
});
