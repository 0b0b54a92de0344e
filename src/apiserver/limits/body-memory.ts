/**
 * Bounds the memory of request bodies, from the first byte to the end of the request. A body is received before its request acquires a
 * seat, so a slow client holds memory and nothing else; how much it may hold is decided here.
 *
 * Every priority level owns a share of the budget equal to its share of all seats, and may borrow what others do not use. When the budget
 * is full, a level within its own share is served all the same and displaces borrowers; within a level a flow that holds less displaces the
 * one that holds most. So a user with slow bodies blocks neither components nor other users. Not here: the limit of one body
 * (apiserver/http), and the cost of decoding.
 */
import { OverloadError } from "../framework/overload.ts";
import type { BodyOwner } from "../framework/concurrency.ts";

/**
 * Budget of all levels: 40 bodies of the largest size, or thousands of the usual ones. Within their own shares levels may exceed it once
 * more.
 */
export const BODY_BUDGET_BYTES = 128 * 1024 * 1024;
/** Minimum cost of a body: the memory of a request beside it. */
const BODY_COST_MIN_BYTES = 16 * 1024;
/** Retry-After of a rejected request. */
const RETRY_AFTER_SECONDS = 1;

export interface ExpectedBody {
  /** As declared, or the most that is accepted. */
  readonly sizeBytes: number;
  /** Ends the request with this reason; called at most once, and not after `keep` or `release`. */
  displace(reason: OverloadError): void;
}

export interface BodyReservation {
  /** The request has a seat: it is not displaced any more. */
  keep(): void;
  /** The request has ended. A second call does nothing. */
  release(): void;
}

interface Held {
  readonly level: HeldByLevel;
  readonly flow: HeldByFlow;
  readonly costBytes: number;
  readonly displace: ExpectedBody["displace"];
  isKept: boolean;
  isReleased: boolean;
}

interface HeldByFlow {
  readonly name: string;
  costBytes: number;
  readonly bodies: Set<Held>;
}

interface HeldByLevel {
  ownBytes: number;
  costBytes: number;
  readonly flows: Map<string, HeldByFlow>;
}

export class BodyMemory {
  readonly #budgetBytes: number;
  #costBytes = 0;
  /** One entry per priority level that ever had a body: bounded by the number of objects. */
  readonly #levels = new Map<string, HeldByLevel>();

  constructor(budgetBytes: number = BODY_BUDGET_BYTES) {
    this.#budgetBytes = budgetBytes;
  }

  /** Cost of all bodies that are held. */
  get costBytes(): number {
    return this.#costBytes;
  }

  /** Throws an OverloadError if the budget is exhausted. */
  reserve(owner: BodyOwner, { sizeBytes, displace }: ExpectedBody): BodyReservation {
    const costBytes = Math.max(sizeBytes, BODY_COST_MIN_BYTES);
    const level = this.#levelOf(owner);
    if (!owner.isExempt) this.#freeBudget(level, owner.flow, costBytes);
    const flow = flowOf(level, owner.flow);
    const held: Held = { level, flow, costBytes, displace, isKept: owner.isExempt, isReleased: false };
    flow.bodies.add(held);
    this.#count(held, costBytes);
    return { keep: () => void (held.isKept = true), release: () => this.#release(held) };
  }

  #freeBudget(level: HeldByLevel, flowName: string, costBytes: number): void {
    if (this.#costBytes + costBytes <= this.#budgetBytes) return;
    const isOwn = level.costBytes + costBytes <= level.ownBytes;
    if (isOwn) {
      this.#displaceBorrowers(costBytes);
      return;
    }
    // Beyond its own share a level competes only with itself: the flow that holds most is displaced by one that holds less.
    const largest = largestFlow(level.flows.values());
    const own = level.flows.get(flowName)?.costBytes ?? 0;
    if (largest === undefined || largest.costBytes <= own + costBytes) throw new OverloadError(RETRY_AFTER_SECONDS);
    this.#displaceFrom(largest, costBytes);
    if (this.#costBytes + costBytes > this.#budgetBytes) throw new OverloadError(RETRY_AFTER_SECONDS);
  }

  /** As far as bodies can be displaced; the level gets its own share in any case. */
  #displaceBorrowers(costBytes: number): void {
    const borrowers = [...this.#levels.values()]
      .filter((level) => level.costBytes > level.ownBytes)
      .toSorted((a, b) => b.costBytes - b.ownBytes - (a.costBytes - a.ownBytes));
    for (const borrower of borrowers) {
      const excess = Math.min(costBytes, borrower.costBytes - borrower.ownBytes);
      const largest = largestFlow(borrower.flows.values());
      if (largest !== undefined) this.#displaceFrom(largest, excess);
      if (this.#costBytes + costBytes <= this.#budgetBytes) return;
    }
  }

  /** The oldest first: a client that has not sent its body by now is the slowest. */
  #displaceFrom(flow: HeldByFlow, costBytes: number): void {
    let freed = 0;
    for (const held of flow.bodies) {
      if (freed >= costBytes) return;
      if (held.isKept) continue;
      freed += held.costBytes;
      this.#release(held);
      held.displace(new OverloadError(RETRY_AFTER_SECONDS));
    }
  }

  #levelOf({ level: name, share }: BodyOwner): HeldByLevel {
    const ownBytes = Math.floor(share * this.#budgetBytes);
    let level = this.#levels.get(name);
    if (level === undefined) {
      level = { ownBytes, costBytes: 0, flows: new Map() };
      this.#levels.set(name, level);
    }
    level.ownBytes = ownBytes;
    return level;
  }

  #release(held: Held): void {
    if (held.isReleased) return;
    held.isReleased = true;
    const { level, flow } = held;
    flow.bodies.delete(held);
    if (flow.bodies.size === 0) level.flows.delete(flow.name);
    this.#count(held, -held.costBytes);
  }

  #count({ level, flow }: Held, changeBytes: number): void {
    this.#costBytes += changeBytes;
    level.costBytes += changeBytes;
    flow.costBytes += changeBytes;
  }
}

function flowOf({ flows }: HeldByLevel, name: string): HeldByFlow {
  let flow = flows.get(name);
  if (flow === undefined) {
    flow = { name, costBytes: 0, bodies: new Set() };
    flows.set(name, flow);
  }
  return flow;
}

/** Only among flows with a body that can be displaced. */
function largestFlow(flows: Iterable<HeldByFlow>): HeldByFlow | undefined {
  let largest: HeldByFlow | undefined;
  for (const flow of flows) {
    if (largest !== undefined && flow.costBytes <= largest.costBytes) continue;
    for (const held of flow.bodies) {
      if (held.isKept) continue;
      largest = flow;
      break;
    }
  }
  return largest;
}
