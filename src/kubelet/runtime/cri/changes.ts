/**
 * Notifies of spontaneous changes: containers that exit, sandboxes that are lost. The runtime's event stream reports them at once;
 * relisting finds what no event reported: rarely while the stream is open and every second while it is not, as upstream does. After the
 * runtime was unavailable everything may have changed, and all Pods are reported.
 */
import { exponentialDelayMs } from "../../../base/backoff.ts";
import { NOT_NEEDED } from "../../../base/abort.ts";
import type { Clock } from "../../../base/clock.ts";
import type { Logger } from "../../../base/logger.ts";
import type { RuntimeObserver } from "../../contracts/runtime.ts";
import { mapOf } from "./messages/common.ts";
import { CONTAINER_EXITED } from "./messages/container.ts";
import { isNotFound, type CriClient } from "./cri-client.ts";
import { openEventStream, type RuntimeEvent } from "./event-stream.ts";
import { OWNER, POD_UID } from "./labels.ts";
import { uidOf, type Listing, type PodViews } from "./pod-views.ts";
import { podSandboxStatus, SANDBOX_READY } from "./messages/sandbox.ts";

const LIST_EVERY_MS = 1_000;
export const LIST_SELDOM_EVERY_MS = 10_000;
/** No runtime documents from when on a new stream is complete, so a few more relists precede relying on it. */
const LISTS_BEFORE_RELYING_MS: readonly number[] = [100, LIST_EVERY_MS];
/** The runtime emits an exit event before its own lists show the exit; hence retries with backoff: 10, 20, … 1,280 ms. */
const SETTLE = { minMs: 10, maxMs: 1_280 };
const SETTLE_ATTEMPTS = 9;
/** An OOM kill is reported as such permanently or never: a busy runtime gets a minute to note it. */
const OUT_OF_MEMORY_ATTEMPTS = SETTLE_ATTEMPTS + 45;
/** Exit reasons that a runtime reports before it has noted an OOM kill. */
const NO_REASON_YET: readonly string[] = ["", "Error", "Completed"];

export interface ChangesOptions {
  readonly client: CriClient;
  readonly views: PodViews;
  readonly owner: string;
  readonly runtimeName: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly observer?: RuntimeObserver | undefined;
}

export class Changes implements Disposable {
  readonly #options: ChangesOptions;
  readonly #listeners = new Set<(podUid: string) => void>();
  readonly #over = new AbortController();
  /** By Pod: a one-line summary of its last listed state. Undefined: nothing was listed yet. */
  #seen: ReadonlyMap<string, string> | undefined;
  #wasAway = false;
  #closeStream: (() => void) | undefined;
  /** Since the stream was opened. */
  #lists = 0;
  /** The runtime has no event stream. */
  #isWithoutStream = false;
  #hurry: (() => void) | undefined;

  constructor(options: ChangesOptions) {
    this.#options = options;
  }

  watch(listener: (podUid: string) => void): Disposable {
    // The same function may be registered twice.
    const own = (podUid: string): void => listener(podUid);
    if (this.#listeners.size === 0 && this.#seen === undefined && !this.#over.signal.aborted) void this.#run();
    this.#listeners.add(own);
    return { [Symbol.dispose]: () => void this.#listeners.delete(own) };
  }

  [Symbol.dispose](): void {
    this.#over.abort(NOT_NEEDED);
    this.#closeStream?.();
    this.#listeners.clear();
  }

  #notify(podUids: Iterable<string>): void {
    for (const podUid of podUids) for (const listener of [...this.#listeners]) listener(podUid);
  }

  // ── listing ───────────────────────────────────────────────────────────────────────────────────────

  /** Never rejects. */
  async #run(): Promise<void> {
    const { clock, log, observer } = this.#options;
    this.#seen = new Map();
    let lastListMs: number | undefined;
    while (!this.#over.signal.aborted) {
      // First the stream, then the list: one of them sees what happens in between.
      this.#openStream();
      const startedAtMs = clock.monotonic();
      try {
        this.#compare(await this.#options.views.listing());
      } catch (error) {
        if (this.#over.signal.aborted) return;
        if (!this.#wasAway) log.warn("Cannot list the Pods of the container runtime", { error });
        this.#wasAway = true;
      }
      observer?.listed(clock.monotonic() - startedAtMs, lastListMs === undefined ? undefined : startedAtMs - lastListMs);
      lastListMs = startedAtMs;
      await this.#pause(clock, this.#nextListMs());
    }
  }

  #nextListMs(): number {
    if (this.#closeStream === undefined || this.#wasAway) return LIST_EVERY_MS;
    return LISTS_BEFORE_RELYING_MS[this.#lists++] ?? LIST_SELDOM_EVERY_MS;
  }

  async #pause(clock: Clock, durationMs: number): Promise<void> {
    const over = new AbortController();
    const hurried = new Promise<void>((resolve) => (this.#hurry = resolve));
    const signal = AbortSignal.any([over.signal, this.#over.signal]);
    await Promise.race([hurried, clock.sleep(durationMs, signal).catch(() => undefined)]);
    over.abort(NOT_NEEDED);
    this.#hurry = undefined;
  }

  #compare(listing: Listing): void {
    const now = signatures(listing);
    const before = this.#seen ?? new Map<string, string>();
    const uids = new Set([...before.keys(), ...now.keys()]);
    const changed = [...uids].filter((uid) => this.#wasAway || before.get(uid) !== now.get(uid));
    this.#seen = now;
    this.#wasAway = false;
    this.#notify(changed);
  }

  // ── the stream ────────────────────────────────────────────────────────────────────────────────────

  #openStream(): void {
    if (this.#closeStream !== undefined || this.#isWithoutStream) return;
    const { client, runtimeName, clock, log } = this.#options;
    const openedAtMs = clock.monotonic();
    this.#lists = 0;
    this.#closeStream = openEventStream(client, runtimeName, {
      event: (event) => void this.#settle(event),
      ended: (isAbsent) => {
        this.#closeStream = undefined;
        this.#isWithoutStream = isAbsent;
        // A stream that never opened has missed nothing, and reopening it at once would loop forever.
        if (isAbsent || clock.monotonic() - openedAtMs < LIST_EVERY_MS) return;
        log.debug("The event stream of the container runtime ended");
        this.#wasAway = true;
        this.#hurry?.();
      },
    });
  }

  /** Waits until the runtime's own lists show the reported change, then notifies the watchers. Never rejects. */
  async #settle(event: RuntimeEvent): Promise<void> {
    const { clock, views } = this.#options;
    const attemptsMax = event.is === "out-of-memory" ? OUT_OF_MEMORY_ATTEMPTS : SETTLE_ATTEMPTS;
    for (let attempt = 0; attempt < attemptsMax && !this.#over.signal.aborted; attempt++) {
      try {
        const found = await this.#look(event);
        if (found === undefined) return;
        if (found.isSettled || attempt === attemptsMax - 1) {
          // The exit was seen before its reason.
          if (event.is === "out-of-memory") views.forget(event.id);
          return this.#notify([found.podUid]);
        }
        await clock.sleep(exponentialDelayMs(SETTLE, attempt), this.#over.signal);
      } catch {
        return; // The runtime became unavailable; the change is reported once it is back.
      }
    }
  }

  /** Undefined if it does not exist or belongs to another owner. */
  async #look({ is, id }: RuntimeEvent): Promise<{ readonly podUid: string; readonly isSettled: boolean } | undefined> {
    const container = await this.#options.views.containerStatus(id);
    if (container === undefined) return this.#lookForSandbox(id);
    const isSettled = is === "out-of-memory" ? !NO_REASON_YET.includes(container.reason) : container.state === CONTAINER_EXITED;
    return { podUid: mapOf(container.labels).get(POD_UID) ?? "", isSettled };
  }

  async #lookForSandbox(id: string): Promise<{ readonly podUid: string; readonly isSettled: boolean } | undefined> {
    const { client, owner } = this.#options;
    try {
      const { status } = await client.call(podSandboxStatus, { id });
      const labels = mapOf(status?.labels ?? []);
      if (labels.get(OWNER) !== owner) return undefined;
      return { podUid: labels.get(POD_UID) ?? "", isSettled: status?.state !== SANDBOX_READY };
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }
}

function signatures({ sandboxes, containers }: Listing): Map<string, string> {
  const lines = new Map<string, string[]>();
  for (const one of [...sandboxes, ...containers]) {
    const uid = uidOf(one);
    const own = lines.get(uid);
    if (own === undefined) lines.set(uid, [`${one.id}=${one.state}`]);
    else own.push(`${one.id}=${one.state}`);
  }
  return new Map([...lines].map(([uid, own]) => [uid, own.sort().join()]));
}
