/** Carries out the steps of a plan, with upstream's events, which `kubectl describe` shows. Which steps is decided by plan.ts. */
import { persistentVolumeClaims } from "../../api/core/v1/persistent-volume-claim.ts";
import { pods } from "../../api/core/v1/pod.ts";
import type { StatefulSet } from "../../api/generated/apps/v1.ts";
import type { PersistentVolumeClaim, Pod } from "../../api/generated/core/v1.ts";
import { isReason } from "../../api/machinery/status-error.ts";
import type { Draft } from "../../client/client.ts";
import type { Pass } from "../runtime/controller.ts";
import { isNamespaceTerminating } from "../runtime/errors.ts";
import { keyOf } from "../runtime/keys.ts";
import { messageOf } from "../shared/pod-control.ts";
import { claimDrafts, claimNames } from "./claims.ts";
import { claimOwners, hasConflictingController, withClaimOwners, type ClaimUser } from "./claim-retention.ts";
import { corrected, newPod, type SetRevision } from "./identity.ts";
import { parsePodName, podName } from "./ordinals.ts";
import { userOf, type Step } from "./plan.ts";

/** Rejects if the step failed; the failure is also an event of the set. */
export async function carryOut(step: Step, set: StatefulSet, pass: Pass): Promise<void> {
  switch (step.does) {
    case "create":
      return await createPod(set, step.revision, step.ordinal, pass);
    case "supply claims":
      return await supplyClaims(set, step.pod, pass);
    case "correct":
      return await correctPod(set, step.pod, pass);
    case "hand over claims":
      return await setClaimOwners(set, userOfPod(step.pod), pass);
    case "delete":
      return await deletePod(set, step.pod, pass);
  }
}

/** The claims exist before the Pod. */
async function createPod(set: StatefulSet, revision: SetRevision, ordinal: number, pass: Pass): Promise<void> {
  const name = podName(set, ordinal);
  try {
    await createMissingClaims(set, userOf(name), pass);
    await pass.write.create(pods, newPod(set, revision, ordinal));
  } catch (error) {
    // Something else has the name, or the cache lags behind: the retry decides.
    if (!isReason(error, "AlreadyExists")) recordPodEvent("Create", set, name, pass, error);
    throw error;
  }
  await reported("Update", set, name, pass, () => setClaimOwners(set, userOf(name), pass));
  recordPodEvent("Create", set, name, pass);
}

async function supplyClaims(set: StatefulSet, pod: Pod, pass: Pass): Promise<void> {
  await createMissingClaims(set, userOfPod(pod), pass);
  await reported("Update", set, pod.metadata.name, pass, () => setClaimOwners(set, userOfPod(pod), pass));
}

async function correctPod(set: StatefulSet, pod: Pod, pass: Pass): Promise<void> {
  const { name } = pod.metadata;
  await reported("Update", set, name, pass, async () => {
    const next = corrected(set, pod);
    if (next.spec !== pod.spec) await createMissingClaims(set, userOfPod(pod), pass);
    await setClaimOwners(set, userOfPod(pod), pass);
    if (next !== pod) await pass.write.update(pods, next);
  });
  recordPodEvent("Update", set, name, pass);
}

/** Deletes this Pod and no other of its name. An already deleted one is fine. */
async function deletePod(set: StatefulSet, pod: Pod, pass: Pass): Promise<void> {
  const { name, uid } = pod.metadata;
  try {
    await pass.write.delete(pods, keyOf(pod), uid === undefined ? {} : { preconditions: { uid } });
  } catch (error) {
    // A Conflict means that the Pod was replaced.
    if (isReason(error, "Conflict")) return;
    if (!isReason(error, "NotFound")) {
      recordPodEvent("Delete", set, name, pass, error);
      throw error;
    }
  }
  recordPodEvent("Delete", set, name, pass);
}

function userOfPod({ metadata }: Pod): ClaimUser {
  return userOf(metadata.name, metadata.uid);
}

// ── claims ──────────────────────────────────────────────────────────────────────────────────────────

async function createMissingClaims(set: StatefulSet, user: ClaimUser, pass: Pass): Promise<void> {
  const ordinal = parsePodName(user.metadata.name)?.ordinal ?? 0;
  const failures: string[] = [];
  for (const draft of claimDrafts(set, ordinal)) {
    const { name } = draft.metadata;
    const claim = pass.read.get(persistentVolumeClaims, { namespace: set.metadata.namespace, name });
    if (claim?.metadata.deletionTimestamp !== undefined) failures.push(`pvc ${name} is being deleted`);
    if (claim !== undefined) continue;
    try {
      await createClaim(draft, set, user, pass);
    } catch (error) {
      // The namespace is terminating, this set included; a stopping controller was not rejected.
      if (isNamespaceTerminating(error) || pass.signal.aborted) throw error;
      failures.push(`failed to create PVC ${name}: ${messageOf(error)}`);
    }
  }
  if (failures.length > 0) throw new Error(failures.length === 1 ? failures[0] : `[${failures.join(", ")}]`);
}

async function createClaim(draft: Draft<PersistentVolumeClaim>, set: StatefulSet, user: ClaimUser, pass: Pass): Promise<void> {
  const ownerReferences = claimOwners(set, user);
  const metadata = { ...draft.metadata, ...(ownerReferences.length === 0 ? {} : { ownerReferences }) };
  const [claim, pod, owner] = [draft.metadata.name, user.metadata.name, set.metadata.name];
  try {
    await pass.write.create(persistentVolumeClaims, { ...draft, metadata });
    const message = `Create Claim ${claim} Pod ${pod} in StatefulSet ${owner} success`;
    pass.events.record(set, { type: "Normal", reason: "SuccessfulCreate", message });
  } catch (error) {
    if (!isReason(error, "AlreadyExists") && !isNamespaceTerminating(error) && !pass.signal.aborted) {
      const message = `Create Claim ${claim} for Pod ${pod} in StatefulSet ${owner} failed error: ${messageOf(error)}`;
      pass.events.record(set, { type: "Warning", reason: "FailedCreate", message });
    }
    throw error;
  }
}

/** Claims that existed before get the owners of the retention policy. */
async function setClaimOwners(set: StatefulSet, user: ClaimUser, pass: Pass): Promise<void> {
  const ordinal = parsePodName(user.metadata.name)?.ordinal ?? 0;
  for (const name of claimNames(set, ordinal)) {
    const claim = pass.read.get(persistentVolumeClaims, { namespace: set.metadata.namespace, name });
    const next = claim && withClaimOwners(set, user, claim);
    if (claim === undefined || next === undefined) continue;
    if (hasConflictingController(set, user, claim)) recordConflict(set, name, pass);
    if (next === claim) continue;
    try {
      await pass.write.update(persistentVolumeClaims, next);
    } catch (error) {
      if (isReason(error, "Conflict")) throw error; // Retried at once.
      throw new Error(`could not update claim ${name} for delete policy ownerRefs: ${messageOf(error)}`, { cause: error });
    }
  }
}

// ── events ──────────────────────────────────────────────────────────────────────────────────────────

async function reported(verb: Verb, set: StatefulSet, pod: string, pass: Pass, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    recordPodEvent(verb, set, pod, pass, error);
    throw error;
  }
}

type Verb = "Create" | "Update" | "Delete";

function recordPodEvent(verb: Verb, set: StatefulSet, pod: string, { events, signal }: Pass, error?: unknown): void {
  const what = `${verb} Pod ${pod} in StatefulSet ${set.metadata.name}`;
  if (error === undefined) {
    events.record(set, { type: "Normal", reason: `Successful${verb}`, message: `${what} successful` });
  } else if (!signal.aborted && !isNamespaceTerminating(error)) {
    events.record(set, { type: "Warning", reason: `Failed${verb}`, message: `${what} failed error: ${messageOf(error)}` });
  }
}

/** Upstream's message, with its spelling. */
function recordConflict(set: StatefulSet, claim: string, { events }: Pass): void {
  const message = `PersistentVolumeClaim ${claim} has a conflicting OwnerReference that acts as a manging controller, the retention policy is ignored for this claim`;
  events.record(set, { type: "Warning", reason: "ConflictingController", message });
}
