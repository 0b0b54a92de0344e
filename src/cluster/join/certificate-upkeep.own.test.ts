import { deepEqual, equal, match, ok } from "node:assert/strict";
import { test } from "node:test";
import { certificateSigningRequests } from "../../api/certificates.k8s.io/v1/certificate-signing-request.ts";
import { CLUSTER_SIGNER } from "../../api/certificates.k8s.io/v1/cluster-signers.ts";
import { nodeIdentity } from "../../api/identities.ts";
import { selfIssuer, writeCertificate } from "../../api/machinery/x509/certificate-writer.ts";
import { p256Key } from "../../api/machinery/x509/p256-signer.ts";
import { pemText } from "../../api/machinery/x509/pem.ts";
import { silentLogger } from "../../base/logger.ts";
import { seededRandom } from "../../base/random.ts";
import { silentSteps } from "../../cli/framework/progress.ts";
import { createJoiningPermissions } from "../../client/create-joining-permissions.ts";
import { createClient } from "../../client/rest-client.ts";
import { makeTemporaryDirectory } from "../../host/files/private-files.ts";
import { firstCertificate, namesOf, type CertificateWithKey } from "../../pki/certificates.ts";
import { becomes } from "../../testing/becomes.ts";
import { driven } from "../../testing/driven.ts";
import { startControlledServer } from "../../testing/servers/controlled-server.ts";
import { homePaths } from "../home/home-paths.ts";
import { servingCertificate, startCertificateUpkeep } from "./certificate-upkeep.ts";
import { joinPaths, readPair, writeJoin } from "./join-files.ts";

const DAY_MS = 24 * 60 * 60_000;
const NODE_IP = "192.0.2.7";

test("a certificate near its end is rotated, and the serving certificate of the cluster is used once it is approved", async () => {
  await using server = await startControlledServer(["csrapproving", "csrsigning"]);
  const { clock } = server;
  await driven(clock, createJoiningPermissions(createClient(server.transport())));
  const identity = nodeIdentity("worker");
  const old = clientCertificate({ fromMs: clock.now() - 350 * DAY_MS, toMs: clock.now() + 15 * DAY_MS });
  await using directory = await makeTemporaryDirectory("k8ts-upkeep-");
  const home = { ...homePaths(directory.path), name: "test", context: "k8ts", runtimeDirectory: directory.path, commandArguments: "" };
  const join = { nodeName: "worker", server: "https://192.0.2.1:6443", authority: old.certificate };
  await writeJoin(home, join, old);
  const context = { home, steps: silentSteps, clock, log: silentLogger, signal: new AbortController().signal };
  const serving = { nodeName: "worker", nodeIps: [NODE_IP], isRequested: true };
  const first = await servingCertificate(serving, context);
  match(first.certificate, /BEGIN CERTIFICATE/);
  const used: CertificateWithKey[] = [];

  await using _upkeep = await driven(
    clock,
    startCertificateUpkeep(
      {
        ...serving,
        join: { ...join, certificate: old.certificate },
        client: createClient(server.server.transport({ user: identity, userAgent: "kubelet" })),
        random: seededRandom(1),
        useServing: (pair) => void used.push(pair),
      },
      context,
    ),
  );

  const subject = async () => {
    await clock.advance(1_000);
    const pair = await readPair(joinPaths(home).client);
    return { isNew: pair?.key !== old.key, name: firstCertificate(pair?.certificate)?.subject.commonName };
  };
  await becomes(subject, { isNew: true, name: identity.name });
  equal(used.length, 0);

  const administrator = createClient(server.transport());
  const { items } = await driven(clock, administrator.list(certificateSigningRequests));
  const request = items.find(({ spec }) => spec.signerName === CLUSTER_SIGNER.kubeletServing);
  ok(request !== undefined);
  const condition = { type: "Approved", status: "True", reason: "KubectlApprove", message: "known address" };
  const approved = { ...request, status: { conditions: [condition] } };
  await driven(clock, administrator.update(certificateSigningRequests, approved, { subresource: "approval" }));

  const names = async () => {
    await clock.advance(1_000);
    const certificate = firstCertificate(used[0]?.certificate);
    return certificate === undefined ? [] : namesOf(certificate).toSorted();
  };
  await becomes(names, [NODE_IP, "worker"]);
  // The next start has it at once.
  deepEqual(await servingCertificate(serving, context), await readPair(joinPaths(home).serving));
});

function clientCertificate(validity: { readonly fromMs: number; readonly toMs: number }): CertificateWithKey {
  const { name: commonName, groups: organizations } = nodeIdentity("worker");
  const { signer } = p256Key(3n);
  const subject = { commonName, organizations };
  const content = { subject, publicKey: signer.publicKey, validity, serialNumber: Uint8Array.of(1), keyUsages: [] };
  const certificate = pemText("CERTIFICATE", writeCertificate(content, selfIssuer(subject, signer)));
  return { certificate, key: "-----BEGIN PRIVATE KEY-----\nold\n-----END PRIVATE KEY-----\n" };
}
