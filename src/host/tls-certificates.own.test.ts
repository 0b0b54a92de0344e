import { deepEqual, equal, notEqual, rejects } from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { readServingCertificate, servingCertificate } from "./tls-certificates.ts";

const NAMES = ["localhost", "127.0.0.1", "::1", "10.96.0.1", "kubernetes.default.svc"];
const NOW = Date.parse("2026-06-01T00:00:00Z");
const DAY_MS = 24 * 60 * 60 * 1000;

async function temporaryDirectory(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), "k8ts-pki-"));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true }) };
}

test("a new certificate has all names, a year to live, and the signature of its authority, which lives ten", async () => {
  const { authority, certificate } = await servingCertificate({ names: NAMES, nowMs: NOW });
  const [ca, leaf] = [new X509Certificate(authority), new X509Certificate(certificate)];
  deepEqual([ca.ca, leaf.ca, ca.verify(ca.publicKey), leaf.verify(ca.publicKey), leaf.checkIssued(ca)], [true, false, true, true, true]);
  equal(
    leaf.subjectAltName,
    "DNS:localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1, IP Address:10.96.0.1, DNS:kubernetes.default.svc",
  );
  deepEqual([Date.parse(leaf.validTo) - NOW, Date.parse(ca.validTo) - NOW], [365 * DAY_MS, 3650 * DAY_MS]);
  equal(Date.parse(leaf.validFrom) < NOW, true);
});

test("it is kept in files that only their owner can read, and used again", async () => {
  await using directory = await temporaryDirectory();
  const path = join(directory.path, "pki");
  const first = await servingCertificate({ names: NAMES, nowMs: NOW, directory: path });
  deepEqual((await readdir(path)).sort(), ["apiserver.crt", "apiserver.key", "ca.crt", "ca.key"]);
  for (const file of await readdir(path)) equal((await stat(join(path, file))).mode & 0o777, 0o600);
  equal((await stat(path)).mode & 0o777, 0o700);
  deepEqual(await servingCertificate({ names: NAMES.slice(1), nowMs: NOW + 300 * DAY_MS, directory: path }), first);
});

for (const { why, names = NAMES, days = 0, break: damage, authority } of [
  { why: "it is about to expire", days: 340, authority: "kept" },
  { why: "it has expired", days: 400, authority: "kept" },
  { why: "a DNS name is not in it", names: [...NAMES, "other"], authority: "kept" },
  { why: "an address is not in it", names: [...NAMES, "10.0.0.9"], authority: "kept" },
  { why: "its key is damaged", break: "apiserver.key", authority: "kept" },
  { why: "it is damaged", break: "apiserver.crt", authority: "kept" },
  { why: "the authority has expired", days: 3700, authority: "new" },
  { why: "the authority is damaged", break: "ca.crt", authority: "new" },
] as const) {
  test(`it is made anew if ${why}, and the authority is ${authority}`, async () => {
    await using directory = await temporaryDirectory();
    const first = await servingCertificate({ names: NAMES, nowMs: NOW, directory: directory.path });
    if (damage !== undefined) await writeFile(join(directory.path, damage), "garbage");
    const options = { names, nowMs: NOW + days * DAY_MS, directory: directory.path };
    const second = await servingCertificate(options);
    notEqual(second.certificate, first.certificate);
    equal(second.authority === first.authority, authority === "kept");
    equal(new X509Certificate(second.certificate).verify(new X509Certificate(second.authority).publicKey), true);
    deepEqual(await servingCertificate(options), second);
  });
}

test("an authority without its key is not replaced", async () => {
  await using directory = await temporaryDirectory();
  await writeFile(join(directory.path, "ca.crt"), (await servingCertificate({ names: NAMES, nowMs: NOW })).authority);
  await rejects(servingCertificate({ names: NAMES, nowMs: NOW, directory: directory.path }), /ca\.crt has no ca\.key beside it/);
});

test("given files are used as they are, and refused with one sentence if they do not fit", async () => {
  await using directory = await temporaryDirectory();
  const file = (name: string) => join(directory.path, name);
  const one = await servingCertificate({ names: NAMES, nowMs: NOW, directory: directory.path });
  const other = await servingCertificate({ names: NAMES, nowMs: NOW });
  await writeFile(file("other.key"), other.key);
  const [certificate, key] = [file("apiserver.crt"), file("apiserver.key")];
  deepEqual(await readServingCertificate({ certificate, key }), { authority: one.certificate, certificate: one.certificate, key: one.key });
  equal(await readFile(certificate, "utf8"), one.certificate);
  for (const [files, message] of [
    [{ certificate, key: file("other.key") }, /the key is not the certificate's$/],
    [{ certificate, key: certificate }, /holds no private key in PEM form/],
    [{ certificate: key, key }, /holds no certificate in PEM form$/],
    [{ certificate: file("none"), key }, /none: there is no such file/],
  ] as const) {
    await rejects(readServingCertificate(files), message);
  }
});
