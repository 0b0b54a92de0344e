/**
 * The last writes and why they were made, in a ring: the ground for asking "why is this so?". Writing one down is one small object, so it
 * is done for every write that may be an answer; what is older than the ring is forgotten. How it is read: documents/causes.
 *
 * Leases and Events are left out. Nobody's state follows from them, and they are written by the clock and by the hundred: the leases of a
 * hundred nodes alone would push everything else out within minutes.
 */
import type { Cause } from "../api/machinery/cause.ts";
import type { Outcome } from "./outcome.ts";
import { isDryRun, type ApiRequest } from "./request.ts";

/** About 200 bytes each, and at most some 2,000. Enough for the whole of a rollout of hundreds of pods. */
export const CAUSES_MAX = 4_096;

/** Programs may call themselves what they like; the beginning says which it is. */
const USER_AGENT_LENGTH_MAX = 256;

export interface RecordedWrite {
  readonly timeMs: number;
  /** Of the object after the write; "" if the answer did not show it. */
  readonly resourceVersion: string;
  readonly verb: string;
  readonly group: string;
  readonly plural: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  readonly user: string;
  readonly userAgent: string;
  readonly cause?: Cause;
}

const EVENT_GROUPS: ReadonlySet<string> = new Set(["", "events.k8s.io"]);
const WRITING: ReadonlySet<string> = new Set(["create", "update", "patch", "delete", "deletecollection"]);

export class Causes {
  readonly #ring: RecordedWrite[] = [];
  /** Where the next one goes once the ring is full: the place of the oldest. */
  #next = 0;

  /** Does nothing for what is no write, for one that only would have been (dry run), and for what explains nothing. */
  record(request: ApiRequest, outcome: Outcome, timeMs: number): void {
    if (!isWrite(request, outcome) || explainsNothing(request)) return;
    const { user, userAgent, cause } = request.context;
    const written: RecordedWrite = {
      timeMs,
      ...shownBy(request, outcome),
      verb: request.verb,
      group: request.group,
      plural: request.plural,
      subresource: request.subresource,
      namespace: request.namespace,
      user: user.name,
      userAgent: userAgent.slice(0, USER_AGENT_LENGTH_MAX),
      ...(cause === undefined ? {} : { cause }),
    };
    if (this.#ring.length < CAUSES_MAX) this.#ring.push(written);
    else this.#ring[this.#next] = written;
    this.#next = (this.#next + 1) % CAUSES_MAX;
  }

  /** The oldest first. */
  list(): readonly RecordedWrite[] {
    return this.#ring.length < CAUSES_MAX ? [...this.#ring] : [...this.#ring.slice(this.#next), ...this.#ring.slice(0, this.#next)];
  }
}

function explainsNothing({ group, plural }: ApiRequest): boolean {
  return (group === "coordination.k8s.io" && plural === "leases") || (EVENT_GROUPS.has(group) && plural === "events");
}

/** A connection into a Pod is made by "create", too. */
function isWrite({ verb, options }: ApiRequest, outcome: Outcome): boolean {
  if (!WRITING.has(verb) || isDryRun(options) || outcome.is === "connection") return false;
  return !("isRehearsed" in outcome);
}

/** A name may have been given by the server. */
function shownBy({ name }: ApiRequest, outcome: Outcome): Pick<RecordedWrite, "name" | "resourceVersion"> {
  if (outcome.is !== "object") return { name, resourceVersion: "" };
  const { object, endpoint } = outcome;
  const { metadata } = object.in(endpoint.served);
  return { name: metadata.name, resourceVersion: metadata.resourceVersion ?? "" };
}
