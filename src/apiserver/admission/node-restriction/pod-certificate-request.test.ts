import assert from "node:assert/strict";
import test from "node:test";
import type { JsonObject } from "../../../api/machinery/object.ts";
import { aStubRequest } from "../../../api/testing/certificates.ts";
import { DEFAULT_FEATURE_GATES } from "../../../api/feature-gates.ts";
import type { StartedServer } from "../../testing/server.ts";
import { aPod, ask, make, nodeUser, startNodeCluster } from "../../testing/node-cluster.ts";

const NS = "/api/v1/namespaces/ns";
const REQUESTS = "/apis/certificates.k8s.io/v1beta1/namespaces/ns/podcertificaterequests";
const N1 = nodeUser("n1");

/** Pods `mine` on n1 and `theirs` on n2, both of the service account `sa`; and a valid spec of `mine`. */
async function withPods(): Promise<{ readonly server: StartedServer; readonly spec: JsonObject }> {
  const featureGates = { ...DEFAULT_FEATURE_GATES, PodCertificateRequest: true };
  const server = await startNodeCluster(["Node", "RBAC"], { featureGates });
  const account = await make(server, `${NS}/serviceaccounts`, { metadata: { name: "sa" } });
  await make(server, `${NS}/serviceaccounts`, { metadata: { name: "other" } });
  const mine = await make(server, `${NS}/pods`, aPod("mine", { nodeName: "n1", serviceAccountName: "sa" }));
  await make(server, `${NS}/pods`, aPod("theirs", { nodeName: "n2", serviceAccountName: "sa" }));
  const mirror = { annotations: { "kubernetes.io/config.mirror": "x" } };
  await make(server, `${NS}/pods`, aPod("mirror", { nodeName: "n1" }, mirror));
  const node = await server.call("GET", "/api/v1/nodes/n1");
  const spec = {
    ...{ signerName: "example.com/s", podName: "mine", podUID: mine.metadata.uid },
    ...{ serviceAccountName: "sa", serviceAccountUID: account.metadata.uid, nodeName: "n1", nodeUID: node.body.metadata.uid },
    stubPKCS10Request: aStubRequest(5n),
  };
  return { server, spec };
}

async function uidOf(server: StartedServer, pod: string): Promise<string> {
  return (await server.call("GET", `${NS}/pods/${pod}`)).body.metadata.uid;
}

test("a node requests certificates only for its own Pods, with their true identities", async () => {
  const { server, spec } = await withPods();
  await using _server = server;
  const theirs = { podName: "theirs", podUID: await uidOf(server, "theirs") };
  const mirror = { podName: "mirror", podUID: await uidOf(server, "mirror") };
  const why = async (change: JsonObject): Promise<string> => {
    const answer = await ask(server, N1, ["POST", REQUESTS, { metadata: { generateName: "req-" }, spec: { ...spec, ...change } }]);
    return answer
      .replace(/^403 podcertificaterequests\.certificates\.k8s\.io "req-\w*" is forbidden: /, "")
      .replaceAll(/[0-9a-f-]{36}/g, "UID");
  };

  assert.equal(await why({}), "201");
  assert.equal(await why({ nodeName: "n2" }), 'PodCertificateRequest.Spec.NodeName="n2", which is not the requesting node "n1"');
  assert.equal(
    await why({ nodeUID: "x" }),
    'PodCertificateRequest for pod "ns/mine" names node UID "x", inconsistent with the running node ("UID")',
  );
  assert.equal(await why({ podName: "none" }), '404 pod "none" not found');
  assert.equal(
    await why({ podUID: "x" }),
    'PodCertificateRequest for pod "ns/mine" contains pod UID ("x") which differs from running pod "UID"',
  );
  assert.equal(await why(theirs), 'pod "ns/theirs" is not running on node "n1" named in the PodCertificateRequest');
  assert.equal(await why(mirror), 'pod "ns/mirror" is a mirror pod');
  assert.equal(
    await why({ serviceAccountName: "other" }),
    'PodCertificateRequest for pod "ns/mine" contains serviceAccountName ("other") that differs from running pod ("sa")',
  );
  assert.equal(
    await why({ serviceAccountUID: "x" }),
    'PodCertificateRequest for pod "ns/mine" names service account UID "x", which differs from the running service account ("UID")',
  );
});

test("a node reads the requests of its own Pods, and answers none", async () => {
  const { server, spec } = await withPods();
  await using _server = server;
  await make(server, REQUESTS, { metadata: { name: "r" }, spec });
  const [reason, all] = ["is forbidden: User", "/apis/certificates.k8s.io/v1beta1/podcertificaterequests"];

  assert.equal(await ask(server, N1, ["GET", `${all}?fieldSelector=spec.nodeName=n1`]), "200");
  for (const request of [
    ["GET", all],
    ["GET", `${all}?fieldSelector=spec.nodeName=n2`],
    ["GET", `${REQUESTS}/r`],
    ["DELETE", `${REQUESTS}/r`],
    ["PUT", `${REQUESTS}/r/status`, { metadata: { name: "r" }, spec }],
  ] as const)
    assert.ok((await ask(server, N1, request)).includes(reason), `${request[0]} ${request[1]}`);
});

test("a node reads all ClusterTrustBundles and writes none", async () => {
  await using server = await startNodeCluster(["Node", "RBAC"], { featureGates: { ...DEFAULT_FEATURE_GATES, ClusterTrustBundle: true } });
  const bundles = "/apis/certificates.k8s.io/v1beta1/clustertrustbundles";

  assert.equal(await ask(server, N1, ["GET", bundles]), "200");
  assert.match(await ask(server, N1, ["POST", bundles, { metadata: { name: "b" } }]), /^403 /);
});
