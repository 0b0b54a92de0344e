/**
 * Auto-approves kubelet client certificates if the requestor is authorized: a new node with its bootstrap token (permission "nodeclient"),
 * an existing one renewing its own ("selfnodeclient"). RBAC decides. All other requests wait for an administrator. Not here: signing.
 */
import { subjectAccessReviews } from "../../api/authorization.k8s.io/v1/subject-access-review.ts";
import { certificateSigningRequests } from "../../api/certificates.k8s.io/v1/certificate-signing-request.ts";
import { hasCondition, isIssued, requestOf } from "../../api/certificates.k8s.io/v1/certificate-signing-request/decision.ts";
import { CLUSTER_SIGNER, kubeletClientProblem } from "../../api/certificates.k8s.io/v1/cluster-signers.ts";
import type { CertificateSigningRequest } from "../../api/generated/certificates.k8s.io/v1.ts";
import { parseTime } from "../../api/machinery/time.ts";
import type { Client } from "../../client/client.ts";
import { after, defineController, onChange, watch, type Outcome, type Pass, type WorkKey } from "../runtime/controller.ts";
import { itself } from "../runtime/keys.ts";

const GROUP = "certificates.k8s.io";
const PLURAL = "certificatesigningrequests";

/** There is no event when permissions are granted: a request is checked again when it is twice as old. */
const ASK_AGAIN = { minMs: 1_000, maxMs: 1_000_000 };

export const certificateSigningRequestApprovingController = defineController({
  name: "certificatesigningrequest-approving-controller",
  aliases: ["csrapproving"],
  account: "certificate-controller",
  rules: [
    { apiGroups: [GROUP], resources: [`${PLURAL}/approval`], verbs: ["update"] },
    { apiGroups: [GROUP], resources: ["signers"], resourceNames: [CLUSTER_SIGNER.kubeletClient], verbs: ["approve"] },
    { apiGroups: ["authorization.k8s.io"], resources: ["subjectaccessreviews"], verbs: ["create"] },
  ],
  watches: [watch(certificateSigningRequests, itself)],
  reconcile,
});

/** A permission for such certificates, and the approval message. */
interface Permission {
  readonly subresource: string;
  readonly message: string;
}

const SELF: Permission = {
  subresource: "selfnodeclient",
  message: "Auto approving self kubelet client certificate after SubjectAccessReview.",
};
const NODE: Permission = {
  subresource: "nodeclient",
  message: "Auto approving kubelet client certificate after SubjectAccessReview.",
};

async function reconcile({ name }: WorkKey, { read, write, clock, log }: Pass): Promise<Outcome> {
  const found = read.get(certificateSigningRequests, { name });
  if (found === undefined || isIssued(found) || hasCondition(found, "Approved") || hasCondition(found, "Denied")) return onChange;
  const permissions = permissionsFor(found);
  for (const permission of permissions) {
    if (!(await isAllowed(write, found, permission))) continue;
    await approve(write, found, permission.message);
    return onChange;
  }
  if (permissions.length === 0) return onChange;
  log.debug("Kubelet certificate request not approved: the requestor lacks the permission", {
    tried: permissions.map((one) => one.subresource),
  });
  const ageMs = clock.now() - (parseTime(found.metadata.creationTimestamp ?? "") ?? 0);
  return after(Math.min(Math.max(ageMs, ASK_AGAIN.minMs), ASK_AGAIN.maxMs));
}

/** Any of them suffices; none: it is not a kubelet client certificate. */
export function permissionsFor(object: CertificateSigningRequest): readonly Permission[] {
  const { signerName, usages = [], username } = object.spec;
  if (signerName !== CLUSTER_SIGNER.kubeletClient) return [];
  const request = requestOf(object);
  if (kubeletClientProblem(request, usages) !== undefined) return [];
  return username === request.subject.commonName ? [SELF, NODE] : [NODE];
}

async function isAllowed(write: Client, { spec }: CertificateSigningRequest, { subresource }: Permission): Promise<boolean> {
  const { username: user, uid, groups, extra } = spec;
  const who = {
    ...(user === undefined ? {} : { user }),
    ...(uid === undefined ? {} : { uid }),
    ...(groups === undefined ? {} : { groups }),
    ...(extra === undefined ? {} : { extra }),
  };
  const resourceAttributes = { group: GROUP, version: "*", resource: PLURAL, subresource, verb: "create" };
  const { status } = await write.create(subjectAccessReviews, {
    apiVersion: "authorization.k8s.io/v1",
    kind: "SubjectAccessReview",
    metadata: {},
    spec: { ...who, resourceAttributes },
  });
  return status?.allowed === true;
}

async function approve(write: Client, found: CertificateSigningRequest, message: string): Promise<void> {
  const condition = { type: "Approved", status: "True", reason: "AutoApproved", message };
  const status = { ...found.status, conditions: [...(found.status?.conditions ?? []), condition] };
  await write.update(certificateSigningRequests, { ...found, status }, { subresource: "approval" });
}
