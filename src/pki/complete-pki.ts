/**
 * Computes the missing or expiring files from the existing ones: a pure function, so that every state of a directory is a table row. Valid
 * files are kept. Nothing that clients trust is replaced by something they would not accept: a CA with its key is renewed with that key,
 * and one without is an error, because only a person can decide to create a new CA. Leaf certificates are renewed 30 days before they
 * expire, when they lack a name, or when their CA has changed.
 */
import type { Certificate } from "../api/machinery/x509/certificate.ts";
import { PURPOSE } from "../api/machinery/x509/extensions.ts";
import { pemText } from "../api/machinery/x509/pem.ts";
import type { Signer } from "../base/crypto/signing.ts";
import { firstCertificate, makeAuthority, makeLeaf, namesOf, type CertificateMaker, type SigningAuthority } from "./certificates.ts";
import { AUTHORITIES, LEAF_NAMES, LEAVES, type AuthorityName, type LeafKind, type LeafName } from "./leaf-certificates.ts";

/** Texts by file name: "ca.crt". */
export type PkiFiles = Readonly<Record<string, string>>;

export interface CompleteOptions {
  readonly maker: CertificateMaker;
  /** DNS names and IP addresses by which clients reach the server. */
  readonly servingNames: readonly string[];
  readonly nowMs: number;
}

const DAY_MS = 24 * 60 * 60 * 1000;
/** Certificates are renewed this long before they expire: time enough to notice failures. */
export const RENEW_BEFORE_MS = 30 * DAY_MS;

/** Names of other servers that share the files are kept in the serving certificate; more than these would be outdated. */
const OTHER_NAMES_MAX = 50;

/** The files cannot be used; the message has the remedy, `file` is the name of the offending file. */
export class PkiError extends Error {
  override readonly name = "PkiError";
  readonly file: string;

  constructor(file: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.file = file;
  }
}

/** Like `work`, with the file's path in errors. */
export function namingFiles<T>(pathOf: (file: string) => string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw error instanceof PkiError ? new Error(`Cannot use ${pathOf(error.file)}: ${error.message}`, { cause: error }) : error;
  }
}

/** All file names. */
export const FILE_NAMES: readonly string[] = [
  ...[...Object.keys(AUTHORITIES), ...LEAF_NAMES].flatMap((name) => [`${name}.key`, `${name}.crt`]),
  "sa.key",
  "sa.pub",
];

/** Files to write; empty if all are valid. Throws PkiError. */
export function missingFiles(files: PkiFiles, options: CompleteOptions): PkiFiles {
  const made: Record<string, string> = {};
  for (const name of Object.keys(AUTHORITIES) as AuthorityName[]) Object.assign(made, authorityFiles(name, files, options));
  const all = { ...files, ...made };
  const authorities = signingAuthorities(all, options.maker);
  for (const name of LEAF_NAMES) Object.assign(made, leafFiles(name, all, authorities, options));
  return { ...made, ...serviceAccountFiles(files, options) };
}

/** `what` is to be signed: "admin.crt". */
type Authorities = (name: AuthorityName, what: string) => SigningAuthority;

/** Parsed on demand, once. */
function signingAuthorities(files: PkiFiles, maker: CertificateMaker): Authorities {
  const known = new Map<AuthorityName, SigningAuthority>();
  return (name, what) => {
    const authority = known.get(name) ?? signingAuthority(name, what, files, maker);
    known.set(name, authority);
    return authority;
  };
}

function authorityFiles(name: AuthorityName, files: PkiFiles, { maker, nowMs }: CompleteOptions): PkiFiles {
  const [key, certificate] = [files[`${name}.key`], firstCertificate(files[`${name}.crt`])];
  if (certificate !== undefined && certificate.toMs - nowMs >= RENEW_BEFORE_MS) {
    // Without its key it can still be trusted; only signing needs the key (see signingAuthority).
    return {};
  }
  if (key === undefined && files[`${name}.crt`] !== undefined)
    throw lostKey(name, certificate === undefined ? "contains no certificate" : "is about to expire");
  const commonName = certificate?.subject.commonName ?? AUTHORITIES[name].commonName;
  const privateKey = key === undefined ? maker.newKey() : { pem: key, signer: readKey(`${name}.key`, key, maker) };
  const made = makeAuthority(commonName, privateKey, maker, nowMs);
  return { ...(key === undefined ? { [`${name}.key`]: made.key } : {}), [`${name}.crt`]: made.certificate };
}

function lostKey(name: AuthorityName, why: string): PkiError {
  return new PkiError(`${name}.crt`, `it ${why}, and ${name}.key is missing; add the key, or remove ${name}.crt to create a new CA`);
}

function readKey(file: string, pem: string, maker: CertificateMaker): Signer {
  try {
    return maker.readKey(pem);
  } catch (error) {
    throw new PkiError(
      file,
      `${(error as Error).message}; replace it with the right key, or remove the file and the certificates issued with it`,
      {
        cause: error,
      },
    );
  }
}

function leafFiles(name: LeafName, files: PkiFiles, authorities: Authorities, options: CompleteOptions): PkiFiles {
  const { authority, subject, purpose }: LeafKind = LEAVES[name];
  const wanted = purpose === "server" ? options.servingNames : [];
  const present = firstCertificate(files[`${name}.crt`]);
  if (present !== undefined && isGoodLeaf(name, present, files, { ...options, servingNames: wanted })) return {};
  const names = [...new Set([...wanted, ...(purpose === "server" ? otherNames(present) : [])])];
  const made = makeLeaf({ subject, purpose, names }, authorities(authority, `${name}.crt`), options.maker, options.nowMs);
  return { [`${name}.key`]: made.key, [`${name}.crt`]: made.certificate };
}

function otherNames(present: Certificate | undefined): readonly string[] {
  return present === undefined ? [] : namesOf(present).slice(0, OTHER_NAMES_MAX);
}

function isGoodLeaf(name: LeafName, leaf: Certificate, files: PkiFiles, { maker, servingNames, nowMs }: CompleteOptions): boolean {
  const { authority, subject, purpose }: LeafKind = LEAVES[name];
  const names = namesOf(leaf);
  const isWhoItShouldBe =
    purpose === "server" ||
    (leaf.subject.commonName === subject.commonName && leaf.subject.organizations.join() === subject.organizations.join());
  return (
    isWhoItShouldBe &&
    leaf.fromMs <= nowMs &&
    leaf.toMs - nowMs >= RENEW_BEFORE_MS &&
    servingNames.every((wanted) => names.includes(wanted)) &&
    leaf.extendedKeyUsages?.includes(PURPOSE[purpose]) !== false &&
    isKeyOf(leaf, files[`${name}.key`], maker) &&
    maker.isSignedBy(files[`${name}.crt`] ?? "", files[`${authority}.crt`] ?? "")
  );
}

function isKeyOf({ publicKeyInfo }: Certificate, pem: string | undefined, maker: CertificateMaker): boolean {
  if (pem === undefined) return false;
  try {
    return isSame(maker.readKey(pem).publicKey, publicKeyInfo);
  } catch {
    return false;
  }
}

function isSame(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && left.every((byte, index) => byte === right[index]);
}

/** Throws PkiError if the key is missing. */
export function signingAuthority(name: AuthorityName, what: string, files: PkiFiles, maker: CertificateMaker): SigningAuthority {
  const [certificate, key] = [firstCertificate(files[`${name}.crt`]), files[`${name}.key`]];
  if (certificate === undefined || key === undefined) throw lostKey(name, `is required to sign ${what}`);
  const signer = readKey(`${name}.key`, key, maker);
  if (isSame(signer.publicKey, certificate.publicKeyInfo)) return { certificate, signer };
  throw new PkiError(`${name}.key`, `it does not match ${name}.crt; replace it with the right key, or remove both to create a new CA`);
}

/** Signs tokens for the lifetime of the cluster, so it is never replaced. */
function serviceAccountFiles(files: PkiFiles, { maker }: CompleteOptions): PkiFiles {
  const { "sa.key": key, "sa.pub": publicKey } = files;
  if (key === undefined && publicKey !== undefined) {
    throw new PkiError("sa.pub", "sa.key is missing; add the key, or remove sa.pub, which invalidates all tokens signed with that key");
  }
  const { pem, signer } = key === undefined ? maker.newKey() : { pem: key, signer: readKey("sa.key", key, maker) };
  const expected = pemText("PUBLIC KEY", signer.publicKey);
  return { ...(key === undefined ? { "sa.key": pem } : {}), ...(publicKey?.trim() === expected.trim() ? {} : { "sa.pub": expected }) };
}
