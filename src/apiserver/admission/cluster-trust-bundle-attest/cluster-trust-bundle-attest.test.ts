import assert from "node:assert/strict";
import test from "node:test";
import { DEFAULT_FEATURE_GATES } from "../../../api/feature-gates.ts";
import { anAuthority } from "../../../api/testing/certificates.ts";
import { ask, make } from "../../testing/node-cluster.ts";
import { startGuardedServer } from "../../testing/server.ts";

const BUNDLES = "/apis/certificates.k8s.io/v1beta1/clustertrustbundles";
const RBAC = "/apis/rbac.authorization.k8s.io/v1";
const JANE = { name: "jane", groups: [] };

test("bundles of a signer are written by users that may attest for it, others by everyone that may write bundles", async () => {
  await using server = await startGuardedServer({ config: { featureGates: { ...DEFAULT_FEATURE_GATES, ClusterTrustBundle: true } } });
  const bundles = { apiGroups: ["certificates.k8s.io"], resources: ["clustertrustbundles"], verbs: ["*"] };
  const attest = { apiGroups: ["certificates.k8s.io"], resources: ["signers"], resourceNames: ["example.com/*"], verbs: ["attest"] };
  await make(server, `${RBAC}/clusterroles`, { metadata: { name: "writer" }, rules: [bundles, attest] });
  await make(server, `${RBAC}/clusterrolebindings`, {
    metadata: { name: "writer" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "writer" },
    subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "jane" }],
  });
  await server.clock.settle();
  const trustBundle = anAuthority(1n);
  const write = (name: string, signerName: string) =>
    ask(server, JANE, ["POST", BUNDLES, { metadata: { name }, spec: { trustBundle, ...(signerName === "" ? {} : { signerName }) } }]);

  assert.equal(await write("plain", ""), "201");
  assert.equal(await write("example.com:s:v1", "example.com/s"), "201");
  assert.equal(
    await write("other.com:s:v1", "other.com/s"),
    '403 clustertrustbundles.certificates.k8s.io "other.com:s:v1" is forbidden: user not permitted to attest for signerName "other.com/s"',
  );

  await make(server, BUNDLES, { metadata: { name: "other.com:s:v1" }, spec: { trustBundle, signerName: "other.com/s" } });
  const change = (patch: object) => ask(server, JANE, ["PATCH", `${BUNDLES}/other.com:s:v1`, { ...patch }]);
  const ownerReferences = [{ apiVersion: "v1", kind: "Node", name: "n", uid: "1" }];
  assert.equal(await change({ metadata: { ownerReferences } }), "200");
  assert.match(await change({ metadata: { labels: { a: "b" } } }), /^403 .*user not permitted to attest/);
});
