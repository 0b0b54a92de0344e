/** Writes of dynamic resource allocation as API requests. Every request carries the uid or the resourceVersion of the decision. */
import { pods } from "../api/core/v1/pod.ts";
import type { Pod } from "../api/generated/core/v1.ts";
import type { ResourceClaim } from "../api/generated/resource.k8s.io/v1.ts";
import { isReason } from "../api/machinery/status-error.ts";
import { resourceClaims } from "../api/resource.k8s.io/v1/resource-claim.ts";
import type { Client, ObjectKey } from "../client/client.ts";
import type { DeviceEffects } from "./framework/device-view.ts";

export interface DeviceEffectsOptions {
  /** A client whose writes resolve when the informers show them; the Pod is their cause. */
  clientFor(pod: Pod, reason: string): Client;
  readonly report: DeviceEffects["report"];
  /** Called after each request to create a claim for extended resources. */
  readonly onCreation?: ((status: "success" | "failure") => void) | undefined;
}

const ALLOCATING = "AllocatingDevices";
const RELEASING = "ReleasingDevices";

export function deviceEffectsOn({ clientFor, report, onCreation = () => {} }: DeviceEffectsOptions): DeviceEffects {
  return {
    getClaim: (claim, pod, signal) => clientFor(pod, ALLOCATING).get(resourceClaims, keyOf(claim), { signal }),
    async createClaim(claim, pod, signal) {
      try {
        const created = await clientFor(pod, ALLOCATING).create(resourceClaims, claim, { signal });
        onCreation("success");
        return created;
      } catch (error) {
        onCreation("failure");
        throw error;
      }
    },
    updateClaim: (claim, pod, signal) => clientFor(pod, ALLOCATING).update(resourceClaims, claim, { signal }),
    updateClaimStatus: (claim, pod, signal) => clientFor(pod, ALLOCATING).updateStatus(resourceClaims, claim, { signal }),

    async unreserveClaim(claim, pod, signal) {
      const reservedFor = [{ $patch: "delete", uid: pod.metadata.uid ?? "" }];
      const value = { metadata: { uid: claim.metadata.uid ?? "" }, status: { reservedFor } };
      const patch = { type: "strategic", value } as const;
      await unlessDeleted(clientFor(pod, RELEASING).patch(resourceClaims, keyOf(claim), patch, { subresource: "status", signal }));
    },

    async deleteClaim(claim, pod, signal) {
      const { uid = "" } = claim.metadata;
      await unlessDeleted(clientFor(pod, RELEASING).delete(resourceClaims, keyOf(claim), { signal, preconditions: { uid } }));
    },

    async setExtendedResourceClaim(pod, extendedResourceClaimStatus, signal) {
      const { namespace, name, uid = "" } = pod.metadata;
      const value = { metadata: { uid }, status: { extendedResourceClaimStatus: { ...extendedResourceClaimStatus } } };
      const patch = { type: "merge", value: JSON.parse(JSON.stringify(value)) } as const;
      await clientFor(pod, ALLOCATING).patch(pods, { namespace, name }, patch, { subresource: "status", signal });
    },

    report,
  };
}

function keyOf({ metadata }: ResourceClaim): ObjectKey {
  return { namespace: metadata.namespace, name: metadata.name };
}

async function unlessDeleted(request: Promise<unknown>): Promise<void> {
  try {
    await request;
  } catch (error) {
    if (!isReason(error, "NotFound")) throw error;
  }
}
