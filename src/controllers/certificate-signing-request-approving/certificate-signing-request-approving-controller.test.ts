import assert from "node:assert/strict";
import { test } from "node:test";
import { certificateSigningRequests } from "../../api/certificates.k8s.io/v1/certificate-signing-request.ts";
import type { CertificateSigningRequest } from "../../api/generated/certificates.k8s.io/v1.ts";
import { certificateSigningRequest, type RequestedCertificate } from "../../testing/fixtures/certificate-requests.ts";
import { startControlledServer } from "../../testing/servers/controlled-server.ts";
import { everyStepMayBeTheLast } from "../../testing/every-step.ts";
import { given } from "../../testing/given.ts";
import { rounds } from "../../testing/rounds.ts";
import { certificateSigningRequestApprovingController, permissionsFor } from "./certificate-signing-request-approving-controller.ts";

const NODE: RequestedCertificate = { organizations: ["system:nodes"], commonName: "system:node:a" };
const USAGES = ["client auth", "digital signature"];
const SIGNER = "kubernetes.io/kube-apiserver-client-kubelet";

function ofKubelet(name: string, spec: { readonly signerName?: string; readonly usages?: readonly string[] } = {}): object {
  return certificateSigningRequest(name, NODE, { signerName: SIGNER, usages: USAGES, ...spec });
}

test("a request is a kubelet's by signer, subject and usages, and a self-renewal if it requests its own name", () => {
  const permissions = (object: object, username: string) => {
    const { spec, ...rest } = object as CertificateSigningRequest;
    return permissionsFor({ ...rest, spec: { ...spec, username } }).map(({ subresource }) => subresource);
  };
  const other = certificateSigningRequest("x", { commonName: "system:node:a" }, { signerName: SIGNER, usages: USAGES });

  assert.deepEqual(permissions(ofKubelet("x"), "system:bootstrap:abcdef"), ["nodeclient"]);
  assert.deepEqual(permissions(ofKubelet("x"), "system:node:a"), ["selfnodeclient", "nodeclient"]);
  assert.deepEqual(permissions(ofKubelet("x", { signerName: "kubernetes.io/kube-apiserver-client" }), "system:node:a"), []);
  assert.deepEqual(permissions(ofKubelet("x", { usages: ["client auth"] }), "system:node:a"), []);
  assert.deepEqual(permissions(other, "system:node:a"), []);
});

test("a kubelet's request is approved if the requestor is authorized", async () => {
  await using cluster = await given(ofKubelet("node"));

  await cluster.reconcile(certificateSigningRequestApprovingController, "node");
  await cluster.reconcile(certificateSigningRequestApprovingController, "node");

  assert.deepEqual(cluster.actions, ["create subjectaccessreviews *", "update certificatesigningrequests/approval node"]);
  const { status } = await cluster.client.get(certificateSigningRequests, { name: "node" });
  assert.deepEqual(status?.conditions, [
    {
      type: "Approved",
      status: "True",
      reason: "AutoApproved",
      message: "Auto approving kubelet client certificate after SubjectAccessReview.",
      lastUpdateTime: "2026-01-01T00:00:00Z",
      lastTransitionTime: "2026-01-01T00:00:00Z",
    },
  ]);
});

test("other requests, and those already approved or denied, are ignored", async () => {
  await using cluster = await given(ofKubelet("other", { signerName: "example.com/own" }), ofKubelet("denied"));
  const denied = await cluster.client.get(certificateSigningRequests, { name: "denied" });
  const status = { conditions: [{ type: "Denied", status: "True", reason: "No" }] };
  await cluster.client.update(certificateSigningRequests, { ...denied, status }, { subresource: "approval" });

  for (const name of ["other", "denied", "gone"]) await cluster.reconcile(certificateSigningRequestApprovingController, name);

  assert.deepEqual(cluster.actions, []);
});

test("with a cluster's roles a node gets its first certificate and renews it once both are authorized, and not before", async () => {
  await using server = await startControlledServer(["certificatesigningrequest-approving-controller"]);
  const path = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
  const bind = (role: string, group: string) =>
    server.call("POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", {
      metadata: { name: `${role.replaceAll(":", "-")}-${group.replaceAll(":", "-")}` },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: role },
      subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "Group", name: group }],
    });
  const ask = async (name: string, user: string, groups: readonly string[]) => {
    const { code } = await server.as({ name: user, groups }).call("POST", path, JSON.stringify(ofKubelet(name)));
    assert.equal(code, 201);
    await server.clock.settle();
  };
  const messageOf = async (name: string) => (await server.call("GET", `${path}/${name}`)).body.status.conditions?.[0].message;
  await bind("system:node-bootstrapper", "system:bootstrappers");

  await ask("first", "system:bootstrap:abcdef", ["system:bootstrappers"]);
  assert.equal(await messageOf("first"), undefined);
  await bind("system:certificates.k8s.io:certificatesigningrequests:nodeclient", "system:bootstrappers");
  await bind("system:certificates.k8s.io:certificatesigningrequests:selfnodeclient", "system:nodes");
  await server.clock.advance(5_000);
  assert.equal(await messageOf("first"), "Auto approving kubelet client certificate after SubjectAccessReview.");

  await ask("second", "system:node:a", ["system:nodes"]);
  assert.equal(await messageOf("second"), "Auto approving self kubelet client certificate after SubjectAccessReview.");
});

test("a request is approved once, also after a crash at any step", async () => {
  const scenario = {
    objects: [ofKubelet("one"), ofKubelet("two"), ofKubelet("other", { signerName: "example.com/own" })],
    controllers: () => [certificateSigningRequestApprovingController],
    restMs: 20_000,
  };

  await everyStepMayBeTheLast(scenario, { deathsMax: rounds({ quick: 4, full: Infinity }), disturbedRuns: rounds({ quick: 1, full: 20 }) });
});
