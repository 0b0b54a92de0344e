/**
 * Claims whose driver can grow their volumes only while no Pod uses them. A driver says so by its answer to a call (FAILED_PRECONDITION), and
 * is not called again before the last Pod has ended. Lost with the process: then the driver answers once more.
 */
import { isTerminal } from "../../api/core/v1/pod/readiness.ts";
import { volumeClaimNames } from "../../api/core/v1/pod/references.ts";
import { pods } from "../../api/core/v1/pod.ts";
import type { Pod } from "../../api/generated/core/v1.ts";
import type { ObjectKey } from "../../client/client.ts";
import { defineIndex } from "../../client/informer/index.ts";
import type { Reader } from "../../client/informer/informer.ts";
import type { Change, WorkKey } from "../../controllers/runtime/controller.ts";
import { objectText } from "../../controllers/runtime/keys.ts";

/** By "namespace/name" of the claim. */
const podsOfClaim = defineIndex(pods, (pod) => claimsOf(pod).map(objectText));

export class RefusedClaims {
  readonly #claims = new Set<string>();

  /** The driver refused because of a user. */
  add(claim: ObjectKey): void {
    this.#claims.add(objectText(claim));
  }

  remove(claim: ObjectKey): void {
    this.#claims.delete(objectText(claim));
  }

  /** Whether calling the driver is useless now. */
  mustWait(claim: ObjectKey, read: Reader): boolean {
    return this.#claims.has(objectText(claim)) && isUsed(claim, read);
  }

  /** Claims that a Pod which has ended may have been the last to use. */
  releasedBy({ is, object }: Change<Pod>): readonly WorkKey[] {
    if (this.#claims.size === 0 || (is !== "deleted" && !isTerminal(object))) return [];
    return claimsOf(object).filter((claim) => this.#claims.has(objectText(claim)));
  }
}

export function isUsed(claim: ObjectKey, read: Reader): boolean {
  return read.indexed(podsOfClaim, objectText(claim)).some((pod) => !isTerminal(pod));
}

function claimsOf(pod: Pod) {
  const { namespace = "" } = pod.metadata;
  return [...volumeClaimNames(pod)].map((name) => ({ namespace, name }));
}
