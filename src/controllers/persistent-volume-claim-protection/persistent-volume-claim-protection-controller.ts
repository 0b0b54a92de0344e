/**
 * A PersistentVolumeClaim outlives its deletion until no Pod uses it (claim-usage.ts): then its finalizer is taken off.
 * Taking it off too early loses data. So when the informers know of no Pod that uses it, the server is asked as well: it may know of one
 * that they have not heard of. A pass looks at all claims of a namespace at once, so that a thousand of them cost one such question.
 */
import { persistentVolumeClaims } from "../../api/core/v1/persistent-volume-claim.ts";
import { volumeClaimNames } from "../../api/core/v1/pod/references.ts";
import { pods } from "../../api/core/v1/pod.ts";
import type { PersistentVolumeClaim, Pod } from "../../api/generated/core/v1.ts";
import { defineIndex } from "../../client/informer/index.ts";
import type { Reader } from "../../client/informer/informer.ts";
import { after, defineController, onChange, watch, type Change, type Outcome, type Pass, type WorkKey } from "../runtime/controller.ts";
import { objectText } from "../runtime/keys.ts";
import { isHeld, isUnprotected, putFinalizer, takeFinalizer, type Protection } from "../shared/protection.ts";
import { inTurns } from "../runtime/concurrent-writes.ts";
import { podUsesClaim } from "./claim-usage.ts";

const PROTECTION: Protection<PersistentVolumeClaim> = { kind: persistentVolumeClaims, finalizer: "kubernetes.io/pvc-protection" };

/**
 * When a claim is looked at again that a Pod uses of which only the server has told. Informers that follow are never so late; but one
 * whose watch broke may never hear of a Pod that came and went meanwhile, and then nothing else would wake the claim.
 */
const UNHEARD_POD_DELAY_MS = 1_000;

const podsByClaim = defineIndex(pods, (pod) => {
  const { namespace } = pod.metadata;
  return [...volumeClaimNames(pod)].map((name) => objectText({ namespace, name }));
});

/** By namespace, those of which something is to be done. */
const waitingClaims = defineIndex(persistentVolumeClaims, (claim) => (isWaiting(claim) ? [claim.metadata.namespace ?? ""] : []));

/** Keys are namespaces. */
export const persistentVolumeClaimProtectionController = defineController({
  name: "persistentvolumeclaim-protection-controller",
  aliases: ["pvc-protection"],
  account: "pvc-protection-controller",
  rules: [
    { apiGroups: [""], resources: ["persistentvolumeclaims"], verbs: ["get", "list", "watch", "update"] },
    { apiGroups: [""], resources: ["pods"], verbs: ["get", "list", "watch"] },
  ],
  watches: [
    watch(persistentVolumeClaims, ({ is, object }) => (is !== "deleted" && isWaiting(object) ? [namespaceKey(object)] : [])),
    watch(pods, keysOfPod),
  ],
  reconcile,
});

function isWaiting(claim: PersistentVolumeClaim): boolean {
  return isHeld(claim, PROTECTION) || isUnprotected(claim, PROTECTION);
}

function namespaceKey({ metadata }: Pod | PersistentVolumeClaim): WorkKey {
  return { name: metadata.namespace ?? "" };
}

/** A Pod matters when it lets go of a claim that waits for it; also one that was replaced by another of its name, unseen. */
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

/** Those of the claims that none of the Pods uses that the server knows of now. */
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
