import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { promisify } from "node:util";
import { parsePemRequest } from "../../api/machinery/x509/certificate-request.ts";
import { seededRandom } from "../../base/random.ts";
import { certificateRequest, REQUESTER_KEY, type RequestedCertificate } from "../../testing/fixtures/certificate-requests.ts";
import { TEST_SIGNING_AUTHORITY } from "../../testing/fixtures/controller-settings.ts";
import { needs, toolPath } from "../../testing/needs.ts";
import { issueCertificate } from "./issue-certificate.ts";

function issue(wanted: RequestedCertificate, usages: readonly string[]): string {
  const request = parsePemRequest(new TextEncoder().encode(certificateRequest(wanted)));
  return issueCertificate({ request, usages, durationMs: 3_600_000 }, TEST_SIGNING_AUTHORITY, Date.now(), seededRandom(1));
}

const SERVING = {
  organizations: ["system:nodes"],
  commonName: "system:node:a",
  dnsNames: ["a"],
  ipAddresses: [Uint8Array.of(10, 0, 0, 1)],
};

test("Node accepts an issued certificate as signed by the CA, with the requested key", () => {
  const [issued, authority] = [
    new X509Certificate(issue(SERVING, ["server auth", "digital signature"])),
    new X509Certificate(TEST_SIGNING_AUTHORITY.certificate),
  ];

  assert.deepEqual([issued.checkIssued(authority), issued.verify(authority.publicKey), issued.ca], [true, true, false]);
  assert.deepEqual([issued.subject, issued.subjectAltName], ["O=system:nodes\nCN=system:node:a", "DNS:a, IP Address:10.0.0.1"]);
  assert.deepEqual(issued.publicKey.export({ type: "spki", format: "der" }), Buffer.from(REQUESTER_KEY.signer.publicKey));
});

test("OpenSSL accepts an issued certificate for its usages only", needs("openssl"), async () => {
  const directory = await mkdtemp(join(tmpdir(), "k8ts-issued-"));
  after(() => rm(directory, { recursive: true }));
  const path = (name: string) => join(directory, name);
  await writeFile(path("ca.crt"), TEST_SIGNING_AUTHORITY.certificate);
  await writeFile(path("serving.crt"), issue(SERVING, ["server auth", "digital signature"]));
  await writeFile(path("client.crt"), issue({ commonName: "jane", organizations: ["b", "a"] }, ["client auth"]));
  await writeFile(path("nameless.crt"), issue({ dnsNames: ["a"] }, ["client auth"]));
  const openssl = async (...words: readonly string[]) => (await promisify(execFile)(toolPath("openssl"), words)).stdout;
  const verify = (purpose: string, file: string) => openssl("verify", "-purpose", purpose, "-CAfile", path("ca.crt"), path(file));

  for (const [purpose, file] of [
    ["sslserver", "serving.crt"],
    ["sslclient", "client.crt"],
    ["sslclient", "nameless.crt"],
  ] as const) {
    assert.equal(await verify(purpose, file), `${path(file)}: OK\n`);
  }
  await assert.rejects(verify("sslclient", "serving.crt"), /unsuitable certificate purpose/);
  const text = await openssl("x509", "-noout", "-text", "-in", path("serving.crt"));
  assert.match(text, /X509v3 Basic Constraints: critical\n +CA:FALSE/);
  assert.match(text, /X509v3 Key Usage: critical\n +Digital Signature\n/);
  assert.doesNotMatch(text, /Subject Key Identifier/);
  assert.match(await openssl("x509", "-noout", "-text", "-in", path("nameless.crt")), /Alternative Name: critical\n +DNS:a/);
});
