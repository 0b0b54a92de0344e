/** Formats why a Pod has no node in upstream's wording: it is in the Pod's event and condition, users search for it and tools match it. */

export interface FitError {
  /** Total number of nodes. */
  readonly nodeCount: number;
  /** Why no node was examined; empty if they were. */
  readonly preFilterMessage: string;
  /** A reason may occur several times, from several plugins. */
  readonly refused: readonly { readonly reason: string; readonly nodes: number }[];
  /** Result of preemption; empty if it was not attempted. */
  readonly postFilterMessage: string;
}

export const NO_NODES_MESSAGE = "no nodes available to schedule pods";

/** "0/5 nodes are available: 1 node(s) had untolerated taint(s), 4 Insufficient cpu. no new claims to deallocate, preemption: 0/5 nodes are available: …" */
export function fitErrorMessage({ nodeCount, preFilterMessage, refused, postFilterMessage }: FitError): string {
  const why = preFilterMessage === "" ? counted(refused) : preFilterMessage;
  return [`0/${nodeCount} nodes are available:`, why === "" ? "" : `${why}.`, postFilterMessage].filter((part) => part !== "").join(" ");
}

/** Sorted as text including the count, so "10 …" comes before "2 …". */
function counted(refused: FitError["refused"]): string {
  const nodesByReason = new Map<string, number>();
  for (const { reason, nodes } of refused) nodesByReason.set(reason, (nodesByReason.get(reason) ?? 0) + nodes);
  return Array.from(nodesByReason, ([reason, nodes]) => `${nodes} ${reason}`)
    .toSorted()
    .join(", ");
}

/** Maximum length of an event's note, in bytes. */
const EVENT_NOTE_BYTES_MAX = 1024;

const CUT = " ...";

/** The message as an event can hold it; the condition has it in full. */
export function eventNote(message: string): string {
  const bytes = new TextEncoder().encode(message);
  if (bytes.length <= EVENT_NOTE_BYTES_MAX) return message;
  let end = EVENT_NOTE_BYTES_MAX - CUT.length;
  // Not within a multi-byte character: all but its first byte are 10xxxxxx.
  while (((bytes[end] as number) & 0xc0) === 0x80) end--;
  return new TextDecoder().decode(bytes.subarray(0, end)) + CUT;
}
