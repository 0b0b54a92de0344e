import assert from "node:assert/strict";
import { test } from "node:test";
import { certificateRequest, type RequestedCertificate } from "../../../testing/fixtures/certificate-requests.ts";
import { parsePemRequest } from "../../machinery/x509/certificate-request.ts";
import { CLUSTER_SIGNER, signerProblem, type ClusterSigner } from "./cluster-signers.ts";

const NODE: RequestedCertificate = { organizations: ["system:nodes"], commonName: "system:node:a" };
const SERVING: RequestedCertificate = { ...NODE, dnsNames: ["a"] };
const CLIENT_USAGES = ["client auth", "digital signature"];
const SERVER_USAGES = ["server auth", "digital signature"];
const LOOPBACK = Uint8Array.of(127, 0, 0, 1);

type Row = readonly [wanted: RequestedCertificate, usages: readonly string[], problem: string | undefined];

const CLIENT: readonly Row[] = [
  [{ commonName: "jane" }, ["client auth"], undefined],
  [{ commonName: "jane", organizations: ["a", "b"], dnsNames: ["x"] }, [...CLIENT_USAGES, "key encipherment"], undefined],
  [{ commonName: "jane" }, ["client auth", "server auth"], "invalid usage for client certificate: server auth"],
  [{ commonName: "jane" }, ["digital signature"], "missing required usage for client certificate: client auth"],
];

const CLIENT_MISMATCH = "usages did not match [client auth digital signature key encipherment]";
const KUBELET_CLIENT: readonly Row[] = [
  [NODE, CLIENT_USAGES, undefined],
  [NODE, [...CLIENT_USAGES, "key encipherment"], undefined],
  [NODE, ["client auth"], CLIENT_MISMATCH],
  [NODE, [...CLIENT_USAGES, "server auth"], CLIENT_MISMATCH],
  [{ ...NODE, organizations: ["system:nodes", "system:masters"] }, CLIENT_USAGES, "subject organization is not system:nodes"],
  [{ commonName: "system:node:a" }, CLIENT_USAGES, "subject organization is not system:nodes"],
  [{ ...NODE, commonName: "jane" }, CLIENT_USAGES, "subject common name does not begin with system:node:"],
  [{ ...NODE, dnsNames: ["a"] }, CLIENT_USAGES, "DNS subjectAltNames are not allowed"],
  [{ ...NODE, emailAddresses: ["a@b.c"] }, CLIENT_USAGES, "Email subjectAltNames are not allowed"],
  [{ ...NODE, ipAddresses: [LOOPBACK] }, CLIENT_USAGES, "IP subjectAltNames are not allowed"],
  [{ ...NODE, uris: ["spiffe://a/b"] }, CLIENT_USAGES, "URI subjectAltNames are not allowed"],
];

const KUBELET_SERVING: readonly Row[] = [
  [SERVING, SERVER_USAGES, undefined],
  [{ ...NODE, ipAddresses: [LOOPBACK] }, [...SERVER_USAGES, "key encipherment"], undefined],
  [NODE, SERVER_USAGES, "DNS or IP subjectAltName is required"],
  [{ ...SERVING, organizations: [] }, SERVER_USAGES, "subject organization is not system:nodes"],
  [{ ...SERVING, emailAddresses: ["a@b.c"] }, SERVER_USAGES, "Email subjectAltNames are not allowed"],
  [{ ...SERVING, uris: ["spiffe://a/b"] }, SERVER_USAGES, "URI subjectAltNames are not allowed"],
  [{ ...SERVING, commonName: "jane" }, SERVER_USAGES, "subject common name does not begin with system:node:"],
  [SERVING, CLIENT_USAGES, "usages did not match [digital signature key encipherment server auth]"],
];

const LEGACY: readonly Row[] = [[{ commonName: "any-user", uris: ["spiffe://a/b"] }, ["cert sign"], undefined]];

const TABLES: readonly [ClusterSigner, readonly Row[]][] = [
  [CLUSTER_SIGNER.client, CLIENT],
  [CLUSTER_SIGNER.kubeletClient, KUBELET_CLIENT],
  [CLUSTER_SIGNER.kubeletServing, KUBELET_SERVING],
  [CLUSTER_SIGNER.legacy, LEGACY],
];

for (const [signer, rows] of TABLES) {
  test(`${signer} accepts requests of its purpose, and rejects others with a reason`, () => {
    for (const [wanted, usages, problem] of rows) {
      const request = parsePemRequest(new TextEncoder().encode(certificateRequest(wanted)));

      assert.equal(signerProblem(signer, request, usages), problem, `${JSON.stringify(wanted)} for ${usages.join(", ")}`);
    }
  });
}
