/**
 * One watch of the store: a stream to some member of etcd, resumed elsewhere when it breaks, so that the listener receives every change
 * once and in order whatever happens to members and connections. It ends only as the contract says.
 *
 * The stream starts at the last delivered revision, not after it: so etcd rejects it exactly when changes after that revision may have been
 * compacted, and repeated events are dropped by their revision.
 */
import { Backoff } from "../../base/backoff.ts";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import { decode, encode, type Encodable } from "../../base/protobuf/messages.ts";
import type { Random } from "../../base/random.ts";
import type { GrpcStream } from "../../host/grpc/channel.ts";
import type { Entry, Watch, WatchEnd, WatchListener } from "../store.ts";
import { WatchChannel } from "../watch-channel.ts";
import type { CompactedRevision } from "./compacted-revision.ts";
import { EventAssembler, changesOf } from "./etcd-changes.ts";
import type { EtcdCluster } from "./etcd-cluster.ts";
import type { EtcdEndpoint } from "./etcd-endpoint.ts";
import { failureOf, refusalError } from "./etcd-failure.ts";
import { WATCH, type KeyValue, type WatchResponse } from "./etcd-messages.ts";
import { revisionOf } from "./etcd-reader.ts";
import type { KeyRange } from "./key-space.ts";
import { RETRY_GROWTH } from "./retry.ts";

/** Timeout for a member to identify itself before a watch fails over. */
const ADMISSION_TIMEOUT_MS = 5_000;

/** etcd drops a progress request that arrives while the watch is catching up; it is repeated after this delay. */
const PROGRESS_RETRY_MS = 100;

export interface EtcdWatchOptions {
  readonly cluster: EtcdCluster;
  readonly compaction: CompactedRevision;
  readonly entryOf: (kv: KeyValue) => Entry;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly prefix: string;
  readonly range: KeyRange;
  readonly after: number;
  readonly listener: WatchListener;
  readonly whenClosed: () => void;
}

export class EtcdWatch implements Watch {
  readonly #options: EtcdWatchOptions;
  readonly #channel: WatchChannel;
  readonly #over = new AbortController();
  readonly #events: EventAssembler;
  #stream: GrpcStream | undefined;
  /** The newest revision when the stream began; up to there it is catching up. 0: etcd has not accepted the watch yet. */
  #beganAt = 0;
  #progressWanted = false;

  constructor(options: EtcdWatchOptions) {
    this.#options = options;
    this.#events = new EventAssembler(options.after);
    this.#channel = new WatchChannel(options.listener, options.clock, () => {
      this.#over.abort();
      this.#stream?.cancel();
      options.whenClosed();
    });
    void this.#run();
  }

  requestProgress(): void {
    if (this.#progressWanted || this.#channel.closed || !this.#options.cluster.hasProgress) return;
    this.#progressWanted = true;
    void this.#askForProgress();
  }

  close(): void {
    this.end({ reason: "closed" });
  }

  end(end: WatchEnd): void {
    this.#channel.end(end);
  }

  async #run(): Promise<void> {
    const { cluster, clock, random, log, prefix } = this.#options;
    const backoff = new Backoff({ ...RETRY_GROWTH, random });
    while (!this.#channel.closed) {
      const admission = await cluster.admit(ADMISSION_TIMEOUT_MS);
      if (this.#channel.closed) return;
      if (admission.usable) {
        const cause = await this.#follow(admission.endpoint);
        if (this.#channel.closed) return;
        log.debug("A watch lost its stream and resumes on another member", { prefix, endpoint: admission.endpoint.url, error: cause });
        if (this.#beganAt > 0) backoff.reset();
        cluster.avoid(admission.endpoint, cause);
      }
      await clock.sleep(backoff.next(), this.#over.signal).catch(() => undefined);
    }
  }

  /** Resolves with the reason when the stream breaks; never if the watch ends, when it is no longer awaited. */
  #follow(endpoint: EtcdEndpoint): Promise<unknown> {
    return new Promise((resolve) => {
      this.#beganAt = 0;
      this.#events.restart();
      const broken = (cause: unknown) => {
        stream.cancel();
        resolve(cause);
      };
      const stream = endpoint.watch({
        message: (message) => this.#take(message, broken),
        ended: (error) => {
          const failure = failureOf(error);
          if (failure.kind === "refused") this.end({ reason: "failed", error: refusalError(`watch ${this.#options.prefix}`, failure) });
          resolve(error ?? new Error("The member ended the watch"));
        },
      });
      this.#stream = stream;
      stream.send(this.#creation());
    });
  }

  #creation(): Uint8Array {
    return request({
      create: {
        key: this.#options.range.key,
        rangeEnd: this.#options.range.rangeEnd,
        // etcd takes 0 for "from now on"; its first revision is 1, at which nothing was ever written.
        startRevision: Math.max(1, this.#events.last),
        previousKeyValue: true,
        fragment: true,
        progressNotify: this.#options.cluster.hasProgress,
      },
    });
  }

  #take(message: Uint8Array, broken: (cause: unknown) => void): void {
    let response: WatchResponse;
    try {
      response = decode(WATCH.response, message);
    } catch (error) {
      return broken(error);
    }
    if (response.canceled) return this.#cancelled(response, broken);
    if (response.created) this.#beganAt = Math.max(1, revisionOf(response));
    else if (response.events.length > 0 || response.fragment) this.#handOver(response);
    else this.#progressed(revisionOf(response));
  }

  #cancelled({ compactRevision, cancelReason }: WatchResponse, broken: (cause: unknown) => void): void {
    if (compactRevision === 0) return broken(new Error(`The member cancelled the watch: ${cancelReason || "no reason given"}`));
    this.#endCompacted(compactRevision);
  }

  #handOver({ events, fragment }: WatchResponse): void {
    const result = changesOf(this.#events.add(events, fragment), this.#options.entryOf);
    this.#channel.push(result.changes);
    if ("previousLostAt" in result) this.#endCompacted(result.previousLostAt);
    // While the watch catches up, a busy listener applies backpressure to etcd. Later it does not, or one slow listener would delay all.
    if (!this.#channel.closed && this.#channel.busy && this.#events.last < this.#beganAt) {
      const stream = this.#stream;
      stream?.pause();
      this.#channel.onceIdle(() => stream?.resume());
    }
  }

  #progressed(revision: number): void {
    // A lagging member may report a revision that this watch has passed.
    if (!this.#options.cluster.hasProgress || revision < this.#events.last) return;
    this.#progressWanted = false;
    this.#events.advance(revision);
    this.#channel.progress(revision);
  }

  async #askForProgress(): Promise<void> {
    while (this.#progressWanted && !this.#channel.closed && this.#options.cluster.hasProgress) {
      if (this.#beganAt > 0) this.#stream?.send(request({ progress: {} }));
      await this.#options.clock.sleep(PROGRESS_RETRY_MS, this.#over.signal).catch(() => undefined);
    }
  }

  #endCompacted(atLeast: number): void {
    this.#options.compaction.learn(atLeast);
    this.end({ reason: "compacted", compactedRevision: this.#options.compaction.revision });
  }
}

function request(message: Encodable<(typeof WATCH)["request"]>): Uint8Array {
  return encode(WATCH.request, message);
}
