/**
 * Setting the certificate or the Failed condition of a CertificateSigningRequest requires the verb `sign` on the signer that the request
 * names, or on all signers of its domain. Equivalent to upstream's plugin of this name.
 */
import { certificateSigningRequests } from "../../../api/certificates.k8s.io/v1/certificate-signing-request.ts";
import type { CertificateSigningRequest } from "../../../api/generated/certificates.k8s.io/v1.ts";
import { quoteGo } from "../../../api/machinery/codec/go-text.ts";
import { forbiddenError } from "../../../api/machinery/status-error.ts";
import { deepEqual } from "../../../base/deep.ts";
import type { AdmissionDependencies, AdmissionPlugin } from "../../framework/admission.ts";
import { isUpdateOf } from "../../shared/admission-request.ts";
import { maySign } from "../../shared/signer-access.ts";

export function certificateSigning({ authorizer }: AdmissionDependencies): AdmissionPlugin {
  return {
    name: "CertificateSigning",

    validate(request) {
      if (!isUpdateOf(request, certificateSigningRequests, "status")) return;
      const { endpoint, object: next, oldObject: previous, context, name } = request;
      if (!isSigned(next, previous)) return;
      const { signerName } = previous.spec;
      if (maySign(authorizer, context.user, { verb: "sign", signerName })) return;
      throw forbiddenError(endpoint.name, name, `user not permitted to sign requests with signerName ${quoteGo(signerName)}`);
    },
  };
}

/** True if a field that only signers may set has changed. */
function isSigned({ status: next = {} }: CertificateSigningRequest, { status: previous = {} }: CertificateSigningRequest): boolean {
  return next.certificate !== previous.certificate || !deepEqual(next.conditions ?? [], previous.conditions ?? []);
}
