/**
 * The latest writes and their causes, in a ring buffer: the basis for answering "why is this so?". Every commit that changes an object is
 * one record with the revision of the commit, so the cause of another write can be looked up by its revision: also that of a deletion, of
 * each object of a deletecollection, of a binding. A write that changes nothing has no revision and no record. Records older than the ring
 * are dropped. Served by documents/causes.
 *
 * Leases and Events are left out. No state follows from them, and timers write them by the hundred: the leases of a hundred nodes alone
 * would push everything else out within minutes. A cause names the object, so a Lease as a cause explains itself.
 */
import type { Clock } from "../../base/clock.ts";
import type { Causes, CommittedWrite, RecordedWrite } from "../framework/causes.ts";

/** About 200 bytes each, and at most some 2,000. Enough for a whole rollout of hundreds of Pods. */
export const CAUSES_MAX = 4_096;

/** User agents can be arbitrarily long; the beginning identifies the program. */
const USER_AGENT_LENGTH_MAX = 256;

export class RecordedCauses implements Causes {
  readonly #clock: Pick<Clock, "now">;
  readonly #ring: RecordedWrite[] = [];
  /** Index of the next record once the ring is full: that of the oldest. */
  #next = 0;

  constructor(clock: Pick<Clock, "now">) {
    this.#clock = clock;
  }

  /** Hot path (called per commit): must stay one small allocation. */
  record({ storage, name, revision, request, deleted }: CommittedWrite): void {
    if (storage.resource.recordsCauses === false) return;
    const { user, userAgent, cause } = request.context;
    const written: RecordedWrite = {
      timeMs: this.#clock.now(),
      resourceVersion: String(revision),
      name: name.name,
      namespace: name.namespace,
      verb: request.verb,
      group: storage.name.group,
      plural: storage.name.plural,
      subresource: request.subresource,
      user: user.name,
      userAgent: userAgent.slice(0, USER_AGENT_LENGTH_MAX),
      ...(cause === undefined ? {} : { cause }),
      ...(deleted === undefined ? {} : { deleted }),
    };
    if (this.#ring.length < CAUSES_MAX) this.#ring.push(written);
    else this.#ring[this.#next] = written;
    this.#next = (this.#next + 1) % CAUSES_MAX;
  }

  /** Oldest first. A watcher in this process may write before the write that it reacts to is recorded, so the order is by revision. */
  list(): readonly RecordedWrite[] {
    return this.#ring.toSorted((a, b) => Number(a.resourceVersion) - Number(b.resourceVersion));
  }
}
