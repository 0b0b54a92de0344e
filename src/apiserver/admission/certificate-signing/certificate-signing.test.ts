import assert from "node:assert/strict";
import test from "node:test";
import { encodeBase64 } from "../../../api/machinery/codec/base64.ts";
import type { JsonObject } from "../../../api/machinery/object.ts";
import { bytesOf, REQUESTS } from "../../../api/machinery/x509/testing/samples.ts";
import { ask, make } from "../../testing/node-cluster.ts";
import { startGuardedServer } from "../../testing/server.ts";

const PATH = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
const RBAC = "/apis/rbac.authorization.k8s.io/v1";
const apiGroup = "rbac.authorization.k8s.io";
const FAILED = { status: { conditions: [{ type: "Failed", status: "True", reason: "x" }] } };

for (const [grant, isAllowed] of [
  ["example.com/a", true],
  ["example.com/*", true],
  ["example.com/b", false],
] as const) {
  test(`CertificateSigning: the permission to sign ${grant} does ${isAllowed ? "" : "not "}allow setting the outcome of a request for example.com/a`, async () => {
    await using server = await startGuardedServer();
    const request = encodeBase64(bytesOf(REQUESTS.P256));
    await make(server, PATH, { metadata: { name: "r" }, spec: { signerName: "example.com/a", request, usages: ["client auth"] } });
    const group = { apiGroups: ["certificates.k8s.io"] };
    const rules = [
      { ...group, resources: ["certificatesigningrequests/status"], verbs: ["patch"] },
      { ...group, resources: ["signers"], resourceNames: [grant], verbs: ["sign"] },
    ];
    await make(server, `${RBAC}/clusterroles`, { metadata: { name: "r" }, rules });
    const roleRef = { apiGroup, kind: "ClusterRole", name: "r" };
    const subjects = [{ apiGroup, kind: "User", name: "signer" }];
    await make(server, `${RBAC}/clusterrolebindings`, { metadata: { name: "r" }, roleRef, subjects });
    const sign = (patch: JsonObject) => ask(server, { name: "signer", groups: [] }, ["PATCH", `${PATH}/r/status`, patch]);

    const why = 'user not permitted to sign requests with signerName "example.com/a"';
    const refusal = `403 certificatesigningrequests.certificates.k8s.io "r" is forbidden: ${why}`;
    // Fields that only signers set are unchanged.
    assert.equal(await sign({ metadata: { labels: { a: "b" } } }), "200");
    assert.equal(await sign(FAILED), isAllowed ? "200" : refusal);
    assert.equal(await sign({ ...FAILED, metadata: { labels: { a: "c" } } }), isAllowed ? "200" : refusal);
  });
}
