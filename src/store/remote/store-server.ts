/**
 * Serves a store to a client in another process (remote-store.ts), with the same guarantees as the store itself. One channel has all
 * requests and watches of the client, so that the order in which it receives things is the order in which they happened: a change of a live
 * watch is sent before any revision that includes it.
 *
 * Memory is bounded: a watch has a limit of unacknowledged changes, at which the store applies its own rules for slow listeners; a list is
 * sent in chunks, each after the channel was drained.
 */
import type { FrameChannel } from "./frame-channel.ts";
import type { Change, Entry, ListResult, Operation, Store, Watch, WatchEnd } from "../store.ts";
import {
  changeHead,
  changeValues,
  decodeMessage,
  encodeMessage,
  entryHead,
  errorHead,
  failedHead,
  takeOperation,
  CATCH_UP_BYTES_MAX,
  CATCH_UP_CHANGES_MAX,
  LIVE_BYTES_MAX,
  type ClientMessage,
  type PublishedRevision,
  type Received,
  type ServerMessage,
} from "./messages.ts";
import type { Value } from "../store.ts";

/** Bytes of values in one message: large enough that its overhead does not count, small enough not to delay others. */
const CHUNK_BYTES = 1_048_576;

/** Opens the page with this number for writing. */
export type Pages = (page: number) => Disposable & { write(published: PublishedRevision): void };

/** Serves the client of this channel until it is closed. Its watches are closed with it, its commits complete. */
export function serveStoreTo(channel: FrameChannel, store: Store, pages?: Pages): void {
  const server = new StoreServer(channel, store, pages);
  channel.onFrame((frame) => server.receive(decodeMessage<ClientMessage>(frame)));
  channel.onClosed(() => server.close());
}

type Of<D extends ClientMessage["do"]> = Extract<ClientMessage, { readonly do: D }>;

class StoreServer {
  readonly #channel: FrameChannel;
  readonly #store: Store;
  readonly #watches = new Map<number, ServedWatch>();
  /** Of commits that the store has not answered. */
  readonly #commits = new Map<number, AbortController>();
  readonly #pages: Pages | undefined;
  #isClosed = false;
  /** Messages with changes. */
  #sent = 0;
  #endPublishing = () => {};
  #whenDrained: (() => void)[] = [];

  constructor(channel: FrameChannel, store: Store, pages: Pages | undefined) {
    this.#channel = channel;
    this.#store = store;
    this.#pages = pages;
    channel.onDrained(() => this.#wake());
  }

  receive({ message, values }: Received<ClientMessage>): void {
    switch (message.do) {
      case "commit":
        return void this.#commit(
          message,
          message.operations.map((head) => takeOperation(head, values)),
        );
      case "cancel":
        return this.#commits.get(message.id)?.abort(CANCELLED);
      case "publish":
        return void this.#publish(message);
      case "watch":
        return this.#watch(message);
      case "acknowledge":
        return this.#watches.get(message.id)?.acknowledged(message);
      case "progress":
        return this.#watches.get(message.id)?.requestProgress();
      case "close":
        return this.#watches.get(message.id)?.close();
      default:
        return void this.#answer(message);
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#endPublishing();
    for (const watch of this.#watches.values()) watch.close();
    this.#wake();
  }

  /** Written in the tick in which a revision becomes visible, before anything can be known of it anywhere. */
  async #publish({ id, page: number }: Of<"publish">): Promise<void> {
    const page = this.#store.onVisible === undefined ? undefined : this.#pages?.(number);
    if (page === undefined) return this.#send({ is: "published", id, isPublished: false });
    let newest = 0;
    const publish = (revision: number) => {
      if (revision <= newest) return;
      newest = revision;
      page.write({ sent: this.#sent, revision });
    };
    const end = this.#store.onVisible?.(publish);
    this.#endPublishing = () => {
      end?.();
      page[Symbol.dispose]();
    };
    if (this.#isClosed) return this.#endPublishing();
    publish(await this.#store.currentRevision());
    this.#send({ is: "published", id, isPublished: true });
  }

  async #answer(message: Of<"get" | "list" | "revision" | "statistics" | "compact">): Promise<void> {
    const { id } = message;
    try {
      switch (message.do) {
        case "get": {
          const entry = await this.#store.get(message.key, atRevision(message));
          if (entry === undefined) return this.#send({ is: "entry", id, entry: null });
          return this.#send({ is: "entry", id, entry: entryHead(entry) }, [entry.value]);
        }
        case "list":
          return await this.#sendList(message);
        case "revision":
          return this.#send({ is: "revision", id, revision: await this.#store.currentRevision() });
        case "statistics":
          return this.#send({ is: "statistics", id, statistics: await this.#store.statistics() });
        case "compact":
          await this.#store.compact(message.revision);
          return this.#send({ is: "compacted", id });
      }
    } catch (error) {
      this.#send({ is: "failed", id, error: errorHead(error) });
    }
  }

  async #sendList({ id, prefix, options }: Of<"list">): Promise<void> {
    const { entries, revision, remaining }: ListResult = await this.#store.list(prefix, options);
    let chunk: Entry[] = [];
    let bytes = 0;
    for (const entry of entries) {
      chunk.push(entry);
      bytes += entry.value.sizeBytes();
      if (bytes < CHUNK_BYTES) continue;
      await this.#sendWhenDrained(
        { is: "entries", id, entries: chunk.map(entryHead) },
        chunk.map(({ value }) => value),
      );
      chunk = [];
      bytes = 0;
    }
    const listed = { revision, remaining };
    this.#send(
      { is: "entries", id, entries: chunk.map(entryHead), listed },
      chunk.map(({ value }) => value),
    );
  }

  async #commit({ id }: Of<"commit">, operations: readonly Operation[]): Promise<void> {
    const cancelling = new AbortController();
    this.#commits.set(id, cancelling);
    try {
      const result = await this.#store.commit(operations, { signal: cancelling.signal });
      if (result.committed) return this.#send({ is: "committed", id, revision: result.revision });
      const found = result.failed.flatMap((failed) => (failed.found === undefined ? [] : [failed.found.value]));
      this.#send({ is: "refused", id, failed: result.failed.map(failedHead) }, found);
    } catch (error) {
      this.#send(error === CANCELLED ? { is: "cancelled", id } : { is: "failed", id, error: errorHead(error) });
    } finally {
      this.#commits.delete(id);
    }
  }

  #watch({ id, prefix, after }: Of<"watch">): void {
    const send = (message: ServerMessage, values?: readonly Value[]) => {
      if (message.is === "changes") this.#sent++;
      this.#send(message, values);
    };
    const over = () => void this.#watches.delete(id);
    try {
      const newest = () => this.#store.currentRevision();
      const { shared: isShared } = this.#store.capabilities;
      const context = { id, send, over, ...(isShared ? {} : { newest }) };
      this.#watches.set(id, new ServedWatch(context, (listener) => this.#store.watch(prefix, { after }, listener)));
    } catch (error) {
      this.#send({ is: "ended", id, reason: "failed", error: errorHead(error) });
    }
  }

  #send(message: ServerMessage, values: readonly Value[] = []): void {
    if (!this.#isClosed) this.#channel.send(encodeMessage(message, values));
  }

  async #sendWhenDrained(message: ServerMessage, values: readonly Value[]): Promise<void> {
    if (this.#isClosed || this.#channel.send(encodeMessage(message, values)) <= CHUNK_BYTES) return;
    await new Promise<void>((resolve) => this.#whenDrained.push(resolve));
  }

  #wake(): void {
    for (const resolve of this.#whenDrained.splice(0)) resolve();
  }
}

/** Reason with which a commit is aborted whose client does not wait for it. */
const CANCELLED = new Error("The client cancelled the commit");

function atRevision({ revision }: { readonly revision?: number }): { readonly revision?: number } {
  return revision === undefined ? {} : { revision };
}

interface ServedWatchContext {
  readonly id: number;
  send(message: ServerMessage, values?: readonly Value[]): void;
  over(): void;
  /** The newest visible revision. Absent: others write to the store, and no watch is ever live. */
  newest?(): Promise<number>;
}

/**
 * One watch of the client. It is live once everything up to the store's newest revision was sent: from then on nothing is held back, and
 * the client may conclude from a later revision that it has received all changes up to it.
 */
class ServedWatch {
  readonly #context: ServedWatchContext;
  readonly #watch: Watch;
  #isLive = false;
  #isOver = false;
  #wantsProgress = false;
  #isSlow = false;
  /** Sent and not acknowledged. */
  #changes = 0;
  #bytes = 0;
  #acknowledged: (() => void) | undefined;

  constructor(context: ServedWatchContext, open: (listener: Parameters<Store["watch"]>[2]) => Watch) {
    this.#context = context;
    this.#watch = open({
      changes: (changes) => this.#take(changes),
      progress: (revision) => this.#progress(revision),
      ended: (end) => this.#ended(end),
    });
    this.#watch.requestProgress();
  }

  requestProgress(): void {
    this.#wantsProgress = true;
    this.#watch.requestProgress();
  }

  acknowledged({ changes, bytes }: { readonly changes: number; readonly bytes: number }): void {
    this.#changes -= changes;
    this.#bytes -= bytes;
    if (!this.#isFull()) this.#acknowledged?.();
  }

  close(): void {
    this.#watch.close();
  }

  /** While the watch catches up, a full client makes the store wait; later one slow client must not hold anything back. */
  #take(changes: readonly Change[]): void | Promise<void> {
    const { id, send } = this.#context;
    for (const chunk of chunksOf(changes)) {
      send({ is: "changes", id, changes: chunk.map(changeHead) }, chunk.flatMap(changeValues));
      this.#changes += chunk.length;
      this.#bytes += bytesOf(chunk);
    }
    if (!this.#isFull()) return;
    if (!this.#isLive) return new Promise<void>((resolve) => (this.#acknowledged = resolve));
    if (this.#bytes > LIVE_BYTES_MAX) this.#endSlow();
  }

  #isFull(): boolean {
    return this.#changes >= CATCH_UP_CHANGES_MAX || this.#bytes >= CATCH_UP_BYTES_MAX;
  }

  #progress(revision: number): void {
    const { id, send, newest } = this.#context;
    if (this.#wantsProgress) send({ is: "progress", id, revision });
    this.#wantsProgress = false;
    // Read now, in this tick: a watch that has reached what is visible holds nothing back from here on.
    if (!this.#isLive && newest !== undefined)
      void newest().then(
        (visible) => this.#reached(revision, visible),
        () => undefined,
      );
  }

  #reached(revision: number, visible: number): void {
    if (this.#isLive || this.#isOver) return;
    if (revision < visible) return this.#watch.requestProgress();
    this.#isLive = true;
    this.#context.send({ is: "live", id: this.#context.id });
  }

  #endSlow(): void {
    this.#isSlow = true;
    this.#watch.close();
  }

  #ended(end: WatchEnd): void {
    const { id, send, over } = this.#context;
    this.#isOver = true;
    this.#acknowledged?.();
    over();
    if (this.#isSlow) return send({ is: "ended", id, reason: "slow" });
    const details = {
      ...("compactedRevision" in end ? { compactedRevision: end.compactedRevision } : {}),
      ...("error" in end ? { error: errorHead(end.error) } : {}),
    };
    send({ is: "ended", id, reason: end.reason, ...details });
  }
}

/** What a change takes in the client's memory, keys and numbers estimated. */
const CHANGE_OVERHEAD_BYTES = 200;

export function bytesOf(changes: readonly Change[]): number {
  let bytes = 0;
  for (const change of changes) {
    bytes += CHANGE_OVERHEAD_BYTES + (change.type === "put" ? change.value.sizeBytes() : 0) + (change.previous?.value.sizeBytes() ?? 0);
  }
  return bytes;
}

/** Usually one; a change is never divided. */
function chunksOf(changes: readonly Change[]): readonly (readonly Change[])[] {
  const chunks: Change[][] = [];
  let bytes = CHUNK_BYTES;
  for (const change of changes) {
    if (bytes >= CHUNK_BYTES) {
      chunks.push([]);
      bytes = 0;
    }
    chunks.at(-1)?.push(change);
    bytes += bytesOf([change]);
  }
  return chunks;
}
