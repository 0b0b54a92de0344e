/**
 * Approving or denying a CertificateSigningRequest requires the verb `approve` on the signer that the request names, or on all signers of
 * its domain. Equivalent to upstream's plugin of this name.
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
      // The signer of the stored object: an approver cannot change it.
      const { signerName } = (oldObject as CertificateSigningRequest).spec;
      if (maySign(authorizer, context.user, { verb: "approve", signerName })) return;
      throw forbiddenError(endpoint.name, name, `user not permitted to approve requests with signerName ${quoteGo(signerName)}`);
    },
  };
}
