/**
 * Privilege escalation by CertificateSigningRequests: permission to create a request does not imply approval, permission to approve applies
 * per signer, and the server alone sets the requester of a request.
 */
import { deepEqual, equal, ok } from "node:assert/strict";
import { after, before, test } from "node:test";
import { encodeBase64 } from "../../src/api/machinery/codec/base64.ts";
import { bytesOf, REQUESTS } from "../../src/api/machinery/x509/testing/samples.ts";
import type { JsonObject } from "../../src/api/machinery/object.ts";
import type { User } from "../../src/apiserver/framework/request.ts";
import type { StartedServer } from "../../src/apiserver/testing/server.ts";
import { allow, attempt, grant, make, mustBeRefused, startEscapeServer } from "./cluster.ts";

const PATH = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
const CLIENTS = "kubernetes.io/kube-apiserver-client";
const REQUEST = encodeBase64(bytesOf(REQUESTS.P256));
const CONDITION = { type: "Approved", status: "True", reason: "r", message: "m" };
const CSR = "certificatesigningrequests";

/** May write requests and all their subresources, with permission for its own signer only. */
const ASKER: User = { name: "asker", groups: ["team"], extra: { a: ["b"] } };

let server: StartedServer;

function request(name: string, spec: JsonObject = {}, more: JsonObject = {}): JsonObject {
  return { metadata: { name }, spec: { signerName: CLIENTS, request: REQUEST, usages: ["client auth"], ...spec }, ...more };
}

before(async () => {
  server = await startEscapeServer();
  await grant(server, ASKER, "", [
    allow("create,get,update,patch", `${CSR}.certificates.k8s.io`),
    allow("update,patch", `${CSR}/approval.certificates.k8s.io`),
    allow("update,patch", `${CSR}/status.certificates.k8s.io`),
    allow("approve,sign", "signers.certificates.k8s.io", "example.com/mine"),
  ]);
  await make(server, PATH, request("theirs"));
});
after(() => server[Symbol.asyncDispose]());

test("the server sets the requester of a CertificateSigningRequest, whatever the request contains", async () => {
  const forged = { username: "system:admin", uid: "1", groups: ["system:masters"], extra: { a: ["c"] } };
  const { body } = await attempt(server, ASKER, ["POST", PATH, request("mine", forged)]);
  const { username, uid, groups, extra } = body.spec;
  deepEqual(
    { username, uid, groups, extra },
    { username: "asker", uid: undefined, groups: ["team", "system:authenticated"], extra: { a: ["b"] } },
  );
});

test("a CertificateSigningRequest cannot be created with an approval or a certificate", async () => {
  const { body } = await attempt(server, ASKER, [
    "POST",
    PATH,
    request("ready", {}, { status: { conditions: [CONDITION], certificate: "AAAA" } }),
  ]);
  ok(body.status.conditions === undefined && body.status.certificate === undefined, JSON.stringify(body));
});

for (const name of ["mine", "theirs"]) {
  test(`approving ${name === "mine" ? "one's own" : "another's"} request requires permission for its signer`, async () => {
    const sends = ["PATCH", `${PATH}/${name}/approval`, { status: { conditions: [CONDITION] } }] as const;
    await mustBeRefused(server, ASKER, { sends, gets: "403 user not permitted to approve requests with signerName" });
  });
  test(`writing the certificate of ${name === "mine" ? "one's own" : "another's"} request requires permission for its signer`, async () => {
    const sends = ["PATCH", `${PATH}/${name}/status`, { status: { certificate: "AAAA" } }] as const;
    const { code } = await attempt(server, ASKER, sends);
    ok(code === 403 || code === 422, String(code));
  });
}

test("a request cannot be approved through its status, nor by an update of the object", async () => {
  await attempt(server, ASKER, ["PATCH", `${PATH}/mine/status`, { status: { conditions: [CONDITION] } }]);
  await attempt(server, ASKER, ["PATCH", `${PATH}/mine`, { status: { conditions: [CONDITION], certificate: "AAAA" } }]);
  const { body } = await server.call("GET", `${PATH}/mine`);
  ok(!JSON.stringify(body.status).includes("Approved"), JSON.stringify(body.status));
});

for (const [it, spec] of Object.entries({
  "the signer of a request": { signerName: "example.com/mine" },
  "the user of a request": { username: "system:admin" },
  "the groups of a request": { groups: ["system:masters"] },
  "the PKCS #10 data of a request": { request: encodeBase64(bytesOf(REQUESTS["RSA with SHA-256"])) },
  "the usages of a request": { usages: ["server auth"] },
})) {
  test(`${it} is immutable: in updates of the object, its approval and its status`, async () => {
    const before = (await server.call("GET", `${PATH}/mine`)).body.spec;
    for (const subresource of ["", "/approval", "/status"]) await attempt(server, ASKER, ["PATCH", `${PATH}/mine${subresource}`, { spec }]);
    deepEqual((await server.call("GET", `${PATH}/mine`)).body.spec, before);
  });
}

test("permission for one signer does not cover a signer whose name has it as a prefix", async () => {
  await make(server, PATH, request("longer", { signerName: "example.com/mine2" }));
  const sends = ["PATCH", `${PATH}/longer/approval`, { status: { conditions: [CONDITION] } }] as const;
  await mustBeRefused(server, ASKER, { sends, gets: 403 });
});

test("requests of the permitted signer can be approved, so the signer is the reason of the rejections", async () => {
  await make(server, PATH, request("own", { signerName: "example.com/mine" }));
  equal((await attempt(server, ASKER, ["PATCH", `${PATH}/own/approval`, { status: { conditions: [CONDITION] } }])).code, 200);
});
