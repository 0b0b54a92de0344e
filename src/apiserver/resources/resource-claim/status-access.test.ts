import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../../../api/machinery/object.ts";
import { startGuardedServer } from "../../testing/server.ts";

const CLAIMS = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims";
const RBAC = "/apis/rbac.authorization.k8s.io/v1";
const MERGE = { "content-type": "application/merge-patch+json" };
const NODE = "authentication.kubernetes.io/node-name";

const allocation = {
  devices: { results: ["a.example.com", "b.example.com"].map((driver) => ({ request: "r", driver, pool: "p", device: "d" })) },
  nodeSelector: { nodeSelectorTerms: [{ matchFields: [{ key: "metadata.name", operator: "In", values: ["here"] }] }] },
};
const device = (driver: string): JsonObject => ({ driver: `${driver}.example.com`, pool: "p", device: "d" });
const reservedFor = [{ resource: "pods", name: "a", uid: "b" }];

const USERS: Readonly<
  Record<string, { readonly verb: string; readonly resource: string; readonly names?: readonly string[] } | undefined>
> = {
  unprivileged: undefined,
  scheduler: { verb: "patch", resource: "resourceclaims/binding" },
  driver: { verb: "arbitrary-node:patch", resource: "resourceclaims/driver", names: ["a.example.com"] },
  "system:serviceaccount:default:here": { verb: "associated-node:patch", resource: "resourceclaims/driver" },
};

const ROWS: readonly [who: string, node: string, change: JsonObject, refused: readonly string[]][] = [
  ["unprivileged", "", {}, []],
  ["unprivileged", "", { reservedFor }, ["status.allocation"]],
  ["unprivileged", "", { devices: [device("a"), device("b")] }, ["status.devices", "status.devices"]],
  ["scheduler", "", { reservedFor }, []],
  ["scheduler", "", { devices: [device("a")] }, ["status.devices"]],
  ["driver", "", { devices: [device("a")] }, []],
  ["driver", "", { devices: [device("a"), device("b")] }, ["status.devices"]],
  ["system:serviceaccount:default:here", "here", { devices: [device("a"), device("b")] }, []],
  ["system:serviceaccount:default:here", "there", { devices: [device("a")] }, ["status.devices"]],
  ["system:serviceaccount:default:here", "", { devices: [device("a")] }, ["status.devices"]],
];

for (const [who, node, change, refused] of ROWS) {
  const from = node === "" ? "" : ` from the node "${node}"`;
  test(`${who}${from} writing ${JSON.stringify(change)} to a claim's status is ${refused.length === 0 ? "allowed" : `refused ${refused.join(", ")}`}`, async () => {
    await using server = await startGuardedServer();
    await server.call("POST", CLAIMS, {
      metadata: { name: "c" },
      spec: { devices: { requests: [{ name: "r", exactly: { deviceClassName: "x" } }] } },
    });
    assert.equal((await server.call("PATCH", `${CLAIMS}/c/status`, { status: { allocation } }, MERGE)).code, 200);
    const own = USERS[who];
    const resources = [{ verbs: ["patch"], apiGroups: ["resource.k8s.io"], resources: ["resourceclaims/status"] }];
    const more =
      own === undefined
        ? []
        : [{ verbs: [own.verb], apiGroups: ["resource.k8s.io"], resources: [own.resource], resourceNames: own.names ?? [] }];
    await server.call("POST", `${RBAC}/clusterroles`, { metadata: { name: "r" }, rules: [...resources, ...more] });
    const subjects = [{ kind: "User", name: who }];
    await server.call("POST", `${RBAC}/clusterrolebindings`, {
      metadata: { name: "r" },
      roleRef: { kind: "ClusterRole", name: "r" },
      subjects,
    });
    const user = { name: who, groups: [], ...(node === "" ? {} : { extra: { [NODE]: [node] } }) };

    const { code, body } = await server.as(user).call("PATCH", `${CLAIMS}/c/status`, { status: change }, MERGE);

    assert.equal(code, refused.length === 0 ? 200 : 422);
    assert.deepEqual(
      (body.details?.causes ?? []).map(({ field }: { field: string }) => field),
      refused,
    );
  });
}

test("a rejected claim status write names the missing permission", async () => {
  await using server = await startGuardedServer();
  await server.call("POST", CLAIMS, {
    metadata: { name: "c" },
    spec: { devices: { requests: [{ name: "r", exactly: { deviceClassName: "x" } }] } },
  });
  const rules = [{ verbs: ["patch"], apiGroups: ["resource.k8s.io"], resources: ["resourceclaims/status"] }];
  await server.call("POST", `${RBAC}/clusterroles`, { metadata: { name: "r" }, rules });
  const subjects = [{ kind: "User", name: "jane" }];
  await server.call("POST", `${RBAC}/clusterrolebindings`, {
    metadata: { name: "r" },
    roleRef: { kind: "ClusterRole", name: "r" },
    subjects,
  });

  const status = { allocation, devices: [device("a")] };
  const { body } = await server.as({ name: "jane", groups: [] }).call("PATCH", `${CLAIMS}/c/status`, { status }, MERGE);

  assert.deepEqual(
    body.details.causes.map(({ message }: { message: string }) => message),
    [
      'Forbidden: changing status.allocation or status.reservedFor requires resource="resourceclaims/binding", verb="patch" permission: resourceclaims.resource.k8s.io is forbidden: User "jane" cannot patch resource "resourceclaims/binding" in API group "resource.k8s.io" at the cluster scope',
      'Forbidden: changing status.devices requires resource="resourceclaims/driver", verb="[arbitrary-node:patch]" permission: resourceclaims.resource.k8s.io "a.example.com" is forbidden: User "jane" cannot arbitrary-node:patch resource "resourceclaims/driver" in API group "resource.k8s.io" in the namespace "default"',
    ],
  );
});
