/** Validates the CA bundle of a conversion webhook: PEM certificates, at least one of which can be parsed. */
import { decodeBase64 } from "../../../machinery/codec/base64.ts";
import { checkCertificates } from "../../../machinery/x509/certificate.ts";
import { X509Error } from "../../../machinery/x509/error.ts";
import { pemBlocks } from "../../../machinery/x509/pem.ts";

/** `caBundle` is in base64, as in the definition. */
export function caBundleProblem(caBundle: string): string | undefined {
  const blocks = [...pemBlocks(decodeBase64(caBundle))];
  const problems = blocks
    .filter(({ type, hasHeaders }) => type === "CERTIFICATE" && !hasHeaders)
    .map(({ bytes }) => certificateProblem(bytes));
  if (problems.includes(undefined)) return undefined;
  const problem = problems[0] ?? (blocks.length === 0 ? "unable to parse bytes as PEM block" : "no valid certificate authority data seen");
  return `unable to load root certificates: ${problem}`;
}

function certificateProblem(der: Uint8Array): string | undefined {
  try {
    checkCertificates(der);
    return undefined;
  } catch (error) {
    if (error instanceof X509Error) return `failed to parse certificate: ${error.message}`;
    throw error;
  }
}
