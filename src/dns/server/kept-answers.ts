/**
 * Responses as bytes, by the bytes of their queries. An answer is kept until its subject changes, so that it is never stale. Queries of one
 * name differ in case, flags and EDNS, so they are entries of their own; the oldest are dropped at the limit.
 *
 * Answers with several addresses have several variants with the addresses rotated, so that clients that use the first one are spread.
 */

/** Twice 10,000 Services, for A and AAAA, and the negative answers of search paths. */
const ENTRIES_MAX = 32_768;

const DROPPED_AT_LIMIT = ENTRIES_MAX / 8;

/** Enough to spread load; more would multiply memory. */
const VARIANTS_MAX = 8;

interface Kept {
  readonly subject: string;
  readonly variants: Uint8Array[];
  /** How many variants there are to be. */
  readonly wanted: number;
  next: number;
  readonly type: number;
  readonly rcode: number;
}

export interface KeptAnswer {
  /** Must be copied before the id is set. */
  readonly bytes: Uint8Array;
  readonly type: number;
  readonly rcode: number;
}

export class KeptAnswers {
  readonly #answers = new Map<string, Kept>();
  readonly #keysBySubject = new Map<string, Set<string>>();

  get size(): number {
    return this.#answers.size;
  }

  /** Undefined: the answer or its next variant is to be computed. */
  get(key: string): KeptAnswer | undefined {
    const kept = this.#answers.get(key);
    if (kept === undefined || kept.variants.length < kept.wanted) return undefined;
    const turn = kept.next;
    kept.next = turn + 1 === kept.wanted ? 0 : turn + 1;
    return { bytes: kept.variants[turn] as Uint8Array, type: kept.type, rcode: kept.rcode };
  }

  /** By how many places the addresses of the next variant are rotated. */
  rotation(key: string): number {
    return this.#answers.get(key)?.variants.length ?? 0;
  }

  keep(key: string, answer: KeptAnswer & { readonly subject: string; readonly addresses: number }): void {
    const { subject, addresses, bytes, type, rcode } = answer;
    const known = this.#answers.get(key);
    if (known !== undefined && known.variants.length < known.wanted) return void known.variants.push(bytes);
    this.#makeSpace();
    this.#answers.set(key, { subject, variants: [bytes], wanted: Math.max(1, Math.min(addresses, VARIANTS_MAX)), next: 0, type, rcode });
    const keys = this.#keysBySubject.get(subject);
    if (keys === undefined) this.#keysBySubject.set(subject, new Set([key]));
    else keys.add(key);
  }

  /** Drops the oldest ones together: finding the oldest entry of a Map takes longer with every one deleted before it. */
  #makeSpace(): void {
    if (this.#answers.size < ENTRIES_MAX) return;
    let count = 0;
    for (const [key, { subject }] of this.#answers) {
      if (count++ === DROPPED_AT_LIMIT) return;
      this.#answers.delete(key);
      const keys = this.#keysBySubject.get(subject);
      keys?.delete(key);
      if (keys?.size === 0) this.#keysBySubject.delete(subject);
    }
  }

  drop(subject: string): void {
    const keys = this.#keysBySubject.get(subject);
    if (keys === undefined) return;
    this.#keysBySubject.delete(subject);
    for (const key of keys) this.#answers.delete(key);
  }

  clear(): void {
    this.#answers.clear();
    this.#keysBySubject.clear();
  }
}
