import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { DEFAULT_NODE_TOKEN_GROUP } from "../../api/node-joining.ts";
import { startGuardedServer } from "../../apiserver/testing/server.ts";
import { driven } from "../../testing/driven.ts";
import { createJoiningPermissions } from "../../client/create-joining-permissions.ts";
import { createClient } from "../../client/rest-client.ts";

const JOINING = { user: "system:bootstrap:abcdef", groups: ["system:bootstrappers", DEFAULT_NODE_TOKEN_GROUP] };
const OTHER_TOKEN = { user: "system:bootstrap:abcdef", groups: ["system:bootstrappers"] };
const NODE = { user: "system:node:a", groups: ["system:nodes"] };

const CSR = { group: "certificates.k8s.io", resource: "certificatesigningrequests" };
const NETWORK = { resource: "configmaps", namespace: "kube-system", name: "cluster-network" };

const ROWS: readonly (readonly [who: object, verb: string, what: object, isAllowed: boolean])[] = [
  [JOINING, "create", CSR, true],
  [JOINING, "create", { ...CSR, subresource: "nodeclient" }, true],
  [JOINING, "create", { ...CSR, subresource: "selfnodeclient" }, false],
  [JOINING, "get", { resource: "nodes", name: "a" }, true],
  [JOINING, "list", { resource: "nodes" }, false],
  [JOINING, "list", { resource: "pods" }, false],
  [OTHER_TOKEN, "create", CSR, false],
  [OTHER_TOKEN, "create", { ...CSR, subresource: "nodeclient" }, false],
  [NODE, "create", { ...CSR, subresource: "selfnodeclient" }, true],
  [NODE, "create", { ...CSR, subresource: "nodeclient" }, false],
  [NODE, "watch", { resource: "services" }, true],
  [NODE, "watch", { group: "discovery.k8s.io", resource: "endpointslices" }, true],
  [NODE, "watch", { group: "networking.k8s.io", resource: "networkpolicies" }, true],
  [NODE, "watch", { resource: "pods" }, true],
  [NODE, "watch", { resource: "namespaces" }, true],
  [NODE, "watch", { resource: "nodes" }, true],
  [NODE, "get", NETWORK, true],
  [NODE, "list", { resource: "secrets" }, false],
  [NODE, "get", { ...NETWORK, name: "other" }, false],
  [NODE, "update", { resource: "services", namespace: "default", name: "web" }, false],
];

test("joining machines may request a certificate, and nodes may read what their network components need", async () => {
  await using server = await startGuardedServer();
  await driven(server.clock, createJoiningPermissions(createClient(server.transport())));
  // Existing ones are kept.
  await driven(server.clock, createJoiningPermissions(createClient(server.transport())));
  const seen = await Promise.all(
    ROWS.map(async ([who, verb, what]) => {
      const spec = { ...who, resourceAttributes: { verb, ...what } };
      const review = { apiVersion: "authorization.k8s.io/v1", kind: "SubjectAccessReview", spec };
      return (await server.call("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", review)).body.status.allowed === true;
    }),
  );
  deepEqual(
    ROWS.filter(([, , , isAllowed], index) => seen[index] !== isAllowed),
    [],
  );
});
