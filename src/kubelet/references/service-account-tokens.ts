/**
 * Service account tokens of Pods, each bound to its Pod: requested, cached, and renewed at four fifths of their lifetime or after a day,
 * with jitter so that not all are renewed at once. A token that cannot be renewed stays in use until it expires. Times and jitter are
 * upstream's. One timer serves all tokens. Not here: the files that they are written to (machine/volumes).
 */
import type { Pod } from "../../api/generated/core/v1.ts";
import type { TokenRequest } from "../../api/generated/authentication.k8s.io/v1.ts";
import { serviceAccounts } from "../../api/core/v1/service-account.ts";
import type { JsonObject } from "../../api/machinery/object.ts";
import { parseTime } from "../../api/machinery/time.ts";
import { Backoff } from "../../base/backoff.ts";
import { NOT_NEEDED } from "../../base/abort.ts";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import type { Random } from "../../base/random.ts";
import type { Client } from "../../client/client.ts";
import type { TokenSpec } from "../contracts/pod-volumes.ts";

export interface ServiceAccountTokens extends Disposable {
  /** Returns the cached token, or a new one if it is due. Rejects if no valid token is available. */
  token(pod: Pod, wish: TokenSpec, signal?: AbortSignal): Promise<string>;
  /** Drops the tokens of a removed Pod. */
  forget(podUid: string): void;
  /** Notifies the listener that a token of this Pod is due for renewal. */
  listen(listener: (podUid: string) => void): Disposable;
}

export interface TokensOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

export function startServiceAccountTokens(options: TokensOptions): ServiceAccountTokens {
  return new KeptTokens(options);
}

const AGE_MAX_MS = 24 * 3_600_000;
/** Remaining part of the lifetime at which a token is renewed. */
const SPARE_PART = 0.2;
const JITTER_MAX_MS = 10_000;

/** Backoff after a failed renewal. */
const RETRY_DELAY = { minMs: 5_000, maxMs: 120_000 };

/** Maximum sleep: tokens expire by wall-clock time, which may be set, and which advances while a machine is suspended. */
const SLEEP_MAX_MS = 60_000;

/** The API server's default. */
const EXPIRATION_SECONDS_DEFAULT = 3_600;

interface KeptToken {
  readonly podUid: string;
  readonly value: string;
  readonly expiresAtMs: number;
  readonly backoff: Backoff;
  /** When it is renewed, or retried. */
  dueAtMs: number;
  /** Its Pod was notified. */
  isNotified: boolean;
}

class KeptTokens implements ServiceAccountTokens {
  readonly #options: TokensOptions;
  readonly #tokens = new Map<string, KeptToken>();
  readonly #asked = new Map<string, Promise<string>>();
  readonly #listeners = new Set<(podUid: string) => void>();
  readonly #forgotten = new Map<string, AbortController>();
  #timer = new AbortController();
  #isClosed = false;

  constructor(options: TokensOptions) {
    this.#options = options;
  }

  async token(pod: Pod, wish: TokenSpec, signal?: AbortSignal): Promise<string> {
    signal?.throwIfAborted();
    const key = keyOf(pod, wish);
    const kept = this.#tokens.get(key);
    if (kept !== undefined && this.#options.clock.now() < kept.dueAtMs) return kept.value;
    // Concurrent callers share one request.
    const asked = this.#asked.get(key);
    if (asked !== undefined) return asked;
    const asking = this.#renew(pod, wish, { key, kept }).finally(() => this.#asked.delete(key));
    this.#asked.set(key, asking);
    return asking;
  }

  forget(podUid: string): void {
    this.#forgotten.get(podUid)?.abort(NOT_NEEDED);
    this.#forgotten.delete(podUid);
    for (const [key, token] of this.#tokens) if (token.podUid === podUid) this.#tokens.delete(key);
  }

  listen(listener: (podUid: string) => void): Disposable {
    const own = (podUid: string) => listener(podUid);
    this.#listeners.add(own);
    return { [Symbol.dispose]: () => void this.#listeners.delete(own) };
  }

  [Symbol.dispose](): void {
    this.#isClosed = true;
    this.#timer.abort(NOT_NEEDED);
    for (const podUid of [...this.#forgotten.keys()]) this.forget(podUid);
    this.#listeners.clear();
  }

  async #renew(pod: Pod, wish: TokenSpec, { key, kept }: { readonly key: string; readonly kept: KeptToken | undefined }): Promise<string> {
    const { clock, random, log } = this.#options;
    const podUid = pod.metadata.uid ?? "";
    const signal = this.#signalOf(podUid);
    try {
      const { value, issuedAtMs, expiresAtMs } = await this.#request(pod, wish, signal);
      const dueAtMs = dueAt({ issuedAtMs, expiresAtMs }, random);
      const backoff = new Backoff({ ...RETRY_DELAY, random });
      if (!signal.aborted) this.#tokens.set(key, { podUid, value, expiresAtMs, backoff, dueAtMs, isNotified: false });
      this.#setTimer();
      return value;
    } catch (error) {
      if (kept === undefined) throw new Error(`failed to fetch token: ${messageOf(error)}`, { cause: error });
      kept.dueAtMs = clock.now() + kept.backoff.next();
      kept.isNotified = false;
      this.#setTimer();
      if (clock.now() > kept.expiresAtMs) throw new Error(`token ${key} expired and refresh failed: ${messageOf(error)}`, { cause: error });
      log.warn("Cannot renew a service account token; using the old one", { request: key, error });
      return kept.value;
    }
  }

  #signalOf(podUid: string): AbortSignal {
    let controller = this.#forgotten.get(podUid);
    if (controller === undefined) this.#forgotten.set(podUid, (controller = new AbortController()));
    return controller.signal;
  }

  async #request(pod: Pod, { audience = "", expirationSeconds }: TokenSpec, signal: AbortSignal): Promise<IssuedToken> {
    const { name, namespace = "", uid = "" } = pod.metadata;
    const wish: JsonObject = {
      apiVersion: "authentication.k8s.io/v1",
      kind: "TokenRequest",
      metadata: {},
      spec: {
        audiences: audience === "" ? [] : [audience],
        expirationSeconds: expirationSeconds ?? EXPIRATION_SECONDS_DEFAULT,
        boundObjectRef: { apiVersion: "v1", kind: "Pod", name, uid },
      },
    };
    const account = { namespace, name: pod.spec?.serviceAccountName ?? "" };
    const answer = await this.#options.client.post(serviceAccounts, account, "token", wish, { signal });
    return issuedToken(answer as TokenRequest);
  }

  /** Sleeps until the next token is due, then notifies its Pod. */
  #setTimer(): void {
    this.#timer.abort(NOT_NEEDED);
    if (this.#isClosed) return;
    const waiting = [...this.#tokens.values()].filter(({ isNotified }) => !isNotified);
    if (waiting.length === 0) return;
    this.#timer = new AbortController();
    const { clock } = this.#options;
    const delayMs = Math.min(...waiting.map(({ dueAtMs }) => dueAtMs)) - clock.now();
    clock.sleep(Math.min(Math.max(delayMs, 0), SLEEP_MAX_MS), this.#timer.signal).then(
      () => this.#notifyDue(),
      () => undefined, // Rescheduled, or closed.
    );
  }

  #notifyDue(): void {
    const nowMs = this.#options.clock.now();
    const due = [...this.#tokens.values()].filter(({ dueAtMs, isNotified }) => !isNotified && dueAtMs <= nowMs);
    for (const token of due) token.isNotified = true;
    this.#setTimer();
    for (const podUid of new Set(due.map((token) => token.podUid))) for (const listener of this.#listeners) listener(podUid);
  }
}

interface IssuedToken {
  readonly value: string;
  readonly issuedAtMs: number;
  readonly expiresAtMs: number;
}

/** By the server's clock, as upstream: the issue time follows from the expiration. */
function issuedToken({ spec, status }: TokenRequest): IssuedToken {
  const expiresAtMs = parseTime(status?.expirationTimestamp ?? "");
  if (expiresAtMs === undefined || status?.token === undefined) throw new Error("the answer holds no token");
  return { value: status.token, expiresAtMs, issuedAtMs: expiresAtMs - (spec?.expirationSeconds ?? EXPIRATION_SECONDS_DEFAULT) * 1_000 };
}

export function dueAt({ issuedAtMs, expiresAtMs }: Pick<IssuedToken, "issuedAtMs" | "expiresAtMs">, random: Random): number {
  const spareMs = SPARE_PART * (expiresAtMs - issuedAtMs);
  return Math.min(issuedAtMs + AGE_MAX_MS, expiresAtMs - spareMs) - random.fraction() * JITTER_MAX_MS;
}

/** Contains nothing secret: it is logged. */
function keyOf({ metadata, spec }: Pod, { audience = "", expirationSeconds = 0 }: TokenSpec): string {
  return JSON.stringify([spec?.serviceAccountName, metadata.namespace, audience, expirationSeconds, metadata.name, metadata.uid]);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
