/** The state of a CertificateSigningRequest, by its conditions and its certificate. */
import type { CertificateSigningRequest } from "../../../generated/certificates.k8s.io/v1.ts";
import { decodeBase64 } from "../../../machinery/codec/base64.ts";
import { parsePemRequest, type CertificateRequest } from "../../../machinery/x509/certificate-request.ts";

/** Whatever the status of the condition: such conditions exist only if something has happened. */
export function hasCondition({ status }: CertificateSigningRequest, type: "Approved" | "Denied"): boolean {
  return status?.conditions?.some((condition) => condition.type === type) ?? false;
}

export function isApproved(request: CertificateSigningRequest): boolean {
  return hasCondition(request, "Approved") && !hasCondition(request, "Denied");
}

export function isFailed({ status }: CertificateSigningRequest): boolean {
  return status?.conditions?.some((condition) => condition.type === "Failed" && condition.status === "True") ?? false;
}

export function isIssued({ status }: CertificateSigningRequest): boolean {
  return (status?.certificate ?? "") !== "";
}

/** Parses the request. Throws X509Error, which validation rules out for stored objects. */
export function requestOf({ spec }: CertificateSigningRequest): CertificateRequest {
  return parsePemRequest(decodeBase64(spec.request ?? ""));
}
