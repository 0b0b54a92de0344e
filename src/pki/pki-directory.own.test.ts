import { deepEqual, equal, notEqual, rejects, throws } from "node:assert/strict";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { X509Certificate } from "node:crypto";
import { realClock } from "../host/real-clock.ts";
import { FILE_NAMES } from "./complete-pki.ts";
import { LEAF_NAMES } from "./leaf-certificates.ts";
import { machineMaker } from "./certificate-issuer.ts";
import { pkiDirectory } from "./pki-directory.ts";
import { openPki, type Pki } from "./pki.ts";

const NOW = Date.parse("2026-06-01T00:00:00Z");
const DAY_MS = 24 * 60 * 60 * 1000;

async function temporaryDirectory(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), "k8ts-pki-"));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

function open(directory: string, servingNames: readonly string[] = ["localhost"], nowMs = NOW): Promise<Pki> {
  return openPki({ place: pkiDirectory(directory, realClock), maker: machineMaker, servingNames, nowMs });
}

function allOf(pki: Pki) {
  return [pki.authority, pki.frontProxyAuthority, pki.serviceAccounts.keyId, ...LEAF_NAMES.map((name) => pki.pair(name))];
}

const DAMAGES: readonly { readonly what: string; readonly damaged: (text: string) => string }[] = [
  { what: "empty", damaged: () => "" },
  { what: "half", damaged: (text) => text.slice(0, text.length / 2) },
  { what: "garbage", damaged: () => "garbage" },
];

/** All that is done with the files of a cluster, now and when everything has to be signed again. */
async function useAll(directory: string): Promise<void> {
  const pki = await open(directory);
  void pki.certificateSigning;
  pki.makeNodeCertificate("a", NOW);
  await pki.renew(NOW + 340 * DAY_MS);
}

/** Only a person can replace these. */
const IRREPLACEABLE = ["ca.key", "front-proxy-ca.key", "sa.key"];

for (const file of FILE_NAMES) {
  test(`${file} is recreated, or named in the error, however it is damaged`, async () => {
    await using directory = await temporaryDirectory();
    await open(directory.path);
    const path = join(directory.path, file);
    const whole = await readFile(path, "utf8");
    for (const { what, damaged } of DAMAGES) {
      await writeFile(path, damaged(whole));
      const problem = await useAll(directory.path).then(
        () => undefined,
        (error: Error) => error.message,
      );
      equal(problem?.startsWith(`Cannot use ${path}: `) ?? false, IRREPLACEABLE.includes(file), `${what}: ${problem}`);
      equal(problem !== undefined, IRREPLACEABLE.includes(file), `${what}: ${problem}`);
    }
  });
}

test("a key that can sign nothing is named at its first use, also if all certificates are good", async () => {
  await using directory = await temporaryDirectory();
  await open(directory.path);
  const path = join(directory.path, "ca.key");
  await writeFile(path, "garbage");
  const pki = await open(directory.path);
  const sentence = `Cannot use ${path}: it contains no unencrypted PEM private key; replace it with the right key, or remove the file and the certificates issued with it`;
  for (const use of [() => pki.certificateSigning, () => pki.makeNodeCertificate("a", NOW)]) throws(use, { message: sentence });
});

test("files are readable by their owner only, and the next start uses them", async () => {
  await using directory = await temporaryDirectory();
  const path = join(directory.path, "new", "pki");

  const first = await open(path);

  deepEqual((await readdir(path)).toSorted(), FILE_NAMES.toSorted());
  for (const file of await readdir(path)) equal((await stat(join(path, file))).mode & 0o777, 0o600, file);
  for (const made of [path, join(path, "..")]) equal((await stat(made)).mode & 0o777, 0o700);
  deepEqual(allOf(await open(path)), allOf(first));
});

test("what others were given rights to is the owner's alone again after a start", async () => {
  await using directory = await temporaryDirectory();
  const first = await open(directory.path);
  for (const path of [directory.path, join(directory.path, "ca.key"), join(directory.path, "sa.key")]) await chmod(path, 0o777);

  deepEqual(allOf(await open(directory.path)), allOf(first));

  for (const name of ["", "ca.key", "sa.key"]) equal((await stat(join(directory.path, name))).mode & 0o077, 0, name);
});

test("servers that start on an empty directory at the same time have the same certificates", async () => {
  await using directory = await temporaryDirectory();
  const names = ["a", "b", "c", "d"];

  const all = await Promise.all(names.map((name) => open(directory.path, ["localhost", name])));

  const [first] = all;
  for (const pki of all)
    deepEqual(
      [pki.authority, pki.serviceAccounts.keyId, pki.pair("admin")],
      [first?.authority, first?.serviceAccounts.keyId, first?.pair("admin")],
    );
  const last = new X509Certificate(await readFile(join(directory.path, "apiserver.crt"), "utf8"));
  for (const name of names) equal(last.checkHost(name), name);
});

test("what one server has renewed the other takes up, and both end with the same", async () => {
  await using directory = await temporaryDirectory();
  const [one, other] = [await open(directory.path), await open(directory.path)];
  const before = one.pair("apiserver");

  equal(await one.renew(NOW + DAY_MS), false);
  equal(await one.renew(NOW + 340 * DAY_MS), true);
  equal(await other.renew(NOW + 340 * DAY_MS), true);
  equal(await other.renew(NOW + 340 * DAY_MS), false);

  notEqual(one.pair("apiserver").certificate, before.certificate);
  deepEqual(allOf(other), allOf(one));
});

test("what a process that died has left behind is no hindrance", async () => {
  await using directory = await temporaryDirectory();
  await writeFile(join(directory.path, `ca.key.${process.pid}.partial`), "half");
  await writeFile(join(directory.path, "holder"), "{");

  const pki = await open(directory.path);

  deepEqual((await readdir(directory.path)).toSorted(), FILE_NAMES.toSorted());
  deepEqual(allOf(await open(directory.path)), allOf(pki));
});

test("a directory that cannot be written will do while nothing is to be written", async () => {
  await using directory = await temporaryDirectory();
  const pki = await open(directory.path);
  await chmod(directory.path, 0o500);
  deepEqual(allOf(await open(directory.path)), allOf(pki));
  await chmod(directory.path, 0o700);
});

test("unusable files are reported with the path and the remedy", async () => {
  await using directory = await temporaryDirectory();
  const pki = await open(directory.path);
  const path = (name: string) => join(directory.path, name);
  await rm(path("ca.key"));
  await rejects(open(directory.path, ["another"]), {
    message: `Cannot use ${path("ca.crt")}: it is required to sign apiserver.crt, and ca.key is missing; add the key, or remove ca.crt to create a new CA`,
  });
  equal(await readFile(path("ca.crt"), "utf8"), pki.authority);
  await mkdir(path("ca.key"));
  await rejects(
    open(directory.path),
    /^Error: Cannot read .*ca\.key: .*; grant this user read permission, or choose another directory with --cert-dir$/,
  );
  await writeFile(path("file"), "");
  await rejects(open(join(path("file"), "pki")), /^Error: Cannot (read|write to) .*choose (a|another) directory.* with --cert-dir$/);
});

test("a node's certificate is made of the same authority, and kept nowhere", async () => {
  await using directory = await temporaryDirectory();
  const pki = await open(directory.path);
  const node = new X509Certificate(pki.makeNodeCertificate("worker-1", NOW).certificate);
  equal(node.subject, "O=system:nodes\nCN=system:node:worker-1");
  equal(node.verify(new X509Certificate(pki.authority).publicKey), true);
  equal((await readdir(directory.path)).length, FILE_NAMES.length);
});

test("the authority signs what clients ask for, unless its key is kept elsewhere", async () => {
  await using directory = await temporaryDirectory();
  const { certificateSigning, authority } = await open(directory.path);
  equal(certificateSigning?.certificate, authority);
  equal(certificateSigning?.signer.algorithm, "ES256");

  await rm(join(directory.path, "ca.key"));
  equal((await open(directory.path)).certificateSigning, undefined);
});
