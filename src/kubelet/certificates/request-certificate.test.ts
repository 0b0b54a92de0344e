import { deepEqual, equal, match, ok } from "node:assert/strict";
import { test } from "node:test";
import { certificateSigningRequests } from "../../api/certificates.k8s.io/v1/certificate-signing-request.ts";
import { CLUSTER_SIGNER } from "../../api/certificates.k8s.io/v1/cluster-signers.ts";
import { nodeIdentity, type IdentityName } from "../../api/identities.ts";
import { DEFAULT_NODE_TOKEN_GROUP } from "../../api/node-joining.ts";
import { parsePemCertificates } from "../../api/machinery/x509/certificate.ts";
import { p256Key } from "../../api/machinery/x509/p256-signer.ts";
import { createJoiningPermissions } from "../../client/create-joining-permissions.ts";
import { createClient } from "../../client/rest-client.ts";
import { driven } from "../../testing/driven.ts";
import { startControlledServer, type ControlledServer } from "../../testing/servers/controlled-server.ts";
import { requestCertificate, type IssuedCertificate } from "./request-certificate.ts";

const APPROVED_AND_SIGNED = ["csrapproving", "csrsigning"];
const JOINING: IdentityName = { name: "system:bootstrap:abcdef", groups: ["system:bootstrappers", DEFAULT_NODE_TOKEN_GROUP] };
const { name: commonName, groups: organizations } = nodeIdentity("worker");

async function startJoinable(controllers: readonly string[]): Promise<ControlledServer> {
  const server = await startControlledServer(controllers);
  await driven(server.clock, createJoiningPermissions(createClient(server.transport())));
  return server;
}

/** The certificate, or the message of the error. */
function request({ server, clock }: ControlledServer, user: IdentityName): Promise<IssuedCertificate | string> {
  return requestCertificate({
    client: createClient(server.transport({ user, userAgent: "kubelet" })),
    signerName: CLUSTER_SIGNER.kubeletClient,
    purpose: "client auth",
    content: { subject: { commonName, organizations } },
    newKey: () => ({ pem: "the key", signer: p256Key(100n).signer }),
    timeoutMs: 60_000,
    clock,
  }).catch((error: Error) => error.message);
}

function messageOf(result: IssuedCertificate | string): string {
  return typeof result === "string" ? result : "it was issued";
}

for (const user of [JOINING, nodeIdentity("worker")]) {
  test(`the client certificate that ${user.name} requests is approved and signed automatically`, async () => {
    await using server = await startJoinable(APPROVED_AND_SIGNED);
    const asked = request(server, user);
    await server.clock.advance(1_000);
    const issued = await asked;
    ok(typeof issued === "object");
    const [certificate] = parsePemCertificates(issued.certificate);
    deepEqual([certificate?.subject.commonName, certificate?.subject.organizations], [commonName, organizations]);
    equal(issued.key, "the key");
  });
}

test("a node cannot request the certificate of another one", async () => {
  await using server = await startJoinable(APPROVED_AND_SIGNED);
  const asked = request(server, nodeIdentity("other"));
  await server.clock.advance(1_000);
  match(messageOf(await asked), /forbidden: can only create a node CSR with CN=system:node:other$/);
});

test("a request that is not approved in time is rejected with the command that approves it", async () => {
  await using server = await startJoinable(["csrsigning"]);
  const asked = request(server, JOINING);
  await server.clock.advance(70_000);
  match(
    messageOf(await asked),
    /CertificateSigningRequest (csr-\w+) was not issued within 60 s; approve it with "kubectl certificate approve \1"/,
  );
});

test("a denied request is rejected with the reason", async () => {
  await using server = await startJoinable(["csrsigning"]);
  const client = createClient(server.transport());
  const asked = request(server, JOINING);
  await server.clock.settle();
  const [found] = (await driven(server.clock, client.list(certificateSigningRequests))).items;
  ok(found !== undefined);
  const condition = { type: "Denied", status: "True", reason: "Unknown", message: "this machine is not ours" };
  const denied = { ...found, status: { conditions: [condition] } };
  await driven(server.clock, client.update(certificateSigningRequests, denied, { subresource: "approval" }));

  await server.clock.advance(10_000);

  match(messageOf(await asked), /CertificateSigningRequest csr-\w+ was denied: this machine is not ours/);
});

test("a request that is deleted before it is issued is rejected", async () => {
  await using server = await startJoinable(["csrsigning"]);
  const client = createClient(server.transport());
  const asked = request(server, JOINING);
  await server.clock.settle();
  const [found] = (await driven(server.clock, client.list(certificateSigningRequests))).items;
  await driven(server.clock, client.delete(certificateSigningRequests, { name: found?.metadata.name ?? "" }));

  await server.clock.advance(10_000);

  match(messageOf(await asked), /reading CertificateSigningRequest csr-\w+ failed: .*not found/);
});
