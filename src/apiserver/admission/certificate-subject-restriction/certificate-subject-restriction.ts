/**
 * The cluster's own client signer never grants membership of system:masters, which bypasses authorization. Equivalent to upstream's plugin
 * of this name.
 */
import { certificateSigningRequests } from "../../../api/certificates.k8s.io/v1/certificate-signing-request.ts";
import { decodeBase64 } from "../../../api/machinery/codec/base64.ts";
import { forbiddenError } from "../../../api/machinery/status-error.ts";
import { parsePemRequest } from "../../../api/machinery/x509/certificate-request.ts";
import { X509Error } from "../../../api/machinery/x509/error.ts";
import type { AdmissionPlugin, AdmissionRequest } from "../../framework/admission.ts";
import { isCreateOf } from "../../shared/admission-request.ts";
import { MASTERS } from "../../framework/authorization.ts";

const CLIENT_SIGNER = "kubernetes.io/kube-apiserver-client";

export function certificateSubjectRestriction(): AdmissionPlugin {
  return {
    name: "CertificateSubjectRestriction",

    validate(request) {
      if (!isCreateOf(request, certificateSigningRequests)) return;
      const { endpoint, name } = request;
      const { spec } = request.object;
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
