import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { execFile } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { promisify } from "node:util";
import { needs, toolPath } from "../../../testing/needs.ts";
import { isSignedBy, parseCertificates, parsePemCertificates } from "./certificate.ts";
import { issuerOf, selfIssuer, writeCertificate, type CertificateContent } from "./certificate-writer.ts";
import { PURPOSE } from "./extensions.ts";
import { p256Key } from "./p256-signer.ts";
import { pemText } from "./pem.ts";

const [AUTHORITY_KEY, LEAF_KEY, OTHER_KEY] = [p256Key(11n), p256Key(12n), p256Key(13n)];
const VALIDITY = { fromMs: Date.UTC(2026, 0, 1), toMs: Date.UTC(2055, 0, 1) };

function authority(commonName: string, key = AUTHORITY_KEY): Uint8Array {
  const subject = { commonName, organizations: [] };
  return writeCertificate(
    {
      subject,
      publicKey: key.signer.publicKey,
      validity: VALIDITY,
      serialNumber: Uint8Array.of(0x80, 1),
      isAuthority: true,
      keyUsages: ["digitalSignature", "keyEncipherment", "certSign"],
    },
    selfIssuer(subject, key.signer),
  );
}

const LEAF = {
  subject: { commonName: "system:node:ä", organizations: ["system:nodes", "another", "a third"] },
  publicKey: LEAF_KEY.signer.publicKey,
  validity: VALIDITY,
  serialNumber: Uint8Array.of(0, 0x7f, 2),
  keyUsages: ["digitalSignature"],
  extendedKeyUsages: [PURPOSE.server, PURPOSE.client],
  alternativeNames: {
    dnsNames: ["a.example.com", "b"],
    ipAddresses: [Uint8Array.of(10, 0, 0, 1), Uint8Array.from({ length: 16 }, (_, index) => index)],
    uris: ["spiffe://a.b/c"],
    emailAddresses: ["x@y.z"],
  },
} as const satisfies CertificateContent;

function signed(content: CertificateContent, by = authority("k8ts")): Uint8Array {
  const [issuer] = parseCertificates(by);
  assert.ok(issuer !== undefined);
  return writeCertificate(content, issuerOf(issuer, AUTHORITY_KEY.signer));
}

test("a written certificate is parsed back", () => {
  const [read] = parseCertificates(signed(LEAF));
  assert.ok(read !== undefined);

  const { commonName, organizations } = read.subject;
  assert.deepEqual({ commonName, organizations }, LEAF.subject);
  assert.deepEqual([read.issuer.commonName, read.serialNumber, read.fromMs, read.toMs], ["k8ts", 0x7f02n, VALIDITY.fromMs, VALIDITY.toMs]);
  assert.deepEqual([read.isAuthority, read.keyUsages, read.extendedKeyUsages], [false, LEAF.keyUsages, LEAF.extendedKeyUsages]);
  const { dnsNames, ipAddresses, uris, emailAddresses } = read;
  assert.deepEqual({ dnsNames, ipAddresses, uris, emailAddresses }, LEAF.alternativeNames);
  assert.deepEqual(read.publicKeyInfo, LEAF.publicKey);
});

test("equal arguments give equal bytes", () => {
  assert.deepEqual(signed(LEAF), signed(LEAF));
});

test("the signature identifies the issuer, also among authorities of one name", () => {
  const [ours, other] = [authority("k8ts"), authority("k8ts", OTHER_KEY)].flatMap((der) => parseCertificates(der));
  const [leaf] = parseCertificates(signed(LEAF));
  const [differentName] = parseCertificates(authority("another"));
  assert.ok(ours !== undefined && other !== undefined && leaf !== undefined && differentName !== undefined);

  assert.deepEqual(
    [ours, other, differentName, leaf].map((one) => isSignedBy(leaf, one)),
    [true, false, false, false],
  );
  assert.equal(isSignedBy(ours, ours), true);
});

test("Node parses the certificate as intended", () => {
  const [ca, leaf] = [new X509Certificate(authority("k8ts")), new X509Certificate(signed(LEAF))];

  assert.deepEqual([ca.ca, leaf.ca, leaf.checkIssued(ca), leaf.verify(ca.publicKey)], [true, false, true, true]);
  assert.equal(leaf.subject, "O=system:nodes\nO=another\nO=a third\nCN=system:node:ä");
  assert.equal(
    leaf.subjectAltName,
    "DNS:a.example.com, DNS:b, email:x@y.z, IP Address:10.0.0.1, IP Address:1:203:405:607:809:A0B:C0D:E0F, URI:spiffe://a.b/c",
  );
  assert.deepEqual(leaf.keyUsage, [PURPOSE.server, PURPOSE.client]);
});

test("a signer of an unsupported algorithm is rejected", () => {
  const signer = { ...AUTHORITY_KEY.signer, algorithm: "PS256" as const };
  assert.throws(() => writeCertificate(LEAF, selfIssuer(LEAF.subject, signer)), /Cannot sign a certificate with PS256/);
});

const run = promisify(execFile);

async function inDirectory<T>(work: (path: (name: string) => string) => Promise<T>): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), "k8ts-x509-"));
  try {
    return await work((name) => join(directory, name));
  } finally {
    await rm(directory, { recursive: true });
  }
}

test("OpenSSL accepts the chain for server and client authentication", needs("openssl"), async () => {
  await inDirectory(async (path) => {
    await writeFile(path("ca.crt"), pemText("CERTIFICATE", authority("k8ts")));
    await writeFile(path("leaf.crt"), pemText("CERTIFICATE", signed(LEAF)));

    for (const purpose of ["sslserver", "sslclient"]) {
      const flags = ["verify", "-x509_strict", "-purpose", purpose, "-CAfile", path("ca.crt"), path("leaf.crt")];
      const { stdout } = await run(toolPath("openssl"), flags);
      assert.match(stdout, /leaf\.crt: OK/);
    }
  });
});

test("a certificate of OpenSSL is parsed", needs("openssl"), async () => {
  await inDirectory(async (path) => {
    const names = "subjectAltName=DNS:a.b,IP:10.0.0.1,URI:spiffe://a/b";
    const usages = ["-addext", "keyUsage=critical,digitalSignature,keyAgreement,decipherOnly", "-addext", "extendedKeyUsage=clientAuth"];
    const subject = ["-subj", "/O=first/O=second/CN=jane", "-days", "10"];
    await run(toolPath("openssl"), [
      ...["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", path("key"), "-out", path("crt")],
      ...[...subject, ...usages, "-addext", names],
    ]);
    const pem = await readFile(path("crt"), "utf8");
    const [read] = parsePemCertificates(`before\n${pem}${pem}`);
    assert.ok(read !== undefined);

    assert.deepEqual([read.subject.commonName, read.subject.organizations], ["jane", ["first", "second"]]);
    assert.deepEqual([read.keyUsages, read.extendedKeyUsages], [["digitalSignature", "keyAgreement", "decipherOnly"], [PURPOSE.client]]);
    assert.deepEqual([read.dnsNames, read.uris, read.isAuthority], [["a.b"], ["spiffe://a/b"], true]);
    assert.equal(read.toMs - read.fromMs, 10 * 24 * 60 * 60 * 1000);
    assert.equal(read.publicKey?.algorithm, "RSA");
    assert.equal(isSignedBy(read, read), true);
  });
});
