import assert from "node:assert/strict";
import test from "node:test";
import { encodeBase64 } from "../../../api/machinery/codec/base64.ts";
import { bytesOf, REQUESTS } from "../../../api/machinery/x509/testing/samples.ts";
import { ask, make } from "../../testing/node-cluster.ts";
import { startGuardedServer } from "../../testing/server.ts";

const PATH = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
const RBAC = "/apis/rbac.authorization.k8s.io/v1";
const apiGroup = "rbac.authorization.k8s.io";

const GRANTS: readonly [names: readonly string[], verbs: readonly string[], isAllowed: boolean][] = [
  [["example.com/a"], ["approve"], true],
  [["example.com/*"], ["approve"], true],
  [["other.com/x", "example.com/a"], ["approve"], true],
  [["*"], ["*"], false],
  [["example.com/b"], ["approve"], false],
  [["other.com/*"], ["approve"], false],
  [["example.com/a"], ["sign"], false],
  [[], [], false],
];

for (const [resourceNames, verbs, isAllowed] of GRANTS) {
  test(`CertificateApproval: the permission to [${verbs.join()}] signers [${resourceNames.join()}] is ${isAllowed ? "" : "not "}sufficient to approve for example.com/a`, async () => {
    await using server = await startGuardedServer();
    const request = encodeBase64(bytesOf(REQUESTS.P256));
    await make(server, PATH, { metadata: { name: "r" }, spec: { signerName: "example.com/a", request, usages: ["client auth"] } });
    const group = { apiGroups: ["certificates.k8s.io"] };
    const rules = [
      { ...group, resources: ["certificatesigningrequests", "certificatesigningrequests/approval"], verbs: ["update", "patch"] },
      ...(verbs.length === 0 ? [] : [{ ...group, resources: ["signers"], resourceNames, verbs }]),
    ];
    await make(server, `${RBAC}/clusterroles`, { metadata: { name: "r" }, rules });
    const roleRef = { apiGroup, kind: "ClusterRole", name: "r" };
    const subjects = [{ apiGroup, kind: "User", name: "approver" }];
    await make(server, `${RBAC}/clusterrolebindings`, { metadata: { name: "r" }, roleRef, subjects });
    const status = { conditions: [{ type: "Approved", status: "True", reason: "x" }] };
    const approve = (patch: object) => ask(server, { name: "approver", groups: [] }, ["PATCH", `${PATH}/r/approval`, { ...patch }]);

    const why = 'user not permitted to approve requests with signerName "example.com/a"';
    const refusal = `403 certificatesigningrequests.certificates.k8s.io "r" is forbidden: ${why}`;
    assert.equal(await approve({ status }), isAllowed ? "200" : refusal);
    // Applies even if nothing changes: the check is per request path.
    assert.equal(await approve({}), isAllowed ? "200" : refusal);
    assert.equal(await ask(server, { name: "approver", groups: [] }, ["PATCH", `${PATH}/r`, { metadata: { labels: { a: "b" } } }]), "200");
  });
}
