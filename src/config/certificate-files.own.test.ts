import { deepEqual, equal, rejects } from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { testAuthority } from "../testing/fixtures/certificates.ts";
import { readAuthorities, readServingFiles, readSigningFiles, readSigningKey, readVerifyingKeys } from "./certificate-files.ts";

const authority = testAuthority("ca");
const [leaf, other] = [authority.sign("a"), authority.sign("b")];
const rsa = generateKeyPairSync("rsa", {
  modulusLength: 2048,
  publicKeyEncoding: { type: "spki", format: "pem" },
  privateKeyEncoding: { type: "pkcs1", format: "pem" },
});

const FILES = {
  "leaf.crt": leaf.certificate,
  "leaf.key": leaf.key,
  "other.key": other.key,
  "bundle.crt": `# two\n${authority.certificate}${testAuthority("second").certificate}`,
  "rsa.key": rsa.privateKey,
  "rsa.pub": rsa.publicKey,
  "broken.crt": "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
};

async function given(): Promise<AsyncDisposable & { readonly file: (name: string) => string }> {
  const directory = await mkdtemp(join(tmpdir(), "k8ts-given-"));
  for (const [name, text] of Object.entries(FILES)) await writeFile(join(directory, name), text);
  return { file: (name) => join(directory, name), [Symbol.asyncDispose]: () => rm(directory, { recursive: true }) };
}

test("configured certificate files are used unchanged", async () => {
  await using files = await given();
  const { file } = files;
  deepEqual(await readServingFiles({ certificate: file("leaf.crt"), key: file("leaf.key") }), leaf);
  equal(await readAuthorities(file("bundle.crt"), "--client-ca-file"), FILES["bundle.crt"]);
  const signing = await readSigningFiles({ certificate: file("leaf.crt"), key: file("leaf.key") });
  deepEqual([signing.certificate, signing.signer.algorithm], [leaf.certificate, "ES256"]);
  const signer = await readSigningKey(file("rsa.key"));
  equal(signer.algorithm, "RS256");
  const verifiers = await readVerifyingKeys([file("rsa.pub"), file("other.key")]);
  deepEqual(
    verifiers.map((verifier) => verifier.verify(Buffer.from("x"), signer.sign(Buffer.from("x")), "RS256")),
    [true, false],
  );
});

const REFUSED: readonly (readonly [string, (file: (name: string) => string) => Promise<unknown>, RegExp])[] = [
  [
    "an authority's certificate that is no certificate",
    (file) => readSigningFiles({ certificate: file("rsa.pub"), key: file("leaf.key") }),
    /^Error: Cannot use .*rsa\.pub: it contains no PEM certificate; set --cluster-signing-cert-file to/,
  ],
  [
    "a key of another certificate",
    (file) => readServingFiles({ certificate: file("leaf.crt"), key: file("other.key") }),
    /leaf\.crt with .*other\.key: the private key does not match the certificate; set/,
  ],
  [
    "a certificate for a key",
    (file) => readServingFiles({ certificate: file("leaf.crt"), key: file("leaf.crt") }),
    /leaf\.crt: it contains no unencrypted PEM private key; .*--tls-private-key-file/,
  ],
  [
    "a key for a certificate",
    (file) => readServingFiles({ certificate: file("leaf.key"), key: file("leaf.key") }),
    /leaf\.key: it contains no PEM certificate; .*--tls-cert-file/,
  ],
  [
    "no file",
    (file) => readServingFiles({ certificate: file("none"), key: file("leaf.key") }),
    /Cannot read .*none: the file does not exist; .*--tls-cert-file/,
  ],
  [
    "a bundle that has none",
    (file) => readAuthorities(file("leaf.key"), "--client-ca-file"),
    /leaf\.key: it contains no PEM certificate; .*--client-ca-file/,
  ],
  [
    "a bundle with a broken one",
    (file) => readAuthorities(file("broken.crt"), "--requestheader-client-ca-file"),
    /broken\.crt: x509: malformed certificate; .*--requestheader-client-ca-file/,
  ],
  [
    "a public key to sign with",
    (file) => readSigningKey(file("rsa.pub")),
    /rsa\.pub: it contains no unencrypted PEM private key; .*--service-account-signing-key-file/,
  ],
  [
    "no key to check with",
    (file) => readVerifyingKeys([file("rsa.pub"), file("none")]),
    /Cannot read .*none: the file does not exist; .*--service-account-key-file/,
  ],
];

for (const [what, read, message] of REFUSED) {
  test(`${what} is rejected in one sentence with the file and the flag`, async () => {
    await using files = await given();
    await rejects(read(files.file), message);
  });
}
