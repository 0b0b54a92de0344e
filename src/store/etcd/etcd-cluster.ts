/**
 * The members of one etcd cluster, with failover. One member is preferred until it fails, then the next one; the first is random, so that
 * several API servers do not all use the same.
 *
 * An attempt is made once and reports its outcome; retrying is the caller's decision, since only the caller knows whether that is safe
 * (`read` is: it retries until a deadline). Not here: the requests (etcd-reader.ts, etcd-commit.ts, etcd-watch.ts).
 */
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import type { Random } from "../../base/random.ts";
import { GrpcError, type GrpcTls } from "../../host/grpc/channel.ts";
import { closed, StoreError } from "../store-error.ts";
import { openEtcdEndpoint, type CallOptions, type EtcdAddress, type EtcdEndpoint } from "./etcd-endpoint.ts";
import { explain, failureOf, mustBeMended, refusalError, type Failure } from "./etcd-failure.ts";
import type { StatusResponse } from "./etcd-messages.ts";
import { hasReliableProgress, refusalOf } from "./etcd-version.ts";
import { Retry } from "./retry.ts";

export interface EtcdTimeouts {
  /** Opening fails if no member has responded by then. */
  readonly openMs: number;
  /** Timeout of one read attempt; then another member is tried. */
  readonly readAttemptMs: number;
  /** A read without a response by then is "Unavailable". */
  readonly readMs: number;
  /** Timeout of one commit attempt. Longer than the 7 s after which etcd itself abandons a write whose leader died. */
  readonly commitAttemptMs: number;
  /** The same for commits that are safe to retry: about as long as etcd needs to elect a leader. */
  readonly repeatableAttemptMs: number;
  /** A commit without a response by then is "Unavailable" or "Uncertain". */
  readonly commitMs: number;
}

export const DEFAULT_TIMEOUTS: EtcdTimeouts = {
  openMs: 10_000,
  readAttemptMs: 5_000,
  readMs: 20_000,
  commitAttemptMs: 10_000,
  repeatableAttemptMs: 3_000,
  commitMs: 30_000,
};

/** How long opening waits for the other members once one has responded: long enough to see an old version among them. */
const OPEN_OTHERS_MS = 1_000;

export interface EtcdClusterOptions {
  readonly addresses: readonly EtcdAddress[];
  readonly tls: GrpcTls | undefined;
  readonly timeouts: EtcdTimeouts;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

export type Attempt<T> = { readonly answered: true; readonly response: T } | { readonly answered: false; readonly failure: Failure };

type Admission = { readonly usable: true; readonly endpoint: EtcdEndpoint } | { readonly usable: false; readonly cause: unknown };

/** Rejects with "Unavailable" if no member responds in time, "Unsupported" if one must not be used. */
export async function openEtcdCluster(options: EtcdClusterOptions): Promise<EtcdCluster> {
  const cluster = new EtcdCluster(options);
  try {
    await cluster.open();
  } catch (error) {
    cluster.close();
    throw error;
  }
  return cluster;
}

export class EtcdCluster {
  readonly #options: EtcdClusterOptions;
  readonly #closing = new AbortController();
  #endpoints: readonly EtcdEndpoint[] = [];
  #preferred = 0;
  #clusterId: { readonly id: bigint; readonly url: string } | undefined;

  constructor(options: EtcdClusterOptions) {
    this.#options = options;
  }

  /** Aborted when the store is closing: reads and waits are cancelled. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /** Whether the progress notifications of every member seen so far are reliable. */
  get hasProgress(): boolean {
    return this.#endpoints.every(({ version }) => version === undefined || hasReliableProgress(version));
  }

  async open(): Promise<void> {
    const { addresses, tls, clock, log, random, timeouts } = this.#options;
    const judge = (url: string, status: StatusResponse) => this.#judge(url, status);
    this.#endpoints = await Promise.all(addresses.map((address) => openEtcdEndpoint({ address, tls, clock, log, judge })));
    const retry = this.retry(timeouts.openMs);
    do {
      await this.#meetMembers(retry.remainingMs);
      const admitted = this.#endpoints.flatMap(({ version }, index) => (version === undefined ? [] : [index]));
      if (admitted.length > 0) {
        this.#preferred = admitted[random.below(admitted.length)] as number;
        return;
      }
      if (this.#endpoints.every(({ failure }) => failure !== undefined && mustBeMended(failure))) break;
    } while (await retry.again(this.#endpoints.length));
    throw this.unavailable("open the etcd store");
  }

  /** One attempt at the preferred member. Does not reject. */
  async attempt<T>(timeoutMs: number, use: (endpoint: EtcdEndpoint) => Promise<T>): Promise<Attempt<T>> {
    const admission = await this.admit(timeoutMs);
    if (!admission.usable) return { answered: false, failure: { kind: "lost", carriedOut: "no", cause: admission.cause } };
    try {
      return { answered: true, response: await use(admission.endpoint) };
    } catch (error) {
      const failure = failureOf(error);
      if (failure.kind === "lost") this.avoid(admission.endpoint, failure.cause);
      return { answered: false, failure };
    }
  }

  /** The preferred member, if it is usable; if not, another is preferred from now on. Does not reject. */
  async admit(timeoutMs: number): Promise<Admission> {
    const endpoint = this.#endpoints[this.#preferred] as EtcdEndpoint;
    try {
      await endpoint.admit(timeoutMs);
      endpoint.note(undefined);
      return { usable: true, endpoint };
    } catch (cause) {
      this.avoid(endpoint, cause);
      return { usable: false, cause };
    }
  }

  /** Retries until there is a response, a rejection, or no time left. Only for idempotent requests. */
  async read<T>(action: string, request: (endpoint: EtcdEndpoint, options: CallOptions) => Promise<T>): Promise<T> {
    const { readMs, readAttemptMs } = this.#options.timeouts;
    const retry = this.retry(readMs);
    for (;;) {
      if (this.closing.aborted) throw closed(action);
      const timeoutMs = Math.min(readAttemptMs, retry.remainingMs);
      const attempt = await this.attempt(timeoutMs, (endpoint) => request(endpoint, { timeoutMs, signal: this.closing }));
      if (attempt.answered) return attempt.response;
      if (attempt.failure.kind === "refused") throw refusalError(action, attempt.failure);
      if (!(await retry.again(1))) throw this.closing.aborted ? closed(action) : this.unavailable(action);
    }
  }

  /** Prefers the next member, unless another request has already failed over. */
  avoid(endpoint: EtcdEndpoint, cause: unknown): void {
    if (this.closing.aborted && cause instanceof GrpcError && cause.code === "CANCELLED") return; // We cancelled, not the member.
    // Our own timeout says less than the member's earlier error.
    const saysLittle = cause instanceof GrpcError && cause.code === "DEADLINE_EXCEEDED" && endpoint.failure !== undefined;
    if (!saysLittle) endpoint.note(cause);
    if (this.#endpoints[this.#preferred] === endpoint) this.#preferred = (this.#preferred + 1) % this.#endpoints.length;
  }

  retry(limitMs: number): Retry {
    const { clock, random } = this.#options;
    return new Retry({ clock, random, limitMs, members: this.#options.addresses.length, closing: this.closing });
  }

  unavailable(action: string): StoreError {
    const failures = this.#endpoints.map(({ url, failure }) => `${url}: ${failure === undefined ? "not tried again" : explain(failure)}`);
    const cause = this.#endpoints.find(({ failure }) => failure !== undefined)?.failure;
    return new StoreError("Unavailable", `Cannot ${action}: no etcd member answers; ${failures.join("; ")}`, { cause });
  }

  stopReading(): void {
    this.#closing.abort();
  }

  close(): void {
    this.stopReading();
    for (const endpoint of this.#endpoints) endpoint.close();
  }

  /** Queries the status of all members at once, and waits for all, or for a while after the first response. */
  async #meetMembers(timeoutMs: number): Promise<void> {
    const meetings = this.#endpoints.map(async (endpoint) => {
      try {
        await endpoint.admit(timeoutMs);
        endpoint.note(undefined);
      } catch (error) {
        endpoint.note(error);
        throw error;
      }
    });
    const enough = new AbortController();
    const all = Promise.allSettled(meetings).then(() => enough.abort());
    const afterFirst = Promise.any(meetings)
      .then(() => this.#options.clock.sleep(OPEN_OTHERS_MS, enough.signal))
      .catch(() => undefined);
    await Promise.race([all, afterFirst]);
    for (const { failure } of this.#endpoints) if (failure instanceof StoreError) throw failure;
  }

  #judge(url: string, { version, header }: StatusResponse): void {
    const refusal = refusalOf(version);
    if (refusal !== undefined) throw new StoreError("Unsupported", `Cannot use etcd at ${url}: ${refusal}`);
    const id = header?.clusterId ?? 0n;
    this.#clusterId ??= { id, url };
    if (this.#clusterId.id !== id) {
      const [mine, other] = [id.toString(16), this.#clusterId.id.toString(16)];
      throw new StoreError(
        "Unsupported",
        `Cannot use etcd at ${url}: it belongs to cluster ${mine}, ${this.#clusterId.url} to cluster ${other}`,
      );
    }
  }
}
