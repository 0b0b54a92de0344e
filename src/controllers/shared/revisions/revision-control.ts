/**
 * Reads and writes of ControllerRevisions that StatefulSets and DaemonSets have in common. Which revision to create, renumber or delete is
 * decided by the controllers.
 */
import { controllerRevisions } from "../../../api/apps/v1/controller-revision.ts";
import type { ControllerRevision } from "../../../api/generated/apps/v1.ts";
import type { KubeObject } from "../../../api/machinery/object.ts";
import type { LabelSelector } from "../../../api/machinery/selectors/label-selector.ts";
import { isReason } from "../../../api/machinery/status-error.ts";
import type { ResourceKind } from "../../../client/client.ts";
import { itsControllerOrAdopters } from "../adopters.ts";
import { claim } from "../adoption.ts";
import type { KeysOf, Pass } from "../../runtime/controller.ts";
import { controllerReference, keyOf } from "../../runtime/keys.ts";
import { byRevision } from "./history.ts";

/**
 * The owner of a changed revision, and those that may adopt an orphan. A revision that is created with an owner enqueues nothing, as
 * upstream: it is either the owner's own, or a client's, which may exist beside an equal one for a while.
 */
export function revisionOwners<O extends KubeObject>(
  owners: ResourceKind<O>,
  selectorOf: (owner: O) => LabelSelector | undefined,
): KeysOf<ControllerRevision> {
  const related = itsControllerOrAdopters(owners, selectorOf);
  return (change, read) => (change.is === "added" && controllerReference(change.object) !== undefined ? [] : related(change, read));
}

/** Adopts matching orphans. Resolves with the owner's revisions, oldest first. */
export async function claimRevisions<O extends KubeObject>(
  owner: O,
  options: { readonly ownerKind: ResourceKind<O>; readonly selector: LabelSelector; readonly pass: Pass },
): Promise<readonly ControllerRevision[]> {
  return (await claim({ owner, kind: controllerRevisions, ...options })).toSorted(byRevision);
}

/** Gives a revision a number: the highest one is what a rollback returns from. */
export function renumber(revision: ControllerRevision, number: number, { write }: Pass): Promise<ControllerRevision> {
  return write.update(controllerRevisions, { ...revision, revision: number });
}

/** Deletes these, unless they were changed or replaced. Already deleted ones are fine. */
export async function deleteRevisions(revisions: readonly ControllerRevision[], { write }: Pass): Promise<void> {
  for (const revision of revisions) {
    const { uid, resourceVersion } = revision.metadata;
    const preconditions = { ...(uid === undefined ? {} : { uid }), ...(resourceVersion === undefined ? {} : { resourceVersion }) };
    try {
      await write.delete(controllerRevisions, keyOf(revision), { preconditions });
    } catch (error) {
      if (!isReason(error, "NotFound")) throw error;
    }
  }
}
