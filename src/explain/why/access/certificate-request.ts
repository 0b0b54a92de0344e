/** A CertificateSigningRequest without a certificate: not approved, denied, failed, or not signed. */
import { conditionOf, defineExplainer, found, nameOf, type Finding } from "../explainer.ts";

export const certificateRequest = defineExplainer({
  resources: ["certificatesigningrequests.certificates.k8s.io"],
  explain(object, subject) {
    const text = `${nameOf(subject)} has no certificate`;
    for (const [type, root] of [
      ["Denied", "Denied"],
      ["Failed", "SigningFailed"],
    ] as const) {
      const condition = conditionOf(object, type);
      if (condition?.status !== "True") continue;
      const said = [condition.reason, condition.message].filter(Boolean).join(": ");
      return found({ text, because: [{ text: `it was marked ${type}${said === "" ? "" : `: ${said}`}`, root }] });
    }
    if (object.status?.certificate) return undefined;
    if (conditionOf(object, "Approved")?.status !== "True")
      return found({ text, because: [{ text: "it was neither approved nor denied", root: "NotApproved" }] });
    const signer = String(object.spec.signerName);
    const cause: Finding = signer.startsWith("kubernetes.io/")
      ? { text: `the signer ${signer} of the controller manager has not signed it yet`, isUnknown: true }
      : {
          text: `the signer ${signer} has not signed it; it is not part of Kubernetes, and whether its controller runs is not known`,
          root: "NotSigned",
        };
    return found({ text, because: [cause] });
  },
});
