/**
 * What is known of how far the history has been compacted. etcd does not tell when it is asked; it tells those whose watch
 * begins too early. So this is the highest revision that this process compacted to or was told of, and, when a read is
 * refused, what a short watch from the same revision is told.
 */
import type { Clock } from "../../base/clock.ts";
import { decode, encode } from "../../base/protobuf/messages.ts";
import type { EtcdCluster } from "./etcd-cluster.ts";
import { WATCH } from "./etcd-messages.ts";
import type { EtcdEndpoint } from "./etcd-endpoint.ts";
import type { KeySpace } from "./key-space.ts";

/** How long etcd may take to refuse the short watch; it looks every 100 ms. */
const ASK_TIMEOUT_MS = 2_000;

export class CompactionMemory {
  readonly #cluster: EtcdCluster;
  readonly #keys: KeySpace;
  readonly #clock: Clock;
  #revision = 0;

  constructor(options: { readonly cluster: EtcdCluster; readonly keys: KeySpace; readonly clock: Clock }) {
    this.#cluster = options.cluster;
    this.#keys = options.keys;
    this.#clock = options.clock;
  }

  /** 0 if nothing is known. The truth may be higher. */
  get revision(): number {
    return this.#revision;
  }

  learn(revision: number): void {
    this.#revision = Math.max(this.#revision, revision);
  }

  /** After etcd refused to read at `wanted`: the oldest revision that can be read, or the next after `wanted` if it does not say. */
  async ask(wanted: number): Promise<number> {
    if (this.#revision <= wanted) {
      const attempt = await this.#cluster.attempt(ASK_TIMEOUT_MS, (endpoint) => this.#watchFrom(endpoint, wanted));
      this.learn(Math.max(wanted + 1, attempt.answered ? attempt.response : 0));
    }
    return this.#revision;
  }

  /** What etcd tells a watch that begins at `wanted`; 0 if it takes it after all, or says nothing in time. */
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
      // The name of no key, so that there is nothing to show.
      stream.send(encode(WATCH.request, { create: { key: this.#keys.encode("/"), startRevision: wanted } }));
      this.#clock.sleep(ASK_TIMEOUT_MS, over.signal).then(
        () => end(() => resolve(0)),
        () => undefined,
      );
    });
  }
}
