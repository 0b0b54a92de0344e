/**
 * certificates.k8s.io/v1 CertificateSigningRequest: requests a certificate for a key from a signer. The server records the requester; an
 * approver approves or denies by the path `approval`, and the signer issues the certificate by the path `status`. The spec is immutable.
 * Validation is in certificate-signing-request/.
 */
import type { CertificateSigningRequest, CertificateSigningRequestSpec } from "../../generated/certificates.k8s.io/v1.ts";
import { withMembersOf } from "../../changes.ts";
import { ageColumn, nameColumn, NONE, orNone, textColumn } from "../../machinery/columns.ts";
import { humanDuration } from "../../machinery/duration.ts";
import { validatePathSegmentName } from "../../machinery/names.ts";
import { defineResource, type WriteContext } from "../../machinery/resource.ts";
import { defined } from "../../members.ts";
import { conditionsAfter, withKeptDecisions, withTimes } from "./certificate-signing-request/conditions.ts";
import { validateRequest, validateRequestChange } from "./certificate-signing-request/validate.ts";

export const certificateSigningRequests = defineResource<CertificateSigningRequest>({
  kind: "CertificateSigningRequest",
  plural: "certificatesigningrequests",
  singular: "certificatesigningrequest",
  shortNames: ["csr"],
  scope: "Cluster",
  served: [{ group: "certificates.k8s.io", version: "v1", schema: "io.k8s.api.certificates.v1.CertificateSigningRequest" }],

  prepareForCreate: (request, { user }) => ({ ...request, spec: withRequestor(request.spec, user), status: {} }),
  prepareForUpdate: (next, previous) => withMembersOf(next, previous, "spec", "status"),

  validateName: validatePathSegmentName,
  validate: validateRequest,

  ignoredFields: [["spec"], ["status"]],
  subresources: {
    approval: {
      of: "object",
      verbs: ["get", "patch", "update"],
      ignoredFields: [["spec"], ["status", "certificate"]],
      prepareForUpdate: (next, previous, { nowMs }) => {
        const conditions = withTimes(next.status?.conditions, previous.status?.conditions, nowMs);
        return { ...withMembersOf(next, previous, "spec"), status: conditionsAfter(previous.status, conditions) };
      },
      validateUpdate: (next, previous) => validateRequestChange(next, previous, "approval"),
    },
    status: {
      of: "object",
      verbs: ["get", "patch", "update"],
      ignoredFields: [["spec"], ["status", "conditions"]],
      prepareForUpdate: (next, previous, { nowMs }) => {
        const kept = withKeptDecisions(next.status?.conditions, previous.status?.conditions);
        const conditions = withTimes(kept, previous.status?.conditions, nowMs);
        return { ...withMembersOf(next, previous, "spec"), status: conditionsAfter(next.status, conditions) };
      },
      validateUpdate: (next, previous) => validateRequestChange(next, previous, "status"),
    },
  },

  selectableFields: { "spec.signerName": ({ spec }) => spec.signerName },

  columns: [
    nameColumn,
    ageColumn,
    textColumn("SignerName", "Requested signer", ({ spec }) => orNone(spec.signerName)),
    textColumn("Requestor", "User that created the request", ({ spec }) => spec.username ?? ""),
    textColumn("RequestedDuration", "Requested lifetime of the certificate", ({ spec }) => durationCell(spec)),
    textColumn("Condition", "Approval state, and whether the certificate is issued", conditionCell),
  ],
});

/** The client's own values are ignored. */
function withRequestor(spec: CertificateSigningRequestSpec, user: WriteContext["user"]): CertificateSigningRequestSpec {
  const { request, signerName, expirationSeconds, usages } = spec;
  const { name, uid = "", groups, extra = {} } = user;
  return defined<CertificateSigningRequestSpec>({
    request,
    signerName,
    expirationSeconds,
    usages,
    username: name === "" ? undefined : name,
    uid: uid === "" ? undefined : uid,
    groups: groups.length === 0 ? undefined : groups,
    extra: Object.keys(extra).length === 0 ? undefined : extra,
  });
}

function durationCell({ expirationSeconds }: CertificateSigningRequestSpec): string {
  return expirationSeconds === undefined ? NONE : humanDuration(expirationSeconds * 1_000);
}

function conditionCell({ status = {} }: CertificateSigningRequest): string {
  const types = new Set((status.conditions ?? []).map(({ type }) => type));
  const decision = types.has("Denied") ? "Denied" : types.has("Approved") ? "Approved" : "Pending";
  return [decision, ...(types.has("Failed") ? ["Failed"] : []), ...((status.certificate ?? "") === "" ? [] : ["Issued"])].join(",");
}
