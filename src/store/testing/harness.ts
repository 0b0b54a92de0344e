/** Shared by the suites of the store contract: short operations, readable results, and a recording watcher. */
import { test } from "node:test";
import { assert } from "../../base/assert.ts";
import type { Change, Entry, Operation, Precondition, Store, Watch, WatchEnd } from "../store.ts";
import { bytesValue } from "../value.ts";

/** A driver under test: opens a new, empty store of it. */
export interface Driver<S extends Store = Store> {
  readonly name: string;
  open(): Promise<OpenedStore<S>>;
  /** Options of every test of the suite: the reason if it is skipped. */
  readonly skip?: string | false;
}

export interface OpenedStore<S extends Store = Store> {
  readonly store: S;
  /** Releases what the driver needed besides the store. The suite closes the store itself. */
  close?(): Promise<void>;
}

/** The resource that most tests write to. */
export const PODS = "/pods/";

/** One test of one driver, on a new store that is closed afterwards. */
export function storeTest(driver: Driver, title: string, run: (store: Store) => Promise<void>): void {
  test(`${driver.name}: ${title}`, { skip: driver.skip ?? false }, async () => {
    const opened = await driver.open();
    try {
      await run(opened.store);
    } finally {
      await opened.store.close();
      await opened.close?.();
    }
  });
}

export function text(content: string) {
  return bytesValue(new TextEncoder().encode(content));
}

export function textOf(value: { bytes(): Uint8Array }): string {
  return new TextDecoder().decode(value.bytes());
}

export const absent: Precondition = { is: "absent" };
export const exists = { is: "exists" } as const;
export function at(revision: number) {
  return { is: "at", revision } as const;
}

export function put(key: string, content: string, precondition?: Precondition): Operation {
  return { type: "put", key, value: text(content), ...(precondition === undefined ? {} : { precondition }) };
}

export function del(key: string, precondition: Exclude<Precondition, { is: "absent" }> = exists): Operation {
  return { type: "delete", key, precondition };
}

/** Commits what cannot fail and returns the revision. */
export async function committed(store: Store, ...operations: Operation[]): Promise<number> {
  const result = await store.commit(operations);
  assert(result.committed, `the commit of ${operations.map(({ key }) => key).join(", ")} should not have been refused`);
  return result.revision;
}

/** `key=content@revision`. */
export function show(entry: Entry | undefined): string | undefined {
  return entry === undefined ? undefined : `${entry.key}=${textOf(entry.value)}@${entry.revision}`;
}

/** `put /pods/a=2@5 (was 1@4)`, one line per change. */
export function showChange(change: Change): string {
  const was = change.previous === undefined ? "" : ` (was ${textOf(change.previous.value)}@${change.previous.revision})`;
  const content = change.type === "put" ? `=${textOf(change.value)}` : "";
  return `${change.type} ${change.key}${content}@${change.revision}${was}`;
}

/** A watch that records what it receives. */
export class Seen {
  readonly changes: Change[] = [];
  readonly ends: WatchEnd[] = [];
  readonly progress: number[] = [];
  readonly watch: Watch;
  readonly #waiting = new Set<() => void>();

  constructor(store: Store, prefix: string, after: number) {
    this.watch = store.watch(
      prefix,
      { after },
      {
        changes: (changes) => {
          this.changes.push(...changes);
          this.#wake();
        },
        progress: (revision) => {
          this.progress.push(revision);
          this.#wake();
        },
        ended: (end) => {
          this.ends.push(end);
          this.#wake();
        },
      },
    );
  }

  get lines(): string[] {
    return this.changes.map(showChange);
  }

  /** Resolves when `condition` holds; it is evaluated on every call of the watch. */
  async until(condition: (seen: Seen) => boolean): Promise<void> {
    while (!condition(this)) {
      if (this.ends.length > 0 && !condition(this)) throw new Error(`The watch ended first: ${JSON.stringify(this.ends)}`);
      await new Promise<void>((resolve) => this.#waiting.add(resolve));
    }
  }

  async untilRevision(revision: number): Promise<void> {
    await this.until(({ changes }) => (changes.at(-1)?.revision ?? 0) >= revision);
  }

  async untilEnd(): Promise<WatchEnd> {
    await this.until(({ ends }) => ends.length > 0);
    return this.ends[0] as WatchEnd;
  }

  #wake(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }
}
