/**
 * certificates.k8s.io/v1beta1 PodCertificateRequest: a kubelet requests a certificate for a Pod from a signer, which answers by the path
 * `status`. The spec is immutable, and so is the status after the answer. Served if the feature gate PodCertificateRequest is on. Not here:
 * who may answer, and the server's time (apiserver/resources/pod-certificate-request).
 */
import type { PodCertificateRequest } from "../../generated/certificates.k8s.io/v1beta1.ts";
import { withMembersOf, withMetadataOf } from "../../changes.ts";
import { formatLabels, nameColumn, textColumn } from "../../machinery/columns.ts";
import { immutable } from "../../machinery/field-error.ts";
import { defineResource } from "../../machinery/resource.ts";
import { deepEqual } from "../../../base/deep.ts";
import { validateNewRequest } from "./pod-certificate-request/validate-new.ts";
import { validateAnswer } from "./pod-certificate-request/validate-answer.ts";
import { EXPIRATION_DEFAULT_SECONDS } from "./signers.ts";

export const podCertificateRequests = defineResource<PodCertificateRequest>({
  kind: "PodCertificateRequest",
  plural: "podcertificaterequests",
  singular: "podcertificaterequest",
  scope: "Namespaced",
  served: [
    {
      group: "certificates.k8s.io",
      version: "v1beta1",
      schema: "io.k8s.api.certificates.v1beta1.PodCertificateRequest",
      defaults: (object) => withDefaults(object as PodCertificateRequest),
    },
  ],
  unconditionalUpdate: false,

  prepareForCreate: (request) => ({ ...request, status: {} }),
  prepareForUpdate: (next, previous) => withMembersOf(next, previous, "status"),

  *validate({ spec }, previous) {
    if (previous === undefined) yield* validateNewRequest(spec);
  },
  *validateUpdate({ spec: next }, { spec: previous }) {
    if (!deepEqual(next, previous)) yield immutable("spec", next);
  },

  subresources: {
    status: {
      of: "object",
      verbs: ["get", "patch", "update"],
      prepareForUpdate: (next, previous) => withMetadataOf(withMembersOf(next, previous, "spec"), previous),
      validateUpdate: validateAnswer,
    },
  },

  selectableFields: {
    "spec.signerName": ({ spec }) => spec.signerName,
    "spec.podName": ({ spec }) => spec.podName,
    "spec.nodeName": ({ spec }) => spec.nodeName,
  },

  columns: [
    nameColumn,
    textColumn("PodName", "Pod that gets the certificate", ({ spec }) => spec.podName),
    textColumn("ServiceAccountName", "Service account of the Pod", ({ spec }) => spec.serviceAccountName),
    textColumn("NodeName", "Node of the Pod", ({ spec }) => spec.nodeName),
    textColumn("SignerName", "Requested signer", ({ spec }) => spec.signerName),
    textColumn("State", "Is the request Pending, Issued, Denied, or Failed?", stateOf),
    textColumn(
      "UnverifiedUserAnnotations",
      "What the author of the Pod passes to the signer",
      ({ spec }) => formatLabels(spec.unverifiedUserAnnotations),
      { priority: 1 },
    ),
  ],
});

function withDefaults(request: PodCertificateRequest): PodCertificateRequest {
  if (request.spec.maxExpirationSeconds !== undefined) return request;
  return { ...request, spec: { ...request.spec, maxExpirationSeconds: EXPIRATION_DEFAULT_SECONDS } };
}

function stateOf({ status }: PodCertificateRequest): string {
  const types = (status?.conditions ?? []).map(({ type }) => type);
  return types.findLast((type) => ["Issued", "Denied", "Failed"].includes(type)) ?? "Pending";
}
