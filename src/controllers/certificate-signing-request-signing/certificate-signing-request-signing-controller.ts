/**
 * Signs approved requests of the four built-in signers; other signers have their own controllers. A request that the signer rejects fails
 * permanently, with the reason in a condition. Not here: the rules of each signer (api/certificates.k8s.io/v1/cluster-signers.ts).
 */
import { certificateSigningRequests } from "../../api/certificates.k8s.io/v1/certificate-signing-request.ts";
import { isApproved, isFailed, isIssued, requestOf } from "../../api/certificates.k8s.io/v1/certificate-signing-request/decision.ts";
import { CLUSTER_SIGNERS, signerProblem } from "../../api/certificates.k8s.io/v1/cluster-signers.ts";
import type { CertificateSigningRequest, CertificateSigningRequestStatus } from "../../api/generated/certificates.k8s.io/v1.ts";
import { encodeBase64 } from "../../api/machinery/codec/base64.ts";
import { formatTime } from "../../api/machinery/time.ts";
import { defineController, onChange, watch, type Controller, type Pass, type Reconcile } from "../runtime/controller.ts";
import { itself } from "../runtime/keys.ts";
import { durationOf, issueCertificate, type SigningAuthority } from "./issue-certificate.ts";

export interface SigningSettings {
  /** Absent: nothing is signed. */
  readonly signing?: SigningAuthority & {
    /** Maximum lifetime of issued certificates. Default: a year. */
    readonly durationMs?: number;
  };
}

export const SIGNING_DURATION_DEFAULT_MS = 365 * 24 * 60 * 60 * 1_000;

const GROUP = "certificates.k8s.io";

export function certificateSigningRequestSigningController({ signing }: SigningSettings): Controller {
  return defineController({
    name: "certificatesigningrequest-signing-controller",
    aliases: ["csrsigning"],
    account: "certificate-controller",
    rules: [
      { apiGroups: [GROUP], resources: ["certificatesigningrequests/status"], verbs: ["update"] },
      { apiGroups: [GROUP], resources: ["signers"], resourceNames: [...CLUSTER_SIGNERS], verbs: ["sign"] },
    ],
    watches: [watch(certificateSigningRequests, itself)],
    start({ log }) {
      if (signing !== undefined) return signApproved(signing);
      log.info("CertificateSigningRequests are not signed: no CA certificate and key are configured");
      return () => Promise.resolve(onChange);
    },
  });
}

function signApproved(signing: NonNullable<SigningSettings["signing"]>): Reconcile {
  return async ({ name }, pass) => {
    const found = pass.read.get(certificateSigningRequests, { name });
    if (found === undefined || isIssued(found) || !isApproved(found) || isFailed(found)) return onChange;
    const outcome = judge(found, signing, pass);
    if (outcome !== undefined) {
      await pass.write.updateStatus(certificateSigningRequests, { ...found, status: { ...found.status, ...outcome } });
    }
    return onChange;
  };
}

/** The new status: a certificate, or the failure. Undefined: another signer's request. */
function judge(
  found: CertificateSigningRequest,
  { durationMs = SIGNING_DURATION_DEFAULT_MS, ...authority }: NonNullable<SigningSettings["signing"]>,
  { clock, random }: Pick<Pass, "clock" | "random">,
): CertificateSigningRequestStatus | undefined {
  const { usages = [], expirationSeconds, signerName } = found.spec;
  const signer = CLUSTER_SIGNERS.find((one) => one === signerName);
  if (signer === undefined) return undefined;
  const request = requestOf(found);
  const problem = signerProblem(signer, request, usages);
  if (problem !== undefined) {
    const said = { type: "Failed", status: "True", reason: "SignerValidationFailure", message: problem };
    return { conditions: [...(found.status?.conditions ?? []), { ...said, lastUpdateTime: formatTime(clock.now()) }] };
  }
  const wanted = { request, usages, durationMs: durationOf(expirationSeconds, durationMs) };
  const pem = issueCertificate(wanted, authority, clock.now(), random);
  return { certificate: encodeBase64(new TextEncoder().encode(pem)) };
}
