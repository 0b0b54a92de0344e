import { deepEqual, equal, notEqual, throws } from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { test } from "node:test";
import { testAuthority } from "../testing/fixtures/certificates.ts";
import { FILE_NAMES, missingFiles, PkiError, type PkiFiles } from "./complete-pki.ts";
import { LEAVES, type LeafKind } from "./leaf-certificates.ts";
import { machineMaker } from "./certificate-issuer.ts";

const NAMES = ["localhost", "127.0.0.1", "::1", "10.96.0.1", "kubernetes.default.svc"];
const NOW = Date.parse("2026-06-01T00:00:00Z");
const DAY_MS = 24 * 60 * 60 * 1000;

function missing(
  files: PkiFiles,
  { names = NAMES, days = 0 }: { readonly names?: readonly string[]; readonly days?: number } = {},
): PkiFiles {
  return missingFiles(files, { maker: machineMaker, servingNames: names, nowMs: NOW + days * DAY_MS });
}

const WHOLE = missing({});

test("from nothing everything is made, and then nothing is missing", () => {
  deepEqual(Object.keys(WHOLE).toSorted(), FILE_NAMES.toSorted());
  deepEqual(missing(WHOLE), {});
  deepEqual(missing(WHOLE, { names: NAMES.slice(1), days: 300 }), {});
});

test("each certificate is of whom it should be, signed by its authority and no other, and lives as long as it should", () => {
  for (const [name, { authority, subject, purpose }] of Object.entries<LeafKind>(LEAVES)) {
    const certificate = new X509Certificate(WHOLE[`${name}.crt`] ?? "");
    const [ours, other] = ["ca", "front-proxy-ca"].map((one) => new X509Certificate(WHOLE[`${one}.crt`] ?? "").publicKey);
    equal(certificate.subject, [...subject.organizations.map((one) => `O=${one}`), `CN=${subject.commonName}`].join("\n"));
    deepEqual(
      [ours, other].map((key) => key !== undefined && certificate.verify(key)),
      [authority === "ca", authority !== "ca"],
    );
    deepEqual(certificate.keyUsage, [purpose === "server" ? "1.3.6.1.5.5.7.3.1" : "1.3.6.1.5.5.7.3.2"]);
    equal(Date.parse(certificate.validTo) - NOW, 365 * DAY_MS);
    equal(Date.parse(certificate.validFrom) < NOW, true);
  }
  equal(Date.parse(new X509Certificate(WHOLE["ca.crt"] ?? "").validTo) - NOW, 3650 * DAY_MS);
});

test("the server's certificate has all names", () => {
  equal(
    new X509Certificate(WHOLE["apiserver.crt"] ?? "").subjectAltName,
    "DNS:localhost, DNS:kubernetes.default.svc, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1, IP Address:10.96.0.1",
  );
});

const GARBAGE = "garbage";
const strange = testAuthority("kubernetes");
const strangeLeaf = strange.sign("kubernetes-admin", { subject: LEAVES.admin.subject });

const REPAIRED: readonly {
  readonly when: string;
  readonly files: PkiFiles;
  readonly made: readonly string[];
  readonly names?: readonly string[];
  readonly days?: number;
}[] = [
  { when: "a certificate is damaged", files: { ...WHOLE, "admin.crt": GARBAGE }, made: ["admin.crt", "admin.key"] },
  { when: "a key is damaged", files: { ...WHOLE, "apiserver.key": GARBAGE }, made: ["apiserver.crt", "apiserver.key"] },
  { when: "a key is missing", files: without("scheduler.key"), made: ["scheduler.crt", "scheduler.key"] },
  { when: "a key is another's", files: { ...WHOLE, "scheduler.key": WHOLE["admin.key"] ?? "" }, made: ["scheduler.crt", "scheduler.key"] },
  {
    when: "a certificate is another's",
    files: { ...WHOLE, "scheduler.crt": WHOLE["admin.crt"] ?? "", "scheduler.key": WHOLE["admin.key"] ?? "" },
    made: ["scheduler.crt", "scheduler.key"],
  },
  {
    when: "a certificate is of another authority of the same name",
    files: { ...WHOLE, "admin.crt": strangeLeaf.certificate, "admin.key": strangeLeaf.key },
    made: ["admin.crt", "admin.key"],
  },
  { when: "a DNS name is missing", files: WHOLE, names: [...NAMES, "other"], made: ["apiserver.crt", "apiserver.key"] },
  { when: "an address is missing", files: WHOLE, names: [...NAMES, "10.0.0.9"], made: ["apiserver.crt", "apiserver.key"] },
  { when: "the public half of the token key is missing", files: without("sa.pub"), made: ["sa.pub"] },
  { when: "the public half of the token key is another's", files: { ...WHOLE, "sa.pub": GARBAGE }, made: ["sa.pub"] },
  { when: "an authority's certificate was not written yet", files: without("ca.crt"), made: ["ca.crt"] },
  { when: "an authority's certificate is damaged", files: { ...WHOLE, "ca.crt": GARBAGE }, made: ["ca.crt"] },
  {
    when: "everything is about to expire",
    files: WHOLE,
    days: 336,
    made: FILE_NAMES.filter((name) => /\.(crt|key)$/.test(name) && !/^(ca|front-proxy-ca|sa)\./.test(name)),
  },
  {
    when: "an authority is about to expire",
    files: WHOLE,
    days: 3621,
    made: FILE_NAMES.filter((name) => !/^(ca\.key|front-proxy-ca\.key|sa\..*)$/.test(name)),
  },
];

function without(name: string): PkiFiles {
  return Object.fromEntries(Object.entries(WHOLE).filter(([other]) => other !== name));
}

for (const { when, files, made, ...options } of REPAIRED) {
  test(`when ${when}, only that is recreated, and certificates signed before stay valid`, () => {
    const written = missing(files, options);

    deepEqual(Object.keys(written).toSorted(), made.toSorted());
    for (const name of made.filter((one) => one !== "sa.pub")) notEqual(written[name], WHOLE[name]);
    deepEqual(missing({ ...files, ...written }, options), {});
    const ca = new X509Certificate(written["ca.crt"] ?? files["ca.crt"] ?? "");
    equal(new X509Certificate(WHOLE["admin.crt"] ?? "").verify(ca.publicKey), true);
  });
}

test("names that another server has put into the certificate stay there", () => {
  const other = { ...WHOLE, ...missing(WHOLE, { names: [...NAMES, "other", "10.0.0.9"] }) };
  const both = { ...other, ...missing(other, { names: [...NAMES, "third"] }) };
  deepEqual(missing(both, { names: ["other", "third", "10.0.0.9"] }), {});
});

test("an external CA signs with its key, also if that is RSA", async () => {
  const { generateKeyPairSync } = await import("node:crypto");
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const pem = privateKey.export({ type: "pkcs8", format: "pem" }) as string;
  const files = { "ca.key": pem };
  const written = missing(files);

  equal(written["ca.key"], undefined);
  const [ca, leaf] = [new X509Certificate(written["ca.crt"] ?? ""), new X509Certificate(written["admin.crt"] ?? "")];
  deepEqual([ca.checkPrivateKey(privateKey), leaf.verify(ca.publicKey)], [true, true]);
  deepEqual(missing({ ...files, ...written }), {});
});

test("an authority without its key will do for as long as nothing is to be signed", () => {
  deepEqual(missing(without("ca.key")), {});
});

const REFUSED: readonly {
  readonly what: string;
  readonly files: PkiFiles;
  readonly file: string;
  readonly message: RegExp;
  readonly days?: number;
}[] = [
  {
    what: "an authority without its key that is to sign",
    files: { "ca.crt": WHOLE["ca.crt"] ?? "" },
    file: "ca.crt",
    message: /^it is required to sign apiserver\.crt, and ca\.key is missing; add the key, or remove ca\.crt to create a new CA$/,
  },
  {
    what: "an authority without its key that ends",
    files: without("ca.key"),
    days: 3640,
    file: "ca.crt",
    message: /^it is about to expire, and ca\.key/,
  },
  {
    what: "an authority that is none and has no key",
    files: { "ca.crt": GARBAGE },
    file: "ca.crt",
    message: /^it contains no certificate, and ca\.key/,
  },
  {
    what: "an authority with the key of another",
    files: { "ca.crt": WHOLE["ca.crt"] ?? "", "ca.key": strange.key },
    file: "ca.key",
    message: /^it does not match ca\.crt; replace it with the right key, or remove both/,
  },
  {
    what: "an authority's key that is none",
    files: { "ca.key": GARBAGE },
    file: "ca.key",
    message: /^it contains no unencrypted PEM private key/,
  },
  {
    what: "a key of tokens that is none",
    files: { ...WHOLE, "sa.key": GARBAGE },
    file: "sa.key",
    message: /^it contains no unencrypted PEM private key/,
  },
  {
    what: "a key of tokens of which only the public half is there",
    files: without("sa.key"),
    file: "sa.pub",
    message: /^sa\.key is missing/,
  },
];

for (const { what, files, file, message, ...options } of REFUSED) {
  test(`${what} is not replaced: a person must decide`, () => {
    throws(
      () => missing(files, options),
      (error) => error instanceof PkiError && error.file === file && message.test(error.message),
    );
  });
}
