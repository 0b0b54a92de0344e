/** The order of ControllerRevisions, the number of the next one, and which are deleted when there are too many. Pure. */
import type { ControllerRevision } from "../../../api/generated/apps/v1.ts";

/** Oldest first; equal numbers are ordered by creation, then by name, as upstream. */
export function byRevision(a: ControllerRevision, b: ControllerRevision): number {
  if (a.revision !== b.revision) return a.revision - b.revision;
  return (
    compareText(a.metadata.creationTimestamp ?? "", b.metadata.creationTimestamp ?? "") || compareText(a.metadata.name, b.metadata.name)
  );
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

/** One more than the highest number of these; 1 for the first. */
export function nextRevisionNumber(revisions: readonly ControllerRevision[]): number {
  return revisions.reduce((highest, { revision }) => Math.max(highest, revision), 0) + 1;
}
