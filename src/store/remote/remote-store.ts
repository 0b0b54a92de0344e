/**
 * A store that another process of this machine owns (store-server.ts), over one channel. Requests and watches have the guarantees of that
 * store; `capabilities.shared` is true, since others write to it.
 *
 * `currentRevision` reports progress to all live watches before it resolves: a cache that follows a resource has then received every change
 * up to that revision. With a page on which the other process publishes its revision this costs no message at all, and does not depend on
 * how busy that process is; otherwise one short message, however many callers wait for it.
 *
 * It does not reconnect: when the channel is closed, watches end, reads reject with "Unavailable" and commits without an answer with
 * "Uncertain". The processes of a channel live and end together.
 */
import { CoalescedRead } from "../coalesced-read.ts";
import type { Clock } from "../../base/clock.ts";
import type { FrameChannel } from "./frame-channel.ts";
import { checkWatchPrefix } from "../key.ts";
import { prepareOperations } from "../operations.ts";
import { OwnWrites } from "../own-writes.ts";
import type {
  CommitResult,
  Entry,
  ListOptions,
  ListResult,
  Operation,
  ReadOptions,
  Store,
  StoreStatistics,
  Value,
  Watch,
  WatchEnd,
  WatchListener,
} from "../store.ts";
import { closed, StoreError } from "../store-error.ts";
import { WatchChannel } from "../watch-channel.ts";
import {
  decodeMessage,
  encodeMessage,
  operationHead,
  takeChange,
  takeEntry,
  takeError,
  takeFailed,
  CATCH_UP_BYTES_MAX,
  CATCH_UP_CHANGES_MAX,
  type ClientMessage,
  type PublishedRevision,
  type Received,
  type ReceivedValues,
  type ServerMessage,
  type ValueOf,
} from "./messages.ts";
import { bytesOf } from "./store-server.ts";

export interface RemoteStoreOptions {
  readonly channel: FrameChannel;
  /** Where the other process publishes its revision for this client. Called once it does. Absent: it does not. */
  readonly page?: { readonly number: number; open(): PublishedPage };
  readonly clock: Clock;
}

export interface PublishedPage extends Disposable {
  read(): PublishedRevision;
}

/** Resolves when it can be used. */
export async function openRemoteStore({ channel, page, clock }: RemoteStoreOptions): Promise<Store> {
  const store = new RemoteStore(channel, clock);
  if (page !== undefined) await store.followPage(page);
  return store;
}

/** Without the id, which is assigned when it is sent. */
type Request = DistributiveOmit<Extract<ClientMessage, { readonly do: ClientMessage["do"] }>, "id">;
type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;
type Is<I extends ServerMessage["is"]> = Extract<ServerMessage, { readonly is: I }>;

interface Pending {
  resolve(received: Received<ServerMessage>): void;
  reject(error: unknown): void;
  /** Collects the parts of a list. */
  readonly entries: Entry[];
  readonly isCommit: boolean;
}

class RemoteStore implements Store {
  readonly capabilities = { progress: true, revisionReportsProgress: true, shared: true, durable: true };
  readonly #channel: FrameChannel;
  readonly #clock: Clock;
  readonly #pending = new Map<number, Pending>();
  readonly #watches = new Map<number, RemoteWatch>();
  /** Commits without an answer: closing waits for them. */
  readonly #running = new Set<Promise<unknown>>();
  readonly #ownWrites = new OwnWrites();
  readonly #valueOf: ValueOf = (key, revision, bytes) => this.#ownWrites.valueOf(key, revision, bytes);
  readonly #revision = new CoalescedRead(() => this.#readRevision());
  #page: PublishedPage | undefined;
  /** Messages with changes. */
  #received = 0;
  /** Progress was reported up to here. */
  #reached = 0;
  #receivers: { readonly count: number; resolve(): void }[] = [];
  #lastId = 0;
  #isClosed = false;
  #isLost = false;
  #commits = 0;

  constructor(channel: FrameChannel, clock: Clock) {
    this.#channel = channel;
    this.#clock = clock;
    channel.onFrame((frame) => this.#receive(decodeMessage<ServerMessage>(frame)));
    channel.onClosed(() => this.#lose());
  }

  async get(key: string, { revision }: ReadOptions = {}): Promise<Entry | undefined> {
    this.#checkOpen(`get ${key}`);
    const { message, values } = await this.#request<"entry">({ do: "get", key, ...(revision === undefined ? {} : { revision }) });
    return message.entry === null ? undefined : takeEntry(message.entry, values, this.#valueOf);
  }

  async list(prefix: string, options: ListOptions = {}): Promise<ListResult> {
    this.#checkOpen(`list ${prefix}`);
    const entries: Entry[] = [];
    const { message } = await this.#request<"entries">({ do: "list", prefix, options }, { entries });
    const { revision, remaining } = message.listed as NonNullable<Is<"entries">["listed"]>;
    return { entries, revision, remaining };
  }

  async currentRevision(): Promise<number> {
    this.#checkOpen("read the revision");
    if (this.#page === undefined) return this.#revision.read();
    if (this.#isLost) throw lost(false);
    const { sent, revision } = this.#page.read();
    if (this.#received < sent) await this.#untilReceived(sent);
    this.#reach(revision);
    return revision;
  }

  async followPage({ number, open }: NonNullable<RemoteStoreOptions["page"]>): Promise<void> {
    const { message } = await this.#request<"published">({ do: "publish", page: number });
    if (message.isPublished) this.#page = open();
  }

  /** What was sent arrives, or the channel is lost. */
  async #untilReceived(count: number): Promise<void> {
    if (this.#isLost) throw lost(false);
    await new Promise<void>((resolve) => this.#receivers.push({ count, resolve }));
    if (this.#isLost) throw lost(false);
  }

  #receivedChanges(): void {
    this.#received++;
    if (this.#receivers.length === 0) return;
    const due = this.#receivers.filter(({ count }) => count <= this.#received);
    this.#receivers = this.#receivers.filter(({ count }) => count > this.#received);
    for (const { resolve } of due) resolve();
  }

  /** Before the callers continue, who may read what the watches have received. */
  #reach(revision: number): void {
    if (revision <= this.#reached) return;
    this.#reached = revision;
    for (const watch of this.#watches.values()) watch.reach(revision);
  }

  async #readRevision(): Promise<number> {
    const { message } = await this.#request<"revision">({ do: "revision" });
    return message.revision;
  }

  async commit(operations: readonly Operation[], { signal }: { readonly signal?: AbortSignal } = {}): Promise<CommitResult> {
    this.#checkOpen("commit");
    signal?.throwIfAborted();
    // Rejects what the store would reject before it is copied and sent; the bookkeeping is the store's own.
    prepareOperations(operations);
    const values = operations.flatMap((operation) => (operation.type === "put" ? [operation.value] : []));
    const head = { do: "commit", operations: operations.map(operationHead) } as const;
    const written = this.#ownWrites.begin(operations);
    const running = this.#request<"committed" | "refused" | "cancelled">(head, { values, isCommit: true, signal });
    this.#running.add(running);
    try {
      const answer = await running;
      written(answer.message.is === "committed" ? answer.message.revision : undefined);
      return this.#resultOf(answer, signal);
    } catch (error) {
      written(undefined);
      throw error;
    } finally {
      this.#running.delete(running);
    }
  }

  #resultOf({ message, values }: Received<Is<"committed" | "refused" | "cancelled">>, signal: AbortSignal | undefined): CommitResult {
    switch (message.is) {
      case "committed":
        this.#commits++;
        return { committed: true, revision: message.revision };
      case "refused":
        return { committed: false, failed: message.failed.map((failed) => takeFailed(failed, values, this.#valueOf)) };
      case "cancelled":
        throw signal?.reason;
    }
  }

  watch(prefix: string, { after }: { readonly after: number }, listener: WatchListener): Watch {
    this.#checkOpen(`watch ${prefix}`);
    checkWatchPrefix(prefix);
    if (!Number.isSafeInteger(after) || after < 0) {
      throw new StoreError("Invalid", `Cannot watch ${prefix}: a revision is a whole number, is ${after}`);
    }
    const id = ++this.#lastId;
    const send = (message: ClientMessage) => this.#send(message);
    const over = () => void this.#watches.delete(id);
    const watch = new RemoteWatch({ id, send, over, valueOf: this.#valueOf, clock: this.#clock }, listener);
    this.#watches.set(id, watch);
    this.#send({ do: "watch", id, prefix, after });
    return watch;
  }

  async compact(revision: number): Promise<void> {
    this.#checkOpen("compact");
    await this.#request<"compacted">({ do: "compact", revision });
  }

  async statistics(): Promise<StoreStatistics> {
    this.#checkOpen("read statistics");
    const { message } = await this.#request<"statistics">({ do: "statistics" });
    return { ...message.statistics, watches: this.#watches.size, commits: this.#commits };
  }

  async close(): Promise<void> {
    if (!this.#isClosed) {
      this.#isClosed = true;
      for (const watch of [...this.#watches.values()]) watch.end({ reason: "closed" });
    }
    await Promise.allSettled(this.#running);
    this.#page?.[Symbol.dispose]();
    this.#page = undefined;
    this.#channel.close();
  }

  #request<I extends ServerMessage["is"]>(
    request: Request,
    options: {
      readonly values?: readonly Value[];
      readonly entries?: Entry[];
      readonly isCommit?: boolean;
      readonly signal?: AbortSignal | undefined;
    } = {},
  ): Promise<Received<Is<I>>> {
    const { values = [], entries = [], isCommit = false, signal } = options;
    if (this.#isLost) return Promise.reject(lost(false));
    const id = ++this.#lastId;
    const cancel = () => this.#send({ do: "cancel", id });
    return new Promise<Received<ServerMessage>>((resolve, reject) => {
      this.#pending.set(id, { resolve, reject, entries, isCommit });
      signal?.addEventListener("abort", cancel, { once: true });
      this.#send({ ...request, id }, values);
    }).finally(() => signal?.removeEventListener("abort", cancel)) as Promise<Received<Is<I>>>;
  }

  #receive(received: Received<ServerMessage>): void {
    const { message, values } = received;
    switch (message.is) {
      case "changes":
        this.#watches.get(message.id)?.take(message, values);
        return this.#receivedChanges();
      case "live":
        return this.#watches.get(message.id)?.becomeLive();
      case "progress":
        return this.#watches.get(message.id)?.progress(message.revision);
      case "ended":
        return this.#watches.get(message.id)?.end(endOf(message));
      case "entries":
        this.#pending.get(message.id)?.entries.push(...message.entries.map((head) => takeEntry(head, values, this.#valueOf)));
        return message.listed === undefined ? undefined : this.#settle(message.id, received);
      case "revision":
        this.#reach(message.revision);
        return this.#settle(message.id, received);
      default:
        return this.#settle(message.id, received);
    }
  }

  #settle(id: number, received: Received<ServerMessage>): void {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    if (received.message.is === "failed") pending?.reject(takeError(received.message.error));
    else pending?.resolve(received);
  }

  #send(message: ClientMessage, values?: readonly Value[]): void {
    if (!this.#isLost) this.#channel.send(encodeMessage(message, values));
  }

  #lose(): void {
    this.#isLost = true;
    for (const { reject, isCommit } of this.#pending.values()) reject(lost(isCommit));
    this.#pending.clear();
    for (const { resolve } of this.#receivers.splice(0)) resolve();
    for (const watch of [...this.#watches.values()]) watch.end({ reason: "failed", error: lost(false) });
  }

  #checkOpen(action: string): void {
    if (this.#isClosed) throw closed(action);
  }
}

function lost(isCommit: boolean): StoreError {
  const message = "The process that owns the store closed the connection";
  return isCommit ? new StoreError("Uncertain", `Cannot say whether it was committed: ${message}`) : new StoreError("Unavailable", message);
}

function endOf({ reason, compactedRevision = 0, error }: Is<"ended">): WatchEnd {
  if (reason === "compacted") return { reason, compactedRevision };
  if (reason === "failed") return { reason, error: error === undefined ? lost(false) : takeError(error) };
  return { reason };
}

interface RemoteWatchContext {
  readonly id: number;
  readonly clock: Clock;
  readonly valueOf: ValueOf;
  send(message: ClientMessage): void;
  over(): void;
}

class RemoteWatch implements Watch {
  readonly #context: RemoteWatchContext;
  readonly #channel: WatchChannel;
  #isLive = false;
  /** Received and taken by the listener, but not acknowledged yet. */
  #changes = 0;
  #bytes = 0;

  constructor(context: RemoteWatchContext, listener: WatchListener) {
    this.#context = context;
    this.#channel = new WatchChannel(listener, context.clock, () => context.over());
  }

  requestProgress(): void {
    if (!this.#channel.closed) this.#context.send({ do: "progress", id: this.#context.id });
  }

  close(): void {
    if (this.#channel.closed) return;
    this.#context.send({ do: "close", id: this.#context.id });
    this.#channel.end({ reason: "closed" });
  }

  end(end: WatchEnd): void {
    this.#channel.end(end);
  }

  take({ changes: heads }: Is<"changes">, values: ReceivedValues): void {
    const changes = heads.map((head) => takeChange(head, values, this.#context.valueOf));
    this.#channel.push(changes);
    this.#changes += changes.length;
    this.#bytes += bytesOf(changes);
    if (this.#channel.closed) return this.#context.send({ do: "close", id: this.#context.id });
    this.#channel.onceIdle(() => this.#acknowledge());
  }

  becomeLive(): void {
    this.#isLive = true;
  }

  progress(revision: number): void {
    this.#channel.progress(revision);
  }

  /** The store has reached this revision, and its process sent every change up to it before. */
  reach(revision: number): void {
    if (this.#isLive) this.#channel.progress(revision);
  }

  /** Only sometimes: the sender waits at the limits. */
  #acknowledge(): void {
    if (this.#changes < CATCH_UP_CHANGES_MAX / 4 && this.#bytes < CATCH_UP_BYTES_MAX / 4) return;
    this.#context.send({ do: "acknowledge", id: this.#context.id, changes: this.#changes, bytes: this.#bytes });
    this.#changes = 0;
    this.#bytes = 0;
  }
}
