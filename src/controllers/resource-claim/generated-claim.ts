/** The ResourceClaim of a Pod that references a template. Pure. */
import type { Pod } from "../../api/generated/core/v1.ts";
import type { ResourceClaim, ResourceClaimTemplate } from "../../api/generated/resource.k8s.io/v1.ts";
import type { Draft } from "../../client/client.ts";

/** Names the entry of the Pod's `spec.resourceClaims` for which a claim was created. */
export const POD_CLAIM_ANNOTATION = "resource.kubernetes.io/pod-claim-name";

/** Leaves space for a hyphen and five random characters in a name of 63. */
const BASE_LENGTH_MAX = 57;

/** "web-gpu-". Long names are shortened in proportion to their lengths, so that both remain recognizable. */
export function generatedClaimBase(podName: string, claimName: string): string {
  const base = `${podName}-${claimName}-`;
  if (base.length <= BASE_LENGTH_MAX) return base;
  const shortened = (name: string) => name.slice(0, Math.floor((name.length * BASE_LENGTH_MAX) / base.length));
  return `${shortened(podName)}-${shortened(claimName)}`;
}

export function generatedClaim({ metadata: pod }: Pod, claimName: string, { spec }: ResourceClaimTemplate): Draft<ResourceClaim> {
  const { labels, annotations } = spec.metadata ?? {};
  return {
    apiVersion: "resource.k8s.io/v1",
    kind: "ResourceClaim",
    metadata: {
      namespace: pod.namespace ?? "",
      generateName: generatedClaimBase(pod.name, claimName),
      ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: pod.name, uid: pod.uid ?? "", controller: true }],
      annotations: { ...annotations, [POD_CLAIM_ANNOTATION]: claimName },
      ...(labels === undefined ? {} : { labels }),
    },
    spec: spec.spec,
  };
}
