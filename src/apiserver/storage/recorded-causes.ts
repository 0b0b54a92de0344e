/**
 * The latest writes and refused requests with their causes, in two ring buffers: the basis for answering "why is this so?". Every commit
 * that changes an object is one record with the revision of the commit, so the cause of another write can be looked up by its revision:
 * also that of a deletion, of each object of a deletecollection, of a binding. A write that changes nothing has no revision and no record.
 * Records older than the rings are dropped; refusals have a ring of their own, so that a client that is refused in a loop displaces no
 * writes. Served by documents/causes.
 *
 * Leases and Events are left out. No state follows from them, and timers write them by the hundred: the leases of a hundred nodes alone
 * would push everything else out within minutes. A cause names the object, so a Lease as a cause explains itself.
 */
import type { Clock } from "../../base/clock.ts";
import { detachedText } from "../../base/text.ts";
import { causeLine } from "./cause-line.ts";
import type { Causes, CauseRecord, CommittedWrite, RefusedRequest } from "../framework/recording/causes.ts";
import type { PassedStages } from "../framework/recording/request-trail.ts";
import type { RequestContext } from "../framework/request.ts";

/** About 300 bytes each, and at most some 2,000. Enough for a rollout of a thousand Pods, and for hours of a calm cluster. */
export const CAUSES_MAX = 8_192;

/** Enough for the last minutes of a client that is refused in a loop with back-off. */
export const REFUSALS_MAX = 1_024;

/** Maximum length of user agents and request ids, which can be arbitrarily long; the beginning identifies them. */
const USER_AGENT_LENGTH_MAX = 256;
const REQUEST_ID_LENGTH_MAX = 128;
/** The same of a refused request: nothing has validated its path and its user. Twice the longest name of an object. */
const NAME_LENGTH_MAX = 512;
const MESSAGE_LENGTH_MAX = 2_048;

/** Where records are kept across a restart. */
export interface CauseLog {
  /** `line` is of cause-line.ts. Neither throws: causes explain, and nothing depends on them. */
  appendCommit(line: string): void;
  appendRefusal(line: string): void;
}

export interface RecordedCausesOptions {
  readonly log?: CauseLog | undefined;
  /** Records of earlier processes, ordered by id. */
  readonly earlier?: readonly CauseRecord[] | undefined;
}

export class RecordedCauses implements Causes {
  readonly #clock: Pick<Clock, "now" | "monotonic">;
  readonly #log: CauseLog | undefined;
  readonly #writes = new Ring(CAUSES_MAX);
  readonly #refusals = new Ring(REFUSALS_MAX);
  readonly #listeners = new Set<(record: CauseRecord) => void>();
  #newestId = 0;

  constructor(clock: Pick<Clock, "now" | "monotonic">, { log, earlier = [] }: RecordedCausesOptions = {}) {
    this.#clock = clock;
    this.#log = log;
    for (const record of earlier) this.#keep(record);
  }

  get newestId(): number {
    return this.#newestId;
  }

  /** Hot path (called per commit): must stay two small allocations. */
  record(write: CommittedWrite): void {
    if (write.storage.resource.recordsCauses === false) return;
    const { trail } = write.request.context;
    const commit = new Commit(write, this.#newestId + 1, this.#clock.now(), trail?.passed(this.#clock.monotonic()));
    this.#newestId = commit.id;
    this.#writes.push(commit);
    this.#log?.appendCommit(causeLine(commit));
    if (this.#listeners.size > 0) this.#report(commit.record);
  }

  refuse({ request, error, stage }: RefusedRequest): void {
    const { verb, group, plural, subresource, namespace, name, context } = request;
    const { cause, trail, user } = context;
    const message = beginning(error.message, MESSAGE_LENGTH_MAX);
    const plugin = trail?.refusedBy;
    this.#add({
      ...this.#head(context),
      user: beginning(user.name, NAME_LENGTH_MAX),
      revision: 0,
      verb,
      group: beginning(group, NAME_LENGTH_MAX),
      plural: beginning(plural, NAME_LENGTH_MAX),
      subresource: beginning(subresource, NAME_LENGTH_MAX),
      namespace: beginning(namespace, NAME_LENGTH_MAX),
      name: beginning(name, NAME_LENGTH_MAX),
      ...(cause === undefined ? {} : { cause }),
      ...(trail === undefined ? {} : { stages: trail.passed().stages }),
      ...(trail?.steps === undefined ? {} : { admission: trail.steps }),
      refusal: { code: error.code, reason: error.reason, message, stage, ...(plugin === undefined ? {} : { plugin }) },
    });
  }

  #head({ user, userAgent, trail }: RequestContext) {
    return {
      id: this.#newestId + 1,
      timeMs: this.#clock.now(),
      user: user.name,
      userAgent: userAgentOf(userAgent),
      ...(trail === undefined ? {} : { requestId: requestIdOf(trail.id) }),
    };
  }

  #add(record: CauseRecord): void {
    this.#keep(record);
    this.#log?.appendRefusal(causeLine(record));
    this.#report(record);
  }

  #report(record: CauseRecord): void {
    for (const listener of this.#listeners) listener(record);
  }

  #keep(record: CauseRecord): void {
    this.#newestId = record.id;
    (record.refusal === undefined ? this.#writes : this.#refusals).push(record);
  }

  list(): readonly CauseRecord[] {
    return [...this.#writes.items(), ...this.#refusals.items()]
      .sort((a, b) => a.id - b.id)
      .map((kept) => (kept instanceof Commit ? kept.record : kept));
  }

  revisionAt(timeMs: number): number | undefined {
    let found: number | undefined;
    for (const { timeMs: writtenMs, revision } of this.#writes.items())
      if (writtenMs <= timeMs && revision > (found ?? 0)) found = revision;
    return found;
  }

  subscribe(listener: (record: CauseRecord) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
}

/**
 * A commit as it is kept: the parts of its record, whose objects are created when it is read. A class, so that all members are in one
 * object: V8 would put those that are added to a literal into a second one.
 */
class Commit {
  readonly id: number;
  readonly timeMs: number;
  readonly revision: number;
  readonly name: string;
  readonly namespace: string;
  readonly group: string;
  readonly plural: string;
  readonly verb: string;
  readonly subresource: string;
  readonly user: string;
  readonly userAgent: string;
  readonly requestId: string | undefined;
  readonly passed: PassedStages | undefined;
  readonly cause: CauseRecord["cause"];
  readonly admission: CauseRecord["admission"];
  readonly deleted: true | undefined;

  constructor({ storage, name, revision, request, deleted }: CommittedWrite, id: number, timeMs: number, passed?: PassedStages) {
    const { cause, trail, user, userAgent } = request.context;
    this.id = id;
    this.timeMs = timeMs;
    this.revision = revision;
    this.name = name.name;
    this.namespace = name.namespace;
    this.group = storage.name.group;
    this.plural = storage.name.plural;
    this.verb = request.verb;
    this.subresource = request.subresource;
    this.user = user.name;
    this.userAgent = userAgentOf(userAgent);
    this.requestId = trail === undefined ? undefined : requestIdOf(trail.id);
    this.passed = passed;
    this.cause = cause;
    this.admission = trail?.steps;
    this.deleted = deleted;
  }

  get record(): CauseRecord {
    const { passed, requestId, cause, admission, deleted, ...head } = this;
    return {
      ...head,
      ...(requestId === undefined ? {} : { requestId }),
      ...(passed === undefined ? {} : { stages: passed.stages }),
      ...(cause === undefined ? {} : { cause }),
      ...(admission === undefined ? {} : { admission }),
      ...(deleted === undefined ? {} : { deleted }),
    };
  }
}

function userAgentOf(userAgent: string): string {
  return userAgent.length > USER_AGENT_LENGTH_MAX ? beginning(userAgent, USER_AGENT_LENGTH_MAX) : userAgent;
}

function requestIdOf(id: string): string {
  return id.length > REQUEST_ID_LENGTH_MAX ? beginning(id, REQUEST_ID_LENGTH_MAX) : id;
}

/** A copy: what is kept must not retain the path or header that it is a part of. */
function beginning<T extends string | undefined>(text: T, lengthMax: number): T {
  return (text === undefined ? undefined : detachedText(text.slice(0, lengthMax))) as T;
}

type Kept = Commit | CauseRecord;

/** The last records. */
class Ring {
  readonly #max: number;
  readonly #records: Kept[] = [];
  /** Index of the next record once the ring is full: that of the oldest. */
  #next = 0;

  constructor(max: number) {
    this.#max = max;
  }

  push(record: Kept): void {
    if (this.#records.length < this.#max) this.#records.push(record);
    else this.#records[this.#next] = record;
    this.#next = (this.#next + 1) % this.#max;
  }

  items(): readonly Kept[] {
    return this.#records;
  }
}
