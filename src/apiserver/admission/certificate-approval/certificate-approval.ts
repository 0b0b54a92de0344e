/**
 * Approving or denying a CertificateSigningRequest requires the verb `approve` on the signer that the request names, or on all signers of
 * its domain. Equivalent to upstream's plugin of this name.
 */
import { certificateSigningRequests } from "../../../api/certificates.k8s.io/v1/certificate-signing-request.ts";
import { quoteGo } from "../../../api/machinery/codec/go-text.ts";
import { forbiddenError } from "../../../api/machinery/status-error.ts";
import type { AdmissionDependencies, AdmissionPlugin } from "../../framework/admission.ts";
import { isUpdateOf } from "../../shared/admission-request.ts";
import { maySign } from "../../shared/signer-access.ts";

export function certificateApproval({ authorizer }: AdmissionDependencies): AdmissionPlugin {
  return {
    name: "CertificateApproval",

    validate(request) {
      if (!isUpdateOf(request, certificateSigningRequests, "approval")) return;
      const { endpoint, oldObject, context, name } = request;
      // The signer of the stored object: an approver cannot change it.
      const { signerName } = oldObject.spec;
      if (maySign(authorizer, context.user, { verb: "approve", signerName })) return;
      throw forbiddenError(endpoint.name, name, `user not permitted to approve requests with signerName ${quoteGo(signerName)}`);
    },
  };
}
