/**
 * Warnings about a TLS Secret: parts without a PEM block of the right type, often because the two were swapped. Upstream also validates
 * their contents, and whether they match.
 */
import { decodeBase64 } from "../../../machinery/codec/base64.ts";
import { pemBlocks } from "../../../machinery/x509/pem.ts";

/**
 * Maximum length that is searched: a certificate chain has a few thousand characters; more would only cost time. A multiple of 4: whole
 * base64.
 */
const READ_MAX_CHARACTERS = 100_000;

export function* tlsWarnings(certificate: string, key: string): Iterable<string> {
  const wrong = wrongWithCertificate(blockTypes(certificate)) ?? wrongWithKey(blockTypes(key));
  if (wrong !== undefined) yield `tls: ${wrong}`;
}

function wrongWithCertificate(types: readonly string[]): string | undefined {
  if (types.includes("CERTIFICATE")) return undefined;
  if (types.length === 0) return "failed to find any PEM data in certificate input";
  if (types.length === 1 && types[0]?.endsWith("PRIVATE KEY")) {
    return "failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may have been switched";
  }
  return `failed to find "CERTIFICATE" PEM block in certificate input after skipping PEM blocks of the following types: [${types.join(" ")}]`;
}

function wrongWithKey(types: readonly string[]): string | undefined {
  if (types.some((type) => type === "PRIVATE KEY" || type.endsWith(" PRIVATE KEY"))) return undefined;
  if (types.length === 0) return "failed to find any PEM data in key input";
  if (types.length === 1 && types[0] === "CERTIFICATE") return "found a certificate rather than a key in the PEM for the private key";
  return `failed to find PEM block with type ending in "PRIVATE KEY" in key input after skipping PEM blocks of the following types: [${types.join(" ")}]`;
}

function blockTypes(base64: string): readonly string[] {
  return [...pemBlocks(decodeBase64(base64.slice(0, READ_MAX_CHARACTERS)))].map(({ type }) => type);
}
