/**
 * An answer to a PodCertificateRequest needs the verb `sign` on its signer, and its certificate must be valid from about now on. Both are
 * checked after everything that the object alone shows, as upstream.
 */
import { answerOf, validateAnswer } from "../../../api/certificates.k8s.io/v1beta1/pod-certificate-request/validate-answer.ts";
import type { PodCertificateRequest } from "../../../api/generated/certificates.k8s.io/v1beta1.ts";
import { quoteGo } from "../../../api/machinery/codec/go-text.ts";
import { forbidden, invalid, type FieldError } from "../../../api/machinery/field-error.ts";
import { parseTime } from "../../../api/machinery/time.ts";
import { deepEqual } from "../../../base/deep.ts";
import type { ExtensionFactory } from "../../framework/server-context.ts";
import { maySign } from "../../shared/signer-access.ts";

/** Tolerated difference between the clocks of signer and server. */
const CLOCK_SKEW_MAX_MS = 300_000;

export const podCertificateRequestExtension: ExtensionFactory = ({ authorizer, clock }) => ({
  group: "certificates.k8s.io",
  plural: "podcertificaterequests",
  async validate({ object, previous: before, subresource, request: { context } }): Promise<Iterable<FieldError>> {
    const [next, previous] = [object as PodCertificateRequest, before as PodCertificateRequest | undefined];
    if (subresource !== "status" || previous === undefined || deepEqual(next.status ?? {}, previous.status ?? {})) return [];
    // Reported by the kind's own validation.
    for (const _wrong of validateAnswer(next, previous)) return [];
    const { notBefore = "" } = next.status ?? {};
    if (answerOf(next.status) === "Issued" && Math.abs((parseTime(notBefore) ?? 0) - clock.now()) >= CLOCK_SKEW_MAX_MS) {
      return [invalid("status.notBefore", notBefore, "must be set to within 5 minutes of kube-apiserver's current time")];
    }
    const { signerName } = previous.spec;
    if (maySign(authorizer, context.user, { verb: "sign", signerName })) return [];
    const who = `User ${quoteGo(context.user.name)} is not permitted to "sign" for signer ${quoteGo(signerName)}`;
    return [forbidden("spec.signerName", who)];
  },
});
