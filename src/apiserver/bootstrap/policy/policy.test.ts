import assert from "node:assert/strict";
import { test } from "node:test";
import { memoryStore } from "../../../testing/fixtures/memory-store.ts";
import { virtualClock } from "../../../testing/virtual-clock.ts";
import { startGuardedServer, type StartedServer } from "../../testing/server.ts";
import { clusterRoleBindings, clusterRoles, roleBindings, roles } from "./all.ts";

const RBAC = "/apis/rbac.authorization.k8s.io/v1";
const MERGE = { "content-type": "application/merge-patch+json" };

test("bootstrap roles and bindings have unique names", () => {
  for (const list of [clusterRoles, clusterRoleBindings, roles, roleBindings]) {
    const names = list.map(({ metadata: { namespace = "", name } }) => `${namespace}/${name}`);
    assert.equal(new Set(names).size, names.length);
  }
});

/** Without those of joining nodes, which another step creates (cluster-info.ts, node-joining.ts). */
async function names(server: StartedServer, plural: string): Promise<readonly string[]> {
  const { items } = (await server.call("GET", `${RBAC}/${plural}`)).body as { items: readonly { metadata: { name: string } }[] };
  return items.map(({ metadata }) => metadata.name).filter((name) => !/^(kubeadm|k8ts):/.test(name));
}

test("a new cluster has all bootstrap roles and bindings", async () => {
  await using server = await startGuardedServer();
  const sorted = (list: readonly { readonly metadata: { readonly name: string } }[]) =>
    list.map(({ metadata }) => metadata.name).toSorted();

  assert.deepEqual(await names(server, "clusterroles"), sorted(clusterRoles));
  assert.deepEqual(await names(server, "clusterrolebindings"), sorted(clusterRoleBindings));
  assert.equal((await names(server, "roles")).length, roles.length);
  assert.equal((await names(server, "rolebindings")).length, roleBindings.length);
});

test("a deleted bootstrap role and removed rules are restored at the next start only", async () => {
  const clock = virtualClock();
  const store = memoryStore(clock);
  const reader = `${RBAC}/namespaces/kube-system/roles/extension-apiserver-authentication-reader`;
  {
    const server = await startGuardedServer({ store, clock });
    assert.equal((await server.call("DELETE", `${RBAC}/clusterroles/system:kube-dns`)).code, 200);
    assert.equal((await server.call("PATCH", `${RBAC}/clusterrolebindings/system:discovery`, { subjects: [] }, MERGE)).code, 200);
    assert.equal((await server.call("PATCH", reader, { rules: [] }, MERGE)).code, 200);
    await clock.settle();
    assert.equal((await server.call("GET", `${RBAC}/clusterroles/system:kube-dns`)).code, 404);
    await server.server.close();
  }

  await using server = await startGuardedServer({ store, clock });

  assert.equal((await server.call("GET", `${RBAC}/clusterroles/system:kube-dns`)).code, 200);
  assert.equal((await server.call("GET", `${RBAC}/clusterrolebindings/system:discovery`)).body.subjects[0].name, "system:authenticated");
  assert.equal((await server.call("GET", reader)).body.rules.length, 3, "get, list and watch, each for itself");
});

test("a bootstrap binding with a changed roleRef is recreated at the next start", async () => {
  const clock = virtualClock();
  const store = memoryStore(clock);
  const path = `${RBAC}/clusterrolebindings/system:basic-user`;
  const first = await startGuardedServer({ store, clock });
  const { metadata, ...binding } = (await first.call("GET", path)).body;
  await first.call("DELETE", path);
  const other = { ...binding, metadata: { name: metadata.name }, roleRef: { ...binding.roleRef, name: "view" } };
  assert.equal((await first.call("POST", `${RBAC}/clusterrolebindings`, other)).code, 201);
  await first.server.close();

  await using second = await startGuardedServer({ store, clock });

  assert.equal((await second.call("GET", path)).body.roleRef.name, "system:basic-user");
});

test("a server with an in-flight limit of one can create the bootstrap roles", async () => {
  await using server = await startGuardedServer({ config: { maxRequestsInFlight: 1, maxMutatingRequestsInFlight: 1 } });

  assert.equal((await names(server, "clusterroles")).length, clusterRoles.length);
});
