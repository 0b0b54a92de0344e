/** Retention of a CertificateSigningRequest, with upstream's durations. Pure. */
import { isIssued } from "../../api/certificates.k8s.io/v1/certificate-signing-request/decision.ts";
import type { CertificateSigningRequest } from "../../api/generated/certificates.k8s.io/v1.ts";
import { Base64Error, decodeBase64 } from "../../api/machinery/codec/base64.ts";
import { parseTime } from "../../api/machinery/time.ts";
import { parseCertificates } from "../../api/machinery/x509/certificate.ts";
import { X509Error } from "../../api/machinery/x509/error.ts";
import { pemBlocks } from "../../api/machinery/x509/pem.ts";

const HOUR_MS = 60 * 60 * 1_000;
/** Enough time to fetch the certificate, or to read why none exists. */
const DECIDED_MS = HOUR_MS;
/** An administrator has to decide, or a signer to sign. */
const WAITING_MS = 24 * HOUR_MS;

/** Infinity: never, until it changes. */
export function cleanUpAtMs(request: CertificateSigningRequest): number {
  const conditions = request.status?.conditions ?? [];
  const { creationTimestamp } = request.metadata;
  if (conditions.length === 0) return timeOf(creationTimestamp) + WAITING_MS;
  const times = conditions.map(({ type, lastUpdateTime }) => {
    switch (type) {
      case "Approved":
        return approvedTime(request, timeOf(lastUpdateTime));
      case "Denied":
      case "Failed":
        return timeOf(lastUpdateTime) + DECIDED_MS;
      default:
        return Infinity;
    }
  });
  return Math.min(...times);
}

function approvedTime(request: CertificateSigningRequest, approvedMs: number): number {
  if (!isIssued(request)) return approvedMs + WAITING_MS;
  return Math.min(approvedMs + DECIDED_MS, certificateEndMs(request.status?.certificate ?? ""));
}

/** A missing timestamp counts as never. */
function timeOf(text: string | undefined): number {
  return parseTime(text ?? "") ?? Infinity;
}

/** Expiry of the first certificate; an unreadable one does not expire. */
function certificateEndMs(base64: string): number {
  try {
    const [block] = pemBlocks(decodeBase64(base64));
    const [certificate] = block === undefined ? [] : parseCertificates(block.bytes);
    return certificate?.toMs ?? Infinity;
  } catch (error) {
    if (error instanceof X509Error || error instanceof Base64Error) return Infinity;
    throw error;
  }
}
