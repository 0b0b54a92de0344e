/**
 * Whoever approves or denies a request for a certificate may do so for the signer whom it names: the right to `approve` that signer, or
 * all of its domain. As upstream's plugin of this name.
 */
import type { CertificateSigningRequest } from "../../../api/generated/certificates.k8s.io/v1.ts";
import { quoteGo } from "../../../api/machinery/codec/go-text.ts";
import { forbiddenError } from "../../../api/machinery/status-error.ts";
import type { AdmissionDependencies, AdmissionPlugin } from "../../framework/admission.ts";
import { isCertificateRequest, maySign } from "../../shared/signer-access.ts";

export function certificateApproval({ authorizer }: AdmissionDependencies): AdmissionPlugin {
  return {
    name: "CertificateApproval",

    validate(request) {
      const { operation, subresource, endpoint, oldObject, context, name } = request;
      if (operation !== "UPDATE" || subresource !== "approval" || !isCertificateRequest(endpoint)) return;
      // That of what is there: whoever approves cannot choose another.
      const { signerName } = (oldObject as CertificateSigningRequest).spec;
      if (maySign(authorizer, context.user, { verb: "approve", signerName })) return;
      throw forbiddenError(endpoint.name, name, `user not permitted to approve requests with signerName ${quoteGo(signerName)}`);
    },
  };
}
