/**
 * The known compacted revision. etcd does not report it on request, only to watches that start too early. So this is the highest revision
 * that this process compacted to or received, and, when a read is rejected, what a short watch from the same revision reports.
 */
import type { Clock } from "../../base/clock.ts";
import { decode, encode } from "../../base/protobuf/messages.ts";
import type { EtcdCluster } from "./etcd-cluster.ts";
import { WATCH } from "./etcd-messages.ts";
import type { EtcdEndpoint } from "./etcd-endpoint.ts";
import type { KeySpace } from "./key-space.ts";

/** Timeout for etcd to cancel the short watch; it checks every 100 ms. */
const ASK_TIMEOUT_MS = 2_000;

export class CompactedRevision {
  readonly #cluster: EtcdCluster;
  readonly #keys: KeySpace;
  readonly #clock: Clock;
  #revision = 0;

  constructor(options: { readonly cluster: EtcdCluster; readonly keys: KeySpace; readonly clock: Clock }) {
    this.#cluster = options.cluster;
    this.#keys = options.keys;
    this.#clock = options.clock;
  }

  /** 0 if nothing is known. The actual one may be higher. */
  get revision(): number {
    return this.#revision;
  }

  learn(revision: number): void {
    this.#revision = Math.max(this.#revision, revision);
  }

  /** After etcd rejected a read at `wanted`: the oldest readable revision, or the next after `wanted` if etcd does not report it. */
  async query(wanted: number): Promise<number> {
    if (this.#revision <= wanted) {
      const attempt = await this.#cluster.attempt(ASK_TIMEOUT_MS, (endpoint) => this.#watchFrom(endpoint, wanted));
      this.learn(Math.max(wanted + 1, attempt.answered ? attempt.response : 0));
    }
    return this.#revision;
  }

  /** What etcd reports to a watch from `wanted`; 0 if it accepts it after all, or does not respond in time. */
  #watchFrom(endpoint: EtcdEndpoint, wanted: number): Promise<number> {
    return new Promise((resolve, reject) => {
      const over = new AbortController();
      const end = (settle: () => void) => {
        over.abort();
        stream.cancel();
        settle();
      };
      const stream = endpoint.watch({
        message: (message) => {
          const { canceled, compactRevision } = decode(WATCH.response, message);
          if (canceled) end(() => resolve(compactRevision));
        },
        ended: (error) => end(() => reject(error ?? new Error("The watch was ended"))),
      });
      // Not a valid key, so that there is nothing to deliver.
      stream.send(encode(WATCH.request, { create: { key: this.#keys.encode("/"), startRevision: wanted } }));
      this.#clock.sleep(ASK_TIMEOUT_MS, over.signal).then(
        () => end(() => resolve(0)),
        () => undefined,
      );
    });
  }
}
