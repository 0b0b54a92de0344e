/** A fault that is injected into matching requests, and its decision whether it applies to one. Not here: what it does (inject.ts). */
import { seededRandom, type Random } from "../../base/random.ts";
import type { RequestFacts } from "./request-facts.ts";

/** All that are set must match. A text that ends with "*" matches as a prefix. */
export interface FaultMatch {
  readonly verb?: string;
  /** "" for the core group. */
  readonly group?: string;
  readonly resource?: string;
  /** "" for the resource itself. */
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly path?: string;
  readonly userAgent?: string;
  readonly user?: string;
}

export interface FaultSpec {
  readonly match?: FaultMatch;
  /** Waits in the cluster's time, before anything else. */
  readonly delay?: number;
  readonly status?: { readonly code: number; readonly reason?: string; readonly message?: string; readonly retryAfterSeconds?: number };
  /** Closes the connection without an answer. */
  readonly resetConnection?: boolean;
  /** Ends the watch that the request starts. */
  readonly dropWatch?: { readonly afterEvents?: number; readonly after?: number; readonly how?: string };
  /** Applies to this many requests. */
  readonly times?: number;
  /** Passes this many requests first. */
  readonly skip?: number;
  readonly probability?: number;
  readonly seed?: number;
}

/** So that a suite that does not set one is the same every time. */
const DEFAULT_SEED = 1;

export class Fault {
  readonly id: string;
  readonly spec: FaultSpec;
  readonly #random: Random;
  #matched = 0;
  #injected = 0;

  constructor(id: string, spec: FaultSpec) {
    this.id = id;
    this.spec = spec;
    this.#random = seededRandom(spec.seed ?? DEFAULT_SEED);
  }

  /** Number of requests that it matched, and of those that it was injected into. */
  get counts(): { readonly matched: number; readonly injected: number } {
    return { matched: this.#matched, injected: this.#injected };
  }

  /** True if it applies to this request, which is counted. */
  appliesTo(facts: RequestFacts): boolean {
    const { match = {}, skip = 0, times = Infinity, probability = 1 } = this.spec;
    if (!matches(match, facts) || (this.spec.dropWatch !== undefined && facts.resource?.verb !== "watch")) return false;
    this.#matched++;
    if (this.#matched <= skip || this.#injected >= times || this.#random.fraction() >= probability) return false;
    this.#injected++;
    return true;
  }
}

export function matches(match: FaultMatch, { path, userAgent, user, resource }: RequestFacts): boolean {
  const given: Partial<Record<keyof FaultMatch, string>> = { path, userAgent, user, ...resource };
  return Object.entries(match).every(([name, pattern]: [string, string]) => fits(pattern, given[name as keyof FaultMatch]));
}

function fits(pattern: string, text: string | undefined): boolean {
  if (text === undefined) return false;
  return pattern.endsWith("*") ? text.startsWith(pattern.slice(0, -1)) : text === pattern;
}
