/**
 * The cluster's own client signer never grants membership of system:masters, which bypasses authorization. Equivalent to upstream's plugin
 * of this name.
 */
import type { CertificateSigningRequest } from "../../../api/generated/certificates.k8s.io/v1.ts";
import { decodeBase64 } from "../../../api/machinery/codec/base64.ts";
import { forbiddenError } from "../../../api/machinery/status-error.ts";
import { parsePemRequest } from "../../../api/machinery/x509/certificate-request.ts";
import { X509Error } from "../../../api/machinery/x509/error.ts";
import type { AdmissionPlugin, AdmissionRequest } from "../../framework/admission.ts";
import { isCertificateRequest } from "../../shared/signer-access.ts";
import { MASTERS } from "../../framework/authorization.ts";

const CLIENT_SIGNER = "kubernetes.io/kube-apiserver-client";

export function certificateSubjectRestriction(): AdmissionPlugin {
  return {
    name: "CertificateSubjectRestriction",

    validate(request) {
      const { operation, subresource, endpoint, object, name } = request;
      if (operation !== "CREATE" || subresource !== "" || !isCertificateRequest(endpoint)) return;
      const { spec } = object as CertificateSigningRequest;
      if (spec.signerName !== CLIENT_SIGNER || !groupsOf(request, spec.request ?? "").includes(MASTERS)) return;
      throw forbiddenError(endpoint.name, name, `use of ${CLIENT_SIGNER} signer with ${MASTERS} group is not allowed`);
    },
  };
}

function groupsOf({ endpoint, name }: AdmissionRequest, base64: string): readonly string[] {
  try {
    return parsePemRequest(decodeBase64(base64)).subject.organizations;
  } catch (error) {
    if (error instanceof X509Error) throw forbiddenError(endpoint.name, name, `failed to parse CSR: ${error.message}`);
    throw error;
  }
}
