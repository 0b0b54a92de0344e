import assert from "node:assert/strict";
import test from "node:test";
import type { PodCertificateRequest } from "../../generated/certificates.k8s.io/v1beta1.ts";
import { encodeBase64 } from "../../machinery/codec/base64.ts";
import type { JsonObject } from "../../machinery/object.ts";
import { formatTime } from "../../machinery/time.ts";
import { pemBlocks } from "../../machinery/x509/pem.ts";
import { bytesOf, REQUESTS, UNSUPPORTED_CURVE_REQUEST } from "../../machinery/x509/testing/samples.ts";
import { anAuthority, aStubRequest, issuedStatus } from "../../testing/certificates.ts";
import { cellsOf, newObject, problemsOfChange, problemsOfNew, received } from "../../testing/kind.ts";
import { podCertificateRequests } from "./pod-certificate-request.ts";

const SPEC: JsonObject = {
  signerName: "example.com/s",
  ...{ podName: "p", podUID: "1", serviceAccountName: "default", serviceAccountUID: "2", nodeName: "n", nodeUID: "3" },
  stubPKCS10Request: aStubRequest(5n),
};
const HOUR_MS = 3_600_000;
const UNSUPPORTED = 'status.conditions.[0].type: Unsupported value: "Other": supported values: "Denied", "Failed", "Issued"';

/** DER of a PEM text, as base64. */
function derOf(pem: string): string {
  const [block] = pemBlocks(bytesOf(pem));
  return encodeBase64(block?.bytes ?? new Uint8Array());
}

const ROWS: readonly [title: string, change: JsonObject, problems: readonly string[]][] = [
  ["everything it needs", {}, []],
  ["annotations", { unverifiedUserAnnotations: { "Example.com/a": "b" } }, []],
  ["an Ed25519 key", { stubPKCS10Request: derOf(REQUESTS.Ed25519) }, []],
  [
    "a key of 1,024 bits",
    { stubPKCS10Request: derOf(REQUESTS["RSA with SHA-256"]) },
    ['spec.stubPKCS10Request: Invalid value: "1024-bit modulus": RSA keys must have modulus size 3072 or 4096'],
  ],
  [
    "a key on another curve",
    { stubPKCS10Request: derOf(REQUESTS.P224) },
    ['spec.stubPKCS10Request: Invalid value: "curve P-224": elliptic public keys must use curve P256, P384, or P521'],
  ],
  [
    "a key that cannot be read",
    { stubPKCS10Request: derOf(UNSUPPORTED_CURVE_REQUEST) },
    ["spec.stubPKCS10Request: Invalid value: must be a valid PKCS#10 CSR"],
  ],
  [
    "no key",
    { stubPKCS10Request: "" },
    ["spec: Invalid value: exactly one of (stubPKCS10Request) or (pkixPublicKey, proofOfPossession) must be set"],
  ],
  [
    "the key in its older form",
    { stubPKCS10Request: "", pkixPublicKey: "AAAA", proofOfPossession: "AAAA" },
    ["spec.pkixPublicKey: Invalid value: deprecated and not supported by this version: stubPKCS10Request must be set instead"],
  ],
  ["a signature of another request", { stubPKCS10Request: forged() }, ["spec.stubPKCS10Request: Invalid value: invalid signature"]],
  [
    "a request that is too long",
    { stubPKCS10Request: "AAAA".repeat(4_000) },
    ["spec.stubPKCS10Request: Too long: may not be more than 10240 bytes"],
  ],
  [
    "too short and too long a time",
    { maxExpirationSeconds: 3_599 },
    ["spec.maxExpirationSeconds: Invalid value: 3599: must be in the range [3600, 7862400]"],
  ],
  [
    "a signer of Kubernetes for more than a day",
    { signerName: "kubernetes.io/s", maxExpirationSeconds: 86_401 },
    ["spec.maxExpirationSeconds: Invalid value: 86401: must be in the range [3600, 86400]"],
  ],
  [
    "annotations without a domain",
    { unverifiedUserAnnotations: { a: "b" } },
    ['spec.unverifiedUserAnnotations: Invalid value: "a": must be a domain-prefixed key (such as "acme.io/foo")'],
  ],
  [
    "no identities",
    { podUID: "", serviceAccountUID: "x".repeat(129), nodeUID: "" },
    [
      'spec.podUID: Invalid value: "": must not be empty',
      "spec.serviceAccountUID: Too long: may not be more than 128 bytes",
      'spec.nodeUID: Invalid value: "": must not be empty',
    ],
  ],
];

/** The last byte of the signature is another one. */
function forged(): string {
  const bytes = Buffer.from(aStubRequest(5n), "base64");
  bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
  return bytes.toString("base64");
}

for (const [title, change, problems] of ROWS) {
  test(`a PodCertificateRequest with ${title} is ${problems.length === 0 ? "valid" : "rejected"}`, () => {
    assert.deepEqual(
      problemsOfNew(podCertificateRequests, { metadata: { name: "r", namespace: "ns" }, spec: { ...SPEC, ...change } }),
      problems,
    );
  });
}

test("a new PodCertificateRequest lasts for a day and has no status, and its spec is immutable", () => {
  const sent = { metadata: { name: "r", namespace: "ns" }, spec: SPEC, status: { certificateChain: "x" } };
  const { spec, status } = newObject(podCertificateRequests, sent);

  assert.deepEqual([spec.maxExpirationSeconds, status], [86_400, {}]);
  const [problem = ""] = problemsOfChange(podCertificateRequests, request(), { spec: { ...SPEC, podName: "q" } });
  assert.match(problem, /^spec: Invalid value: \{.*\}: field is immutable$/);
});

function request(status: JsonObject = {}): PodCertificateRequest {
  return received(podCertificateRequests, {
    metadata: { name: "r", namespace: "ns" },
    spec: { ...SPEC, maxExpirationSeconds: 86_400 },
    status,
  });
}

const ISSUED = issuedStatus(request(), 9n, { nowMs: 0 });
const condition = (type: string, status = "True"): JsonObject => ({
  ...{ type, status, reason: "R", message: "m" },
  lastTransitionTime: formatTime(0),
});

const ANSWERS: readonly [title: string, status: JsonObject, problems: readonly string[]][] = [
  ["nothing", {}, []],
  ["a certificate", { ...ISSUED }, []],
  ["a denial", { conditions: [condition("Denied")] }, []],
  ["a failure", { conditions: [condition("Failed")] }, []],
  ["an unknown condition", { conditions: [condition("Other")] }, [UNSUPPORTED]],
  [
    "two answers",
    { conditions: [condition("Denied"), condition("Failed")] },
    ['status.conditions.[1].type: Invalid value: "Failed": There may be at most one condition with type "Issued", "Denied", or "Failed"'],
  ],
  [
    "a condition that is false",
    { conditions: [condition("Denied", "False")] },
    ['status.conditions.[0].status: Unsupported value: "False": supported values: "True"'],
  ],
  [
    "a denial with a certificate",
    { ...ISSUED, conditions: [condition("Denied")] },
    ["status: Invalid value: non-condition status fields must be empty when denying or failing the PodCertificateRequest"],
  ],
  [
    "a certificate without the condition",
    { certificateChain: "x" },
    ['status: Invalid value: status is immutable unless transitioning to "Issued", "Denied", or "Failed"'],
  ],
  [
    "no certificate",
    { ...ISSUED, certificateChain: "" },
    ['status.certificateChain: Invalid value: "": issued certificate chain must contain at least one certificate'],
  ],
  [
    "a certificate without times",
    { conditions: ISSUED.conditions, certificateChain: ISSUED.certificateChain ?? "" },
    [
      "status.notBefore: Required value: must be present and consistent with the issued certificate",
      "status.notAfter: Required value: must be present and consistent with the issued certificate",
      "status.beginRefreshAt: Required value: must be present and in the range [notbefore+10min, notafter-10min]",
    ],
  ],
  [
    "another start than the certificate's",
    { ...ISSUED, notBefore: formatTime(1_000) },
    ['status.notBefore: Invalid value: "1970-01-01T00:00:01Z": must be set to the NotBefore time encoded in the leaf certificate'],
  ],
  [
    "another end than the certificate's",
    { ...ISSUED, notAfter: formatTime(1_000) },
    ['status.notAfter: Invalid value: "1970-01-01T00:00:01Z": must be set to the NotAfter time encoded in the leaf certificate'],
  ],
  [
    "a certificate for less than an hour",
    { ...issuedStatus(request(), 9n, { nowMs: 0, lifetimeMs: HOUR_MS - 1_000 }) },
    ["status.certificateChain: Invalid value: 3599000000000: leaf certificate lifetime must be >= 1 hour"],
  ],
  [
    "a certificate for longer than requested",
    { ...issuedStatus(request(), 9n, { nowMs: 0, lifetimeMs: 25 * HOUR_MS }) },
    ["status.certificateChain: Invalid value: 90000000000000: leaf certificate lifetime must be <= spec.maxExpirationSeconds (86400)"],
  ],
  [
    "a refresh that is too early",
    { ...ISSUED, beginRefreshAt: formatTime(599_000) },
    ['status.beginRefreshAt: Invalid value: "1970-01-01T00:09:59Z": must be at least 10 minutes after status.notBefore'],
  ],
  [
    "a refresh that is too late",
    { ...ISSUED, beginRefreshAt: formatTime(HOUR_MS - 599_000) },
    ['status.beginRefreshAt: Invalid value: "1970-01-01T00:50:01Z": must be at least 10 minutes before status.notAfter'],
  ],
  [
    "odd names",
    { ...issuedStatus(request(), 9n, { nowMs: 0, dnsNames: ["a..b", ".c"] }) },
    [
      "status.certificateChain: Invalid value: \"a..b\": leaf certificate's DNSName should not contain '..'",
      "status.certificateChain: Invalid value: \".c\": leaf certificate's DNSName should not start or end with '.'",
    ],
  ],
];

for (const [title, status, problems] of ANSWERS) {
  test(`an answer with ${title} is ${problems.length === 0 ? "accepted" : "rejected"}`, () => {
    assert.deepEqual(problemsOfChange(podCertificateRequests, request(), { spec: SPEC, status }, "status"), problems);
  });
}

test("a certificate for another key is rejected, and so is anything after it that is no certificate", () => {
  const problemsOf = (chain: string) =>
    problemsOfChange(podCertificateRequests, request(), { spec: SPEC, status: { ...ISSUED, certificateChain: chain } }, "status").map(
      (problem) => problem.slice(problem.lastIndexOf(": ") + 2),
    );
  const own = ISSUED.certificateChain ?? "";
  const block = (type: string) => `-----BEGIN ${type}-----\nAAAA\n-----END ${type}-----\n`;

  assert.deepEqual(problemsOf(anAuthority(9n)), ["leaf certificate was not issued to the requested public key"]);
  assert.deepEqual(problemsOf(block("KEY")), ["issued certificate chain must consist entirely of CERTIFICATE PEM blocks"]);
  assert.deepEqual(problemsOf(block("CERTIFICATE")), ["leaf certificate does not parse as valid X.509"]);
  assert.deepEqual(problemsOf(own + anAuthority(9n)), []);
  assert.deepEqual(problemsOf(own + block("KEY")), ["issued certificate chain must consist entirely of CERTFICATE PEM blocks"]);
  assert.deepEqual(problemsOf(own + block("CERTIFICATE")), ["intermediate certificate does not parse as valid X.509"]);
});

test("an answered PodCertificateRequest does not change, and its table shows the answer", () => {
  const answered = request({ ...ISSUED });

  assert.deepEqual(
    problemsOfChange(podCertificateRequests, answered, { spec: SPEC, status: { conditions: [condition("Denied")] } }, "status"),
    ["status: Invalid value: immutable after PodCertificateRequest is issued, denied, or failed"],
  );
  const cells = { Name: "r", PodName: "p", ServiceAccountName: "default", NodeName: "n", SignerName: "example.com/s" };
  const shown = { ...cells, State: "Issued", UnverifiedUserAnnotations: "<none>" };
  assert.deepEqual(cellsOf(podCertificateRequests, answered), shown);
  assert.deepEqual(cellsOf(podCertificateRequests, request()), { ...shown, State: "Pending" });
});
