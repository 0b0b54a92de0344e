import assert from "node:assert/strict";
import test from "node:test";
import { DEFAULT_FEATURE_GATES } from "../../../api/feature-gates.ts";
import type { PodCertificateRequest } from "../../../api/generated/certificates.k8s.io/v1beta1.ts";
import { aStubRequest, issuedStatus } from "../../../api/testing/certificates.ts";
import { ask, make } from "../../testing/node-cluster.ts";
import { startGuardedServer } from "../../testing/server.ts";

const REQUESTS = "/apis/certificates.k8s.io/v1beta1/namespaces/default/podcertificaterequests";
const RBAC = "/apis/rbac.authorization.k8s.io/v1";
const SPEC = {
  ...{ podName: "p", podUID: "1", serviceAccountName: "default", serviceAccountUID: "2", nodeName: "n", nodeUID: "3" },
  stubPKCS10Request: aStubRequest(5n),
};
const SIGNER = { name: "signer", groups: [] };

test("a request is answered by users that may sign for its signer, with a certificate that is valid from now on", async () => {
  await using server = await startGuardedServer({ config: { featureGates: { ...DEFAULT_FEATURE_GATES, PodCertificateRequest: true } } });
  await make(server, `${RBAC}/clusterroles`, {
    metadata: { name: "signer" },
    rules: [
      { apiGroups: ["certificates.k8s.io"], resources: ["podcertificaterequests/status"], verbs: ["*"] },
      { apiGroups: ["certificates.k8s.io"], resources: ["signers"], resourceNames: ["example.com/s"], verbs: ["sign"] },
    ],
  });
  await make(server, `${RBAC}/clusterrolebindings`, {
    metadata: { name: "signer" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "signer" },
    subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "signer" }],
  });
  await server.clock.settle();
  const answer = async (signerName: string, nowMs: number): Promise<string> => {
    const request: PodCertificateRequest = await make(server, REQUESTS, {
      metadata: { generateName: "r-" },
      spec: { ...SPEC, signerName },
    });
    const status = issuedStatus(request, 9n, { nowMs });
    const path = `${REQUESTS}/${request.metadata.name}/status`;
    const said = await ask(server, SIGNER, ["PATCH", path, { status: { ...status } }]);
    return said.replace(/^.* invalid: /, "");
  };
  const nowMs = server.clock.now();

  assert.equal(await answer("example.com/s", nowMs), "200");
  assert.equal(
    await answer("example.com/t", nowMs),
    'spec.signerName: Forbidden: User "signer" is not permitted to "sign" for signer "example.com/t"',
  );
  assert.match(
    await answer("example.com/s", nowMs - 301_000),
    /^status\.notBefore: Invalid value: .* must be set to within 5 minutes of kube-apiserver's current time$/,
  );
});
