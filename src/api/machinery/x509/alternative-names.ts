/** Subject alternative names of a certificate. */
import { quoteGo } from "../codec/go-text.ts";
import { parseGoUrl, UrlError } from "../go-url.ts";
import { DerReader, TAG } from "./der.ts";
import { refuse } from "./error.ts";
import { isAscii, latin1 } from "./strings.ts";

export const SUBJECT_ALTERNATIVE_NAME = "2.5.29.17";

export interface AlternativeNames {
  readonly dnsNames: readonly string[];
  readonly emailAddresses: readonly string[];
  /** Of 4 or 16 bytes. */
  readonly ipAddresses: readonly Uint8Array[];
  readonly uris: readonly string[];
}

export const NO_ALTERNATIVE_NAMES: AlternativeNames = { dnsNames: [], emailAddresses: [], ipAddresses: [], uris: [] };

/** Tags of the elements that are names. */
const EMAIL = 0x81;
const DNS = 0x82;
const URI = 0x86;
const IP = 0x87;

export function readAlternativeNames(extension: Uint8Array): AlternativeNames {
  const names = { dnsNames: [] as string[], emailAddresses: [] as string[], ipAddresses: [] as Uint8Array[], uris: [] as string[] };
  const reader = new DerReader(extension).inside(TAG.sequence) ?? refuse("x509: invalid subject alternative names");
  while (!reader.isEmpty) {
    const { tag, content } = reader.any() ?? refuse("x509: invalid subject alternative name");
    if (tag === EMAIL) names.emailAddresses.push(readAscii(content, "rfc822Name"));
    else if (tag === DNS) names.dnsNames.push(readAscii(content, "dNSName"));
    else if (tag === URI) names.uris.push(readUri(readAscii(content, "uniformResourceIdentifier")));
    else if (tag === IP) names.ipAddresses.push(readIp(content));
  }
  return names;
}

function readAscii(bytes: Uint8Array, what: string): string {
  return isAscii(bytes) ? latin1(bytes) : refuse(`x509: SAN ${what} is malformed`);
}

function readUri(text: string): string {
  const complain = (why: string) => refuse(`x509: cannot parse URI ${quoteGo(text)}: ${why}`);
  try {
    return isDomainName(parseGoUrl(text).host) ? text : complain("invalid domain");
  } catch (error) {
    if (error instanceof UrlError) return complain(error.message);
    throw error;
  }
}

function readIp(bytes: Uint8Array): Uint8Array {
  return bytes.length === 4 || bytes.length === 16 ? bytes : refuse(`x509: cannot parse IP address of length ${bytes.length}`);
}

/** Labels of printable characters, separated by dots. Empty counts as one. */
export function isDomainName(name: string): boolean {
  return name === "" || /^[!-\-/-~]+(?:\.[!-\-/-~]+)*$/.test(name);
}
