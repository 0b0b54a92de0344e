import assert from "node:assert/strict";
import { test } from "node:test";
import { seededRandom } from "../../base/random.ts";
import { isSignedBy, parsePemCertificates, type Certificate } from "../../api/machinery/x509/certificate.ts";
import { parsePemRequest } from "../../api/machinery/x509/certificate-request.ts";
import { certificateRequest, REQUESTER_KEY } from "../../testing/fixtures/certificate-requests.ts";
import { TEST_SIGNING_AUTHORITY } from "../../testing/fixtures/controller-settings.ts";
import { durationOf, issueCertificate, validityOf } from "./issue-certificate.ts";
import { certificateUsages } from "./key-usages.ts";

const NOW_MS = Date.UTC(2026, 0);
const [MINUTE_MS, HOUR_MS] = [60_000, 3_600_000];
const YEAR_MS = 365 * 24 * HOUR_MS;

const DURATIONS: readonly [askedSeconds: number | undefined, durationMs: number][] = [
  [undefined, YEAR_MS],
  [3_600, HOUR_MS],
  [YEAR_MS / 1_000 + 1, YEAR_MS],
  [600, 10 * MINUTE_MS],
  [1, 10 * MINUTE_MS],
];

for (const [asked, expected] of DURATIONS) {
  test(`a request for ${asked ?? "no"} seconds gets ${expected / 1_000}`, () => assert.equal(durationOf(asked, YEAR_MS), expected));
}

test("a certificate is backdated by five minutes, and expires with its CA at the latest", () => {
  const fromMs = NOW_MS - 5 * MINUTE_MS;
  const ends = (durationMs: number, toMs: number) => validityOf(durationMs, { toMs }, NOW_MS);

  assert.deepEqual(ends(YEAR_MS, NOW_MS + 9 * YEAR_MS), { fromMs, toMs: NOW_MS + YEAR_MS - 5 * MINUTE_MS });
  assert.deepEqual(ends(8 * HOUR_MS, NOW_MS + YEAR_MS), { fromMs, toMs: NOW_MS + 8 * HOUR_MS - 5 * MINUTE_MS });
  assert.deepEqual(ends(8 * HOUR_MS - 1_000, NOW_MS + YEAR_MS), { fromMs, toMs: NOW_MS + 8 * HOUR_MS - 1_000 });
  assert.deepEqual(ends(YEAR_MS, NOW_MS + HOUR_MS), { fromMs, toMs: NOW_MS + HOUR_MS });
  assert.throws(() => ends(YEAR_MS, NOW_MS), /^Error: Cannot sign a certificate: the authority's own has ended at 2026-01-01T00:00:00Z$/);
});

test("key usages are translated, each once and in order", () => {
  assert.deepEqual(certificateUsages(["s/mime", "signing", "digital signature", "email protection", "client auth", "any"]), {
    keyUsages: ["digitalSignature"],
    extendedKeyUsages: ["2.5.29.37.0", "1.3.6.1.5.5.7.3.2", "1.3.6.1.5.5.7.3.4"],
  });
  assert.throws(() => certificateUsages(["client auth", "walking"]), /Cannot sign a certificate for "walking": unknown usage/);
});

function issued(wanted: Parameters<typeof certificateRequest>[0], usages: readonly string[], seed = 1): Certificate {
  const request = parsePemRequest(new TextEncoder().encode(certificateRequest(wanted)));
  const pem = issueCertificate({ request, usages, durationMs: YEAR_MS }, TEST_SIGNING_AUTHORITY, NOW_MS, seededRandom(seed));
  const [certificate] = parsePemCertificates(pem);
  assert.ok(certificate !== undefined);
  return certificate;
}

test("a certificate has the subject, names and key of the request, and its CA's signature", () => {
  const wanted = {
    commonName: "system:node:ä",
    organizations: ["b", "a"],
    dnsNames: ["a.example.com"],
    emailAddresses: ["a@b.c"],
    ipAddresses: [Uint8Array.of(10, 0, 0, 1)],
    uris: ["spiffe://a/b"],
  };
  const { commonName, organizations, ...names } = wanted;

  const certificate = issued(wanted, ["server auth", "digital signature", "key encipherment"]);

  const [authority] = parsePemCertificates(TEST_SIGNING_AUTHORITY.certificate);
  assert.ok(authority !== undefined && isSignedBy(certificate, authority));
  assert.deepEqual([certificate.subject.commonName, certificate.subject.organizations], [commonName, organizations.toSorted()]);
  const { dnsNames, emailAddresses, ipAddresses, uris } = certificate;
  assert.deepEqual({ dnsNames, emailAddresses, ipAddresses, uris }, names);
  assert.deepEqual(certificate.publicKeyInfo, REQUESTER_KEY.signer.publicKey);
  assert.deepEqual(certificate.keyUsages, ["digitalSignature", "keyEncipherment"]);
  assert.deepEqual(certificate.extendedKeyUsages, ["1.3.6.1.5.5.7.3.1"]);
  assert.deepEqual([certificate.isAuthority, certificate.subjectKeyIdentifier], [false, undefined]);
  assert.deepEqual(certificate.authorityKeyIdentifier, authority.subjectKeyIdentifier);
});

test("a request for a CA certificate does not get one, and serial numbers are unique", () => {
  const [first, second] = [issued({ commonName: "x" }, ["cert sign"]), issued({ commonName: "x" }, ["cert sign"], 2)];

  assert.deepEqual([first.isAuthority, first.keyUsages], [false, ["certSign"]]);
  assert.notEqual(first.serialNumber, second.serialNumber);
  assert.ok(first.serialNumber > 2n ** 126n && first.serialNumber < 2n ** 127n);
});

test("a request whose signature does not match its key is rejected", () => {
  const request = parsePemRequest(new TextEncoder().encode(certificateRequest({ commonName: "x" })));
  const wanted = { request: { ...request, signed: Uint8Array.of(1) }, usages: ["client auth"], durationMs: YEAR_MS };

  assert.throws(() => issueCertificate(wanted, TEST_SIGNING_AUTHORITY, NOW_MS, seededRandom(1)), /x509: ECDSA verification failure/);
});
