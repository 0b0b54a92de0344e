/**
 * Parses the certificate extensions that Go knows. Usages and key identifiers are returned; constraints, policies and access information
 * are only validated. Not here: alternative names (alternative-names.ts).
 */
import { quoteGo } from "../codec/go-text.ts";
import { parseIp } from "../ip/ip-address.ts";
import { isDomainName } from "./alternative-names.ts";
import { DerReader, explicitTag, implicitTag, TAG } from "./der.ts";
import { refuse } from "./error.ts";
import { isAscii, latin1 } from "./strings.ts";

interface ExtensionOptions {
  readonly critical: boolean;
}

/** Their object identifiers. */
export const EXTENSION = {
  subjectKeyIdentifier: "2.5.29.14",
  keyUsage: "2.5.29.15",
  basicConstraints: "2.5.29.19",
  authorityKeyIdentifier: "2.5.29.35",
  extendedKeyUsage: "2.5.29.37",
} as const;

/** In the order of their bits. */
export const KEY_USAGES = [
  "digitalSignature",
  "contentCommitment",
  "keyEncipherment",
  "dataEncipherment",
  "keyAgreement",
  "certSign",
  "crlSign",
  "encipherOnly",
  "decipherOnly",
] as const;

export type KeyUsage = (typeof KEY_USAGES)[number];

/** Extended key usages of TLS; "any" covers both and everything else. */
export const PURPOSE = { server: "1.3.6.1.5.5.7.3.1", client: "1.3.6.1.5.5.7.3.2", any: "2.5.29.37.0" } as const;

/** Extensions whose content is used. */
export const readers = {
  isAuthority: readBasicConstraints,
  keyUsages: readKeyUsages,
  extendedKeyUsages: readExtendedKeyUsages,
  subjectKeyIdentifier: readSubjectKeyIdentifier,
  authorityKeyIdentifier: readAuthorityKeyIdentifier,
} as const;

/** `false`: it has a part that Go does not know, either. */
type Check = (value: DerReader, options: ExtensionOptions) => unknown;

const CHECKS: ReadonlyMap<string, Check> = new Map<string, Check>([
  ["2.5.29.30", checkNameConstraints],
  ["2.5.29.31", checkDistributionPoints],
  ["2.5.29.32", checkPolicies],
  ["2.5.29.33", checkPolicyMappings],
  ["2.5.29.36", checkPolicyConstraints],
  ["2.5.29.54", (value) => void (readInt64(value) ?? refuse("x509: invalid inhibit any policy extension"))],
  ["1.3.6.1.5.5.7.1.1", checkInformationAccess],
]);

/** True if all of it was understood. Other extensions are unknown. */
export function checkExtension(id: string, value: DerReader, options: ExtensionOptions): boolean {
  const check = CHECKS.get(id);
  return check !== undefined && check(value, options) !== false;
}

function readInt64(reader: DerReader, tag?: number): bigint | undefined {
  const value = reader.integer(tag);
  return value === undefined || BigInt.asIntN(64, value) !== value ? undefined : value;
}

function readSubjectKeyIdentifier(value: DerReader, { critical }: ExtensionOptions): Uint8Array {
  if (critical) refuse("x509: subject key identifier incorrectly marked critical");
  return value.content(TAG.octetString) ?? refuse("x509: invalid subject key identifier");
}

function readAuthorityKeyIdentifier(value: DerReader, { critical }: ExtensionOptions): Uint8Array | undefined {
  if (critical) refuse("x509: authority key identifier incorrectly marked critical");
  const reader = value.inside(TAG.sequence) ?? refuse("x509: invalid authority key identifier");
  if (!reader.isNext(implicitTag(0))) return undefined;
  return reader.any()?.content ?? refuse("x509: invalid authority key identifier");
}

/** Certificate authority; the path length is ignored. */
function readBasicConstraints(value: DerReader): boolean {
  const complain = () => refuse("x509: invalid basic constraints");
  const reader = value.inside(TAG.sequence) ?? complain();
  const isAuthority = reader.isNext(TAG.boolean) ? (reader.boolean() ?? complain()) : false;
  if (reader.isNext(TAG.integer) && (readInt64(reader) ?? -1n) < 0n) complain();
  return isAuthority;
}

function readKeyUsages(value: DerReader): readonly KeyUsage[] {
  const { bytes } = value.bitString() ?? refuse("x509: invalid key usage");
  return KEY_USAGES.filter((_, index) => (((bytes[index >> 3] ?? 0) << (index & 7)) & 0x80) !== 0);
}

function readExtendedKeyUsages(value: DerReader): readonly string[] {
  const complain = () => refuse("x509: invalid extended key usages");
  const reader = value.inside(TAG.sequence) ?? complain();
  const usages: string[] = [];
  while (!reader.isEmpty) usages.push(reader.objectIdentifier() ?? complain());
  return usages;
}

function checkPolicies(value: DerReader): void {
  const complain = () => refuse("x509: invalid certificate policies");
  const reader = value.inside(TAG.sequence) ?? complain();
  const seen = new Set<string>();
  while (!reader.isEmpty) {
    const identifier = reader.inside(TAG.sequence)?.content(TAG.objectIdentifier) ?? complain();
    // Here the numbers may be of any size; only the last byte must end one, and none may have leading zeros.
    const isBroken = identifier.some((byte, index) => byte === 0x80 && (identifier[index - 1] ?? 0) < 0x80);
    const key = latin1(identifier);
    if (seen.has(key) || isBroken || (identifier.at(-1) ?? 0x80) >= 0x80) complain();
    seen.add(key);
  }
}

function checkPolicyMappings(value: DerReader): void {
  const complain = () => refuse("x509: invalid policy mappings extension");
  const reader = value.inside(TAG.sequence) ?? complain();
  while (!reader.isEmpty) {
    const pair = reader.inside(TAG.sequence);
    if (pair?.content(TAG.objectIdentifier) === undefined || pair.content(TAG.objectIdentifier) === undefined) complain();
  }
}

function checkPolicyConstraints(value: DerReader): void {
  const complain = () => refuse("x509: invalid policy constraints extension");
  const reader = value.inside(TAG.sequence) ?? complain();
  for (const tag of [implicitTag(0), implicitTag(1)]) if (reader.isNext(tag) && readInt64(reader, tag) === undefined) complain();
}

function checkDistributionPoints(value: DerReader): void {
  const reader = value.inside(TAG.sequence) ?? refuse("x509: invalid CRL distribution points");
  const complain = () => refuse("x509: invalid CRL distribution point");
  while (!reader.isEmpty) {
    const point = reader.inside(TAG.sequence) ?? complain();
    if (!point.isNext(explicitTag(0))) continue;
    const names = point.inside(explicitTag(0))?.inside(explicitTag(0)) ?? complain();
    while (names.isNext(implicitTag(6))) if (names.any() === undefined) complain();
  }
}

function checkInformationAccess(value: DerReader, { critical }: ExtensionOptions): void {
  if (critical) refuse("x509: authority info access incorrectly marked critical");
  const complain = () => refuse("x509: invalid authority info access");
  const reader = value.inside(TAG.sequence) ?? complain();
  while (!reader.isEmpty) {
    const access = reader.inside(TAG.sequence) ?? complain();
    if (access.objectIdentifier() === undefined) complain();
    if (access.isNext(implicitTag(6)) && access.any() === undefined) complain();
  }
}

function checkNameConstraints(value: DerReader): boolean {
  const complain = () => refuse("x509: invalid NameConstraints extension");
  const reader = value.inside(TAG.sequence) ?? complain();
  if (!value.isEmpty) complain();
  const lists: Uint8Array[] = [];
  for (const tag of [explicitTag(0), explicitTag(1)]) if (reader.isNext(tag)) lists.push(reader.content(tag) ?? complain());
  if (!reader.isEmpty) complain();
  if (lists.every(({ length }) => length === 0)) refuse("x509: empty name constraints extension");
  let isUnderstood = true;
  for (const list of lists) {
    for (const trees = new DerReader(list); !trees.isEmpty;) {
      const { tag, content } = trees.inside(TAG.sequence)?.any() ?? complain();
      checkConstraint(tag, content);
      isUnderstood &&= CONSTRAINED.includes(tag);
    }
  }
  return isUnderstood;
}

const EMAIL = implicitTag(1);
const DNS = implicitTag(2);
const URI = implicitTag(6);
const IP = implicitTag(7);
const CONSTRAINED: readonly number[] = [EMAIL, DNS, URI, IP];

function checkConstraint(tag: number, content: Uint8Array): void {
  if (tag === IP) return checkIpConstraint(content);
  if (tag !== EMAIL && tag !== DNS && tag !== URI) return;
  const name = latin1(content);
  if (!isAscii(content)) refuse(`x509: invalid constraint value: x509: ${quoteBytes(content)} cannot be encoded as an IA5String`);
  // A domain that begins with a dot means its subdomains.
  const isDomain = isDomainName(name.replace(/^\./, ""));
  if (tag === DNS && !isDomain) refuse(`x509: failed to parse dnsName constraint ${quoteGo(name)}`);
  if (tag === EMAIL && !(name.includes("@") ? isMailbox(name) : isDomain)) {
    refuse(`x509: failed to parse rfc822Name constraint ${quoteGo(name)}`);
  }
  if (tag !== URI) return;
  if (parseIp(name) !== undefined) refuse(`x509: failed to parse URI constraint ${quoteGo(name)}: cannot be IP address`);
  if (!isDomain) refuse(`x509: failed to parse URI constraint ${quoteGo(name)}`);
}

/** RFC 2821: a quoted text, or atoms between dots, before the last part. */
function isMailbox(name: string): boolean {
  const [local] =
    /^(?:"(?:[^"\\]|\\.)*"|(?:[-0-9a-zA-Z!#$%&'*+/=?^_`{|}~]|\\.)+(?:\.(?:[-0-9a-zA-Z!#$%&'*+/=?^_`{|}~]|\\.)+)*)@/.exec(name) ?? [];
  return local !== undefined && isDomainName(name.slice(local.length));
}

/** As Go quotes bytes that are not text. */
function quoteBytes(bytes: Uint8Array): string {
  const parts = Array.from(bytes, (byte) => (byte < 0x80 ? quoteGo(String.fromCharCode(byte)).slice(1, -1) : `\\x${byte.toString(16)}`));
  return `"${parts.join("")}"`;
}

/** An address and a contiguous mask. */
function checkIpConstraint(content: Uint8Array): void {
  if (content.length !== 8 && content.length !== 32) refuse(`x509: IP constraint contained value of length ${content.length}`);
  const mask = content.subarray(content.length / 2);
  const bits = Array.from(mask, (byte) => byte.toString(2).padStart(8, "0")).join("");
  const hex = Array.from(mask, (byte) => byte.toString(16).padStart(2, "0")).join("");
  if (!/^1*0*$/.test(bits)) refuse(`x509: IP constraint contained invalid mask ${hex}`);
}
