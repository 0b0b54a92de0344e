/** Translates the API's key usages to X.509. */
import type { KeyUsage } from "../../api/machinery/x509/extensions.ts";

const KEY_USAGES: ReadonlyMap<string, KeyUsage> = new Map<string, KeyUsage>([
  ["signing", "digitalSignature"],
  ["digital signature", "digitalSignature"],
  ["content commitment", "contentCommitment"],
  ["key encipherment", "keyEncipherment"],
  ["key agreement", "keyAgreement"],
  ["data encipherment", "dataEncipherment"],
  ["cert sign", "certSign"],
  ["crl sign", "crlSign"],
  ["encipher only", "encipherOnly"],
  ["decipher only", "decipherOnly"],
]);

/** Object identifiers, in the order in which Go writes them. */
const EXTENDED_KEY_USAGES: ReadonlyMap<string, string> = new Map([
  ["any", "2.5.29.37.0"],
  ["server auth", "1.3.6.1.5.5.7.3.1"],
  ["client auth", "1.3.6.1.5.5.7.3.2"],
  ["code signing", "1.3.6.1.5.5.7.3.3"],
  ["email protection", "1.3.6.1.5.5.7.3.4"],
  ["s/mime", "1.3.6.1.5.5.7.3.4"],
  ["ipsec end system", "1.3.6.1.5.5.7.3.5"],
  ["ipsec tunnel", "1.3.6.1.5.5.7.3.6"],
  ["ipsec user", "1.3.6.1.5.5.7.3.7"],
  ["timestamping", "1.3.6.1.5.5.7.3.8"],
  ["ocsp signing", "1.3.6.1.5.5.7.3.9"],
  ["microsoft sgc", "1.3.6.1.4.1.311.10.3.3"],
  ["netscape sgc", "2.16.840.1.113730.4.1"],
]);

export interface CertificateUsages {
  readonly keyUsages: readonly KeyUsage[];
  /** Object identifiers. */
  readonly extendedKeyUsages: readonly string[];
}

/** Each once. Throws if one is unknown: validation rejects such requests. */
export function certificateUsages(usages: readonly string[]): CertificateUsages {
  const unknown = usages.filter((usage) => !KEY_USAGES.has(usage) && !EXTENDED_KEY_USAGES.has(usage));
  if (unknown.length > 0)
    throw new Error(`Cannot sign a certificate for ${unknown.map((usage) => `"${usage}"`).join(", ")}: unknown usage`);
  const extended = [...EXTENDED_KEY_USAGES].flatMap(([usage, identifier]) => (usages.includes(usage) ? [identifier] : []));
  return {
    keyUsages: [...new Set(usages.flatMap((usage) => KEY_USAGES.get(usage) ?? []))],
    extendedKeyUsages: [...new Set(extended)],
  };
}
