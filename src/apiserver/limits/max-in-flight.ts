/**
 * `--enable-priority-and-fairness=false`: one limit for reading and one for mutating requests in flight, and 429 beyond them. Watches and
 * connections do not count, and members of system:masters are never rejected: as upstream's filter.
 */
import type { BodyOwner, ConcurrencyGate, Seat } from "../framework/concurrency.ts";
import type { FlowRequest } from "../framework/flow-request.ts";
import { OverloadError } from "../framework/overload.ts";
import { MASTERS } from "../framework/authorization.ts";

/** Retry-After of a rejected request: upstream's. */
const RETRY_AFTER_SECONDS = 1;
const READING: ReadonlySet<string> = new Set(["get", "head", "list"]);
const NO_SEAT: Seat = { release() {} };

export class MaxInFlight implements ConcurrencyGate {
  readonly #limits: { readonly readOnly: number; readonly mutating: number };
  readonly #executing = { readOnly: 0, mutating: 0 };

  constructor(limits: { readonly readOnly: number; readonly mutating: number }) {
    this.#limits = limits;
  }

  classify(): undefined {
    return undefined;
  }

  admit({ verb, context }: FlowRequest): Seat {
    if (verb === "watch") return NO_SEAT;
    const kind = READING.has(verb) ? "readOnly" : "mutating";
    if (this.#executing[kind] >= this.#limits[kind]) {
      if (context.user.groups.includes(MASTERS)) return NO_SEAT;
      throw new OverloadError(RETRY_AFTER_SECONDS);
    }
    this.#executing[kind]++;
    let isReleased = false;
    return {
      release: () => {
        if (!isReleased) this.#executing[kind]--;
        isReleased = true;
      },
    };
  }

  bodyOwner({ context: { user } }: FlowRequest): BodyOwner {
    return { level: "", share: 1, flow: user.name, isExempt: user.groups.includes(MASTERS) };
  }

  close(): void {}
}
