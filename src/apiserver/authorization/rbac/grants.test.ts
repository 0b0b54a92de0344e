import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../../../api/machinery/object.ts";
import { startGuardedServer, type StartedServer } from "../../testing/server.ts";

const GROUP = "/apis/rbac.authorization.k8s.io/v1";
const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const JANE = { name: "jane", groups: ["dev"] };
const ROBOT = { name: "system:serviceaccount:default:robot", groups: ["system:serviceaccounts"] };

function bindingTo(role: string, ...subjects: readonly JsonObject[]): JsonObject {
  return { metadata: { name: role }, roleRef: { kind: "ClusterRole", name: role }, subjects };
}

async function make(server: StartedServer, plural: string, object: JsonObject): Promise<void> {
  const { code, text } = await server.call("POST", `${GROUP}/${plural}`, object);
  assert.equal(code, 201, text);
}

test("an RBAC grant and its revocation take effect as soon as they are written", async () => {
  await using server = await startGuardedServer();
  const { call } = server.as(JANE);
  const code = async (): Promise<number> => (await call("GET", CONFIG_MAPS)).code;
  const rules = [{ verbs: ["list"], apiGroups: [""], resources: ["configmaps"] }];
  const steps: readonly [method: string, path: string, body: JsonObject | undefined, code: number][] = [
    ["POST", "clusterroles", { metadata: { name: "reader" }, rules }, 403],
    ["POST", "clusterrolebindings", bindingTo("reader", { kind: "Group", name: "dev" }), 200],
    ["PUT", "clusterrolebindings/reader", bindingTo("reader", { kind: "Group", name: "ops" }), 403],
    ["PUT", "clusterrolebindings/reader", bindingTo("reader", { kind: "User", name: "jane" }), 200],
    ["PUT", "clusterroles/reader", { metadata: { name: "reader" }, rules: [] }, 403],
    ["PUT", "clusterroles/reader", { metadata: { name: "reader" }, rules }, 200],
    ["DELETE", "clusterroles/reader", undefined, 403],
    ["POST", "clusterroles", { metadata: { name: "reader" }, rules }, 200],
    ["DELETE", "clusterrolebindings/reader", undefined, 403],
    ["POST", "namespaces/kube-system/rolebindings", bindingTo("reader", { kind: "User", name: "jane" }), 403],
    ["POST", "namespaces/default/rolebindings", bindingTo("reader", { kind: "User", name: "jane" }), 200],
    ["DELETE", "namespaces/default/rolebindings/reader", undefined, 403],
  ];

  for (const [method, path, body, expected] of steps) {
    const answer = await server.call(method, `${GROUP}/${path}`, body);
    assert.ok(answer.code < 300, answer.text);
    assert.equal(await code(), expected, `after ${method} ${path}`);
  }
});

test("an RBAC rejection names the operation, the object and the reason", async () => {
  await using server = await startGuardedServer();
  await make(server, "clusterrolebindings", bindingTo("lost", { kind: "ServiceAccount", name: "robot", namespace: "default" }));

  const { code, body } = await server.as(ROBOT).call("GET", `${CONFIG_MAPS}/a`);

  assert.equal(code, 403);
  assert.equal(
    body.message,
    'configmaps "a" is forbidden: User "system:serviceaccount:default:robot" cannot get resource "configmaps" in API group "" in the namespace "default": RBAC: clusterrole.rbac.authorization.k8s.io "lost" not found',
  );
  assert.deepEqual(body.details, { name: "a", kind: "configmaps" });
});

test("permission for one object also allows to list and watch it by name, but not deletecollection", async () => {
  await using server = await startGuardedServer();
  const verbs = ["get", "list", "watch", "deletecollection"];
  await make(server, "clusterroles", {
    metadata: { name: "one" },
    rules: [{ verbs, apiGroups: [""], resources: ["configmaps"], resourceNames: ["a"] }],
  });
  await make(server, "clusterrolebindings", bindingTo("one", { kind: "User", name: "jane" }));
  const { call, watch } = server.as(JANE);
  const rows: readonly [method: string, selector: string, code: number][] = [
    ["GET", "metadata.name=a", 200],
    ["GET", "metadata.name==a,metadata.namespace=default", 200],
    ["GET", "metadata.name=b", 403],
    ["GET", "metadata.name!=a", 403],
    ["GET", "metadata.namespace=default", 403],
    ["DELETE", "metadata.name=a", 403],
  ];

  for (const [method, selector, code] of rows) {
    assert.equal((await call(method, `${CONFIG_MAPS}?fieldSelector=${encodeURIComponent(selector)}`)).code, code, `${method} ${selector}`);
  }
  assert.equal((await watch(`${CONFIG_MAPS}?watch=true&fieldSelector=metadata.name%3Da`)).code, 200);
  assert.equal((await call("GET", CONFIG_MAPS)).code, 403);
});
