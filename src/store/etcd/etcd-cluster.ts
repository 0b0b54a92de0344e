/**
 * The members of one etcd cluster and how to get an answer from any of them. One member is preferred until it fails, then
 * the next one is; which one is first is left to chance, so that several API servers do not all lean on the same.
 *
 * An attempt is made once and says how it went; trying again is the caller's decision, since only the caller knows whether
 * that is safe (`read` is: it tries until a deadline). Not here: what is asked (etcd-reader.ts, etcd-commit.ts, etcd-watch.ts).
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
  /** Opening fails if no member has answered by then. */
  readonly openMs: number;
  /** One attempt to read; then another member is asked. */
  readonly readAttemptMs: number;
  /** A read that nobody has answered by then is "Unavailable". */
  readonly readMs: number;
  /** One attempt to commit. Longer than the 7 s after which etcd itself gives up a write that its leader took to the grave. */
  readonly commitAttemptMs: number;
  /** The same for commits that are safe to send again: about as long as etcd needs for a new leader. */
  readonly repeatableAttemptMs: number;
  /** A commit that nobody has answered by then is "Unavailable" or "Uncertain". */
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

/** How long opening waits for the other members once one has answered: long enough to see an old version among them. */
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

/** Rejects with "Unavailable" if no member answers in time, "Unsupported" if one must not be used. */
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

  /** Aborted when the store is to be closed: who only waits or reads stops. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /** Whether the progress notes of every member seen so far can be trusted. */
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

  /** The preferred member, if it can be used; if not, another is preferred from now on. Does not reject. */
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

  /** Asks until there is an answer, a refusal, or no time left. Only for what may be carried out twice. */
  async read<T>(action: string, ask: (endpoint: EtcdEndpoint, options: CallOptions) => Promise<T>): Promise<T> {
    const { readMs, readAttemptMs } = this.#options.timeouts;
    const retry = this.retry(readMs);
    for (;;) {
      if (this.closing.aborted) throw closed(action);
      const timeoutMs = Math.min(readAttemptMs, retry.remainingMs);
      const attempt = await this.attempt(timeoutMs, (endpoint) => ask(endpoint, { timeoutMs, signal: this.closing }));
      if (attempt.answered) return attempt.response;
      if (attempt.failure.kind === "refused") throw refusalError(action, attempt.failure);
      if (!(await retry.again(1))) throw this.closing.aborted ? closed(action) : this.unavailable(action);
    }
  }

  /** Prefers the next member, unless somebody else has turned away from this one already. */
  avoid(endpoint: EtcdEndpoint, cause: unknown): void {
    if (this.closing.aborted && cause instanceof GrpcError && cause.code === "CANCELLED") return; // We gave up, not the member.
    // That our own time ran out says less than what the member said before.
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

  /** Asks all members at once who they are, and waits for all, or for a while after the first answer. */
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
