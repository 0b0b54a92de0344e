import assert from "node:assert/strict";
import { test } from "node:test";
import type { Identity } from "../framework/identity.ts";
import { asUser, startGuardedServer } from "../testing/server.ts";

const INFO = "/api/v1/namespaces/kube-public/configmaps/cluster-info";
const IDENTITY: Identity = { anonymous: true, bootstrapTokens: true, openIdIssuers: [], serverAuthority: "PEM" };
const ADMINISTRATOR = { name: "kubernetes-admin", groups: ["system:masters"] };
const MERGE = { "content-type": "application/merge-patch+json" };

test("cluster-info contains the server's address and CA certificate", async () => {
  await using server = await startGuardedServer({ identity: IDENTITY, authenticator: asUser(ADMINISTRATOR) });

  await server.server.advertise({ address: "2001:db8::1", port: 6443 });

  assert.equal(
    (await server.call("GET", INFO)).body.data.kubeconfig,
    [
      "apiVersion: v1",
      "clusters:",
      "- cluster:",
      "    certificate-authority-data: UEVN",
      "    server: https://[2001:db8::1]:6443",
      '  name: ""',
      "contexts: null",
      'current-context: ""',
      "kind: Config",
      "users: null",
      "",
    ].join("\n"),
  );
});

test("cluster-info, and nothing beside it, is readable by everyone including anonymous users", async () => {
  await using server = await startGuardedServer({ identity: IDENTITY, authenticator: asUser(ADMINISTRATOR) });
  await server.server.advertise({ address: "192.0.2.1", port: 6443 });
  const known = server.as({ name: "jane", groups: [] });

  assert.equal((await known.call("GET", INFO)).code, 200);
  assert.equal((await known.call("GET", "/api/v1/namespaces/kube-public/configmaps")).code, 403);
  assert.equal((await known.call("GET", "/api/v1/namespaces/kube-public/configmaps/other")).code, 403);
  const { subjects } = (
    await server.call("GET", "/apis/rbac.authorization.k8s.io/v1/namespaces/kube-public/rolebindings/kubeadm:bootstrap-signer-clusterinfo")
  ).body;
  assert.deepEqual(
    subjects.map(({ name }: { name: string }) => name),
    ["system:unauthenticated", "system:authenticated"],
  );
});

test("cluster-info follows the server's address, keeps signatures of others, and is recreated", async () => {
  await using server = await startGuardedServer({ identity: IDENTITY, authenticator: asUser(ADMINISTRATOR) });
  await server.server.advertise({ address: "192.0.2.1", port: 6443 });
  await server.call("PATCH", INFO, { data: { "jws-kubeconfig-abcdef": "signed" } }, MERGE);

  await server.server.advertise({ address: "192.0.2.2", port: 6443 });

  const { data } = (await server.call("GET", INFO)).body;
  assert.match(data.kubeconfig, /https:\/\/192\.0\.2\.2:6443/);
  assert.equal(data["jws-kubeconfig-abcdef"], "signed");
  await server.call("DELETE", INFO);
  await server.clock.settle();
  assert.equal((await server.call("GET", INFO)).code, 200);
});

test("cluster-info is not created without a CA", async () => {
  await using server = await startGuardedServer();

  await server.server.advertise({ address: "192.0.2.1", port: 6443 });

  assert.equal((await server.call("GET", INFO)).code, 404);
});
