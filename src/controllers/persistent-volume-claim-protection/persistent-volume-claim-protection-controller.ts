/**
 * Holds a terminating PersistentVolumeClaim until no Pod uses it (claim-usage.ts), then removes its finalizer. Removing it too early loses
 * data. So when the informers know of no Pod that uses it, the server is queried as well: it may know of one that they have not received. A
 * reconciliation covers all claims of a namespace, so that a thousand of them cost one such query.
 */
import { persistentVolumeClaims } from "../../api/core/v1/persistent-volume-claim.ts";
import { volumeClaimNames } from "../../api/core/v1/pod/references.ts";
import { pods } from "../../api/core/v1/pod.ts";
import type { PersistentVolumeClaim, Pod } from "../../api/generated/core/v1.ts";
import { defineIndex } from "../../client/informer/index.ts";
import type { Reader } from "../../client/informer/informer.ts";
import {
  after,
  defineController,
  onChange,
  watch,
  type Change,
  type Controller,
  type Outcome,
  type Pass,
  type WorkKey,
} from "../runtime/controller.ts";
import { objectText } from "../runtime/keys.ts";
import { podsByClaim } from "../shared/pods-by-claim.ts";
import { isHeld, isUnprotected, putFinalizer, takeFinalizer, type Protection } from "../shared/protection.ts";
import { inTurns } from "../runtime/concurrent-writes.ts";
import { podUsesClaim } from "./claim-usage.ts";
import { reportUnused, UNUSED_KEY, unusedKeysOfClaim, unusedKeysOfPod } from "./unused-condition.ts";

const PROTECTION: Protection<PersistentVolumeClaim> = { kind: persistentVolumeClaims, finalizer: "kubernetes.io/pvc-protection" };

/**
 * Requeue delay of a claim used by a Pod that only the server knows. Informers that follow are never so late; but one whose watch broke may
 * never receive a Pod that was created and deleted meanwhile, and then nothing else would trigger a reconciliation.
 */
const UNHEARD_POD_DELAY_MS = 1_000;

/** By namespace, those with something to do. */
const waitingClaims = defineIndex(persistentVolumeClaims, (claim) => (isWaiting(claim) ? [claim.metadata.namespace ?? ""] : []));

export interface ClaimProtectionSettings {
  /** Claims have the condition Unused. Gate PersistentVolumeClaimUnusedSinceTime. Default: false. */
  readonly reportsUnused: boolean;
}

export const persistentVolumeClaimProtectionController = claimProtectionController();

/** Keys are namespaces; those of the condition Unused are claims. */
export function claimProtectionController({ reportsUnused = false }: Partial<ClaimProtectionSettings> = {}): Controller {
  return defineController({
    name: "persistentvolumeclaim-protection-controller",
    aliases: ["pvc-protection"],
    account: "pvc-protection-controller",
    rules: [
      { apiGroups: [""], resources: ["persistentvolumeclaims"], verbs: ["get", "list", "watch", "update"] },
      { apiGroups: [""], resources: ["persistentvolumeclaims/status"], verbs: ["update"] },
      { apiGroups: [""], resources: ["pods"], verbs: ["get", "list", "watch"] },
    ],
    watches: [
      watch(persistentVolumeClaims, (change) => [
        ...(change.is !== "deleted" && isWaiting(change.object) ? [namespaceKey(change.object)] : []),
        ...(reportsUnused ? unusedKeysOfClaim(change) : []),
      ]),
      watch(pods, (change, read) => [...keysOfPod(change, read), ...(reportsUnused ? unusedKeysOfPod(change) : [])]),
    ],
    async reconcile(key, pass) {
      if (key.kind !== UNUSED_KEY) return reconcile(key, pass);
      await reportUnused(key, pass);
      return onChange;
    },
  });
}

function isWaiting(claim: PersistentVolumeClaim): boolean {
  return isHeld(claim, PROTECTION) || isUnprotected(claim, PROTECTION);
}

function namespaceKey({ metadata }: Pod | PersistentVolumeClaim): WorkKey {
  return { name: metadata.namespace ?? "" };
}

/** A Pod matters when it releases a claim that waits for it; also one replaced by another of its name, unobserved. */
function keysOfPod({ is, object, previous }: Change<Pod>, read: Reader): Iterable<WorkKey> {
  if (is === "added") return [];
  const names = new Set([...volumeClaimNames(object), ...(previous === undefined ? [] : volumeClaimNames(previous))]);
  const isFree = [...names].some((name) => {
    const claim = read.get(persistentVolumeClaims, { namespace: object.metadata.namespace, name });
    return claim !== undefined && isHeld(claim, PROTECTION) && (is === "deleted" || !podUsesClaim(object, claim));
  });
  return isFree ? [namespaceKey(object)] : [];
}

async function reconcile({ name: namespace }: WorkKey, pass: Pass): Promise<Outcome> {
  const { read, write } = pass;
  const waiting = read.indexed(waitingClaims, namespace);
  const unused = waiting.filter((claim) => isHeld(claim, PROTECTION) && !isUsed(claim, read));
  const free = unused.length === 0 ? [] : await unusedByAny(unused, namespace, pass);

  const bare = waiting.filter((claim) => isUnprotected(claim, PROTECTION));
  const works = [
    ...free.map((claim) => () => takeFinalizer(PROTECTION, claim, write)),
    ...bare.map((claim) => () => putFinalizer(PROTECTION, claim, write)),
  ];
  await inTurns(works, (work) => work());
  return free.length === unused.length ? onChange : after(UNHEARD_POD_DELAY_MS);
}

function isUsed(claim: PersistentVolumeClaim, read: Reader): boolean {
  return read.indexed(podsByClaim, objectText(claim.metadata)).some((pod) => podUsesClaim(pod, claim));
}

/** Claims that no Pod on the server uses. */
async function unusedByAny(
  claims: readonly PersistentVolumeClaim[],
  namespace: string,
  { write }: Pass,
): Promise<readonly PersistentVolumeClaim[]> {
  const unused = new Map(claims.map((claim) => [claim.metadata.name, claim]));
  for await (const { items } of write.pages(pods, { namespace })) {
    for (const pod of items) {
      for (const name of volumeClaimNames(pod)) {
        const claim = unused.get(name);
        if (claim !== undefined && podUsesClaim(pod, claim)) unused.delete(name);
      }
    }
  }
  return [...unused.values()];
}
