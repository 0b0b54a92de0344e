/**
 * Keeps the rules of a node those of the cluster's NetworkPolicies: informers → model → enforcer. Every change wakes one loop, which
 * computes from current state, so that lost or repeated notifications do no harm; failed writes are retried with back-off; flushed
 * rules are written again. Stopping leaves the rules: Pods stay protected during a restart.
 *
 * The kubelet calls `admitPod` between the creation of a Pod's sandbox and its first container, and waits: so the rules exist before the
 * Pod's first packet, or the Pod does not start. A kubelet that does not (`k8ts kubelet` of another program's cluster) is covered by the
 * enforcer, which blocks addresses without a known Pod until the Pod's status reports them.
 */
import { namespaces } from "../api/core/v1/namespace.ts";
import { pods } from "../api/core/v1/pod.ts";
import { endpointSlices } from "../api/discovery.k8s.io/v1/endpoint-slice.ts";
import type { Namespace, Pod } from "../api/generated/core/v1.ts";
import type { Transport } from "../api/machinery/transport.ts";
import { networkPolicies } from "../api/networking.k8s.io/v1/network-policy.ts";
import { anySignal, onAbort } from "../base/abort.ts";
import { Backoff } from "../base/backoff.ts";
import type { Clock } from "../base/clock.ts";
import { deepEqual } from "../base/deep.ts";
import { Disposables } from "../base/disposables.ts";
import type { Logger } from "../base/logger.ts";
import type { Random } from "../base/random.ts";
import type { Client } from "../client/client.ts";
import type { Informers } from "../client/informer/informer.ts";
import { createInformers } from "../client/informer/informers.ts";
import { createClient } from "../client/rest-client.ts";
import { AdmittedPods } from "./admitted-pods.ts";
import { computeModel } from "./compute/compute-model.ts";
import { DNS_SLICES } from "./compute/dns-servers.ts";
import type { Enforcer } from "./enforcers/enforcer.ts";
import type { PolicyModel } from "./model.ts";

/** Flushed rules are noticed after this time: a compromise between exposure and the cost of one process per check. */
const CHECK_INTERVAL_MS = 10_000;

const RETRY = { minMs: 100, maxMs: 10_000 };

/** Limit of one admission. Later the Pod does not start, with an event that says why, and the kubelet retries. */
const ADMISSION_TIMEOUT_MS = 10_000;

/** Limit of the request for a namespace's policies, with which the start of a Pod waits. */
const POLICY_REQUEST_TIMEOUT_MS = 5_000;

/**
 * An API server that is slow may have policies that are not known here, so the Pod waits. One that has not answered for this long is away,
 * as one that refuses connections: then the policies known here decide, since Pods must start without it.
 */
const UNANSWERED_MAX_MS = 30_000;

export interface EnforcementOptions {
  readonly nodeName: string;
  readonly enforcer: Enforcer;
  readonly transport: Transport;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

export interface PolicyEnforcement extends AsyncDisposable {
  /** Resolves when the rules of the Pod, which has these addresses, are in effect. Rejects with the reason if they cannot be applied. */
  admitPod(pod: Pod, addresses: readonly string[]): Promise<void>;
}

/** Resolves when the rules of all existing policies are in effect. */
export async function startEnforcement(options: EnforcementOptions, signal?: AbortSignal): Promise<PolicyEnforcement> {
  const { transport, clock, random, log } = options;
  await using starting = new Disposables();
  const informers = starting.use(createInformers({ transport, clock, random: random.derive("policy informers"), log }));
  const loop = new EnforcementLoop(options, informers, createClient(transport));
  const watched = [
    ...[informers.of(networkPolicies), informers.of(pods), informers.of(namespaces)],
    informers.of(endpointSlices, DNS_SLICES),
  ];
  await Promise.all(watched.map((informer) => informer.synced(signal)));
  loop.listen(starting);
  await loop.applyNow();
  loop.start();
  starting.defer(() => loop.stop());
  const owned = starting.move();
  return { admitPod: (pod, addresses) => loop.admitPod(pod, addresses), [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose]() };
}

class NoAnswerError extends Error {
  override readonly name = "NoAnswerError";
}

interface Waiter {
  /** State that has to be applied. */
  readonly version: number;
  resolve(): void;
}

class EnforcementLoop {
  readonly #options: EnforcementOptions;
  readonly #informers: Informers;
  readonly #client: Client;
  readonly #admitted = new AdmittedPods();
  readonly #stopping = new AbortController();
  readonly #backoff: Backoff;
  #running: Promise<void> = Promise.resolve();
  /** Number of the newest state that must be applied, and of the one that is. */
  #wanted = 0;
  #applied = 0;
  /** Undefined: the last request was answered. */
  #unansweredSinceMs: number | undefined;
  /** Message of the last write, if it failed. */
  #lastError: string | undefined;
  #wake: () => void = () => {};
  #waiters: readonly Waiter[] = [];

  constructor(options: EnforcementOptions, informers: Informers, client: Client) {
    this.#options = options;
    this.#informers = informers;
    this.#client = client;
    this.#backoff = new Backoff({ ...RETRY, random: options.random });
  }

  listen(owner: Disposables): void {
    const change = (): void => this.#changed();
    owner.use(this.#informers.of(networkPolicies).listen({ added: change, updated: change, deleted: change }));
    owner.use(this.#informers.of(endpointSlices, DNS_SLICES).listen({ added: change, updated: change, deleted: change }));
    owner.use(
      this.#informers.of(pods).listen({
        added: change,
        updated: (pod, previous) => {
          this.#admitted.reported(pod);
          if (concernsPolicies(pod, previous)) this.#changed();
        },
        deleted: (pod) => {
          this.#admitted.deleted(pod);
          this.#changed();
        },
      }),
    );
    owner.use(
      this.#informers.of(namespaces).listen({
        added: change,
        updated: (namespace: Namespace, previous: Namespace) => {
          if (!deepEqual(namespace.metadata.labels, previous.metadata.labels)) this.#changed();
        },
        deleted: change,
      }),
    );
  }

  start(): void {
    this.#running = this.#run(this.#stopping.signal);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async applyNow(): Promise<void> {
    const version = this.#wanted;
    const { written } = await this.#options.clock.external(this.#options.enforcer.apply(this.#model()));
    this.#applied = version;
    if (written > 0) this.#options.log.debug("Applied network policies", { written });
    for (const waiter of this.#waiters) if (waiter.version <= version) waiter.resolve();
    this.#waiters = this.#waiters.filter((waiter) => waiter.version > version);
  }

  async admitPod(pod: Pod, addresses: readonly string[]): Promise<void> {
    if (pod.spec?.hostNetwork === true || addresses.length === 0 || this.#isApplied(pod, addresses)) return;
    const { namespace = "" } = pod.metadata;
    await this.#knowPolicies(namespace);
    this.#admitted.admit(pod, addresses);
    this.#changed();
    // Without any policy nothing is forbidden, and the address is written meanwhile.
    if (this.#informers.of(networkPolicies).list().length === 0) return;
    await this.#appliedWithin(ADMISSION_TIMEOUT_MS);
  }

  /** Resolves when all policies of the namespace are known, or the API server is away. */
  async #knowPolicies(namespace: string): Promise<void> {
    const { clock, log } = this.#options;
    try {
      await this.#within(POLICY_REQUEST_TIMEOUT_MS, (signal) => this.#catchUp(namespace, signal));
      this.#unansweredSinceMs = undefined;
    } catch (error) {
      log.debug("Requesting network policies for a new Pod failed", { namespace, error });
      if (!(error instanceof NoAnswerError)) return;
      this.#unansweredSinceMs ??= clock.monotonic() - POLICY_REQUEST_TIMEOUT_MS;
      if (clock.monotonic() - this.#unansweredSinceMs < UNANSWERED_MAX_MS)
        throw new Error(`Cannot request the network policies of namespace ${namespace}: ${error.message}`, { cause: error });
    }
  }

  /** Resolves when everything that is wanted now is applied. */
  async #appliedWithin(limitMs: number): Promise<void> {
    let waiter: Waiter | undefined;
    const isApplied = new Promise<void>((resolve) => {
      waiter = { version: this.#wanted, resolve };
      this.#waiters = [...this.#waiters, waiter];
    });
    try {
      await this.#within(limitMs, (signal) => Promise.race([isApplied, rejectedBy(signal)]));
    } catch (error) {
      this.#waiters = this.#waiters.filter((one) => one !== waiter);
      throw new Error(`Cannot apply the network policies of the Pod: ${this.#lastError ?? messageOf(error)}`, { cause: error });
    }
  }

  /** For all but the first container of a Pod. */
  #isApplied(pod: Pod, addresses: readonly string[]): boolean {
    const known = this.#informers.of(pods).get(pod.metadata);
    const reported = known?.status?.podIPs?.map(({ ip }) => ip) ?? [];
    return (
      this.#applied === this.#wanted && known?.metadata.uid === pod.metadata.uid && addresses.every((address) => reported.includes(address))
    );
  }

  /** Waits until the informer has the policies that exist now: it may be behind the request that created one before the Pod. */
  async #catchUp(namespace: string, signal: AbortSignal): Promise<void> {
    const informer = this.#informers.of(networkPolicies);
    const { items } = await this.#client.list(networkPolicies, { namespace, signal });
    for (const { metadata } of items) {
      const known = informer.get(metadata)?.metadata.resourceVersion;
      if (known !== metadata.resourceVersion) await informer.reached(metadata.resourceVersion ?? "", signal);
    }
  }

  /** Aborts the operation after `limitMs`, which rejects with a NoAnswerError, or when this stops. */
  async #within<T>(limitMs: number, operation: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const limit = new AbortController();
    const late = new NoAnswerError(`no answer within ${limitMs / 1_000} s`);
    const timer = this.#options.clock.sleep(limitMs, limit.signal).then(
      () => limit.abort(late),
      () => {}, // Done in time.
    );
    try {
      return await operation(anySignal(limit.signal, this.#stopping.signal) ?? limit.signal);
    } catch (error) {
      throw limit.signal.reason === late ? late : error;
    } finally {
      limit.abort();
      await timer;
    }
  }

  #changed(): void {
    this.#wanted++;
    this.#wake();
  }

  #model(): PolicyModel {
    return computeModel({
      nodeName: this.#options.nodeName,
      policies: this.#informers.of(networkPolicies).list(),
      ...this.#admitted.withAdmitted(this.#informers.of(pods).list()),
      namespaces: this.#informers.of(namespaces).list(),
      dnsSlices: this.#informers.of(endpointSlices, DNS_SLICES).list(),
    });
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { enforcer, clock, log } = this.#options;
    while (!signal.aborted) {
      try {
        if (this.#applied < this.#wanted) await this.applyNow();
        else if (!(await this.#wakened(signal)) && !signal.aborted && !(await clock.external(enforcer.isIntact()))) {
          log.warn("Rules of network policies were removed and are written again");
          await this.applyNow();
        }
        this.#backoff.reset();
        this.#lastError = undefined;
      } catch (error) {
        const delayMs = this.#backoff.next();
        this.#lastError = messageOf(error);
        log.error("Applying network policies failed and is retried", { error, delayMs });
        this.#wanted++;
        await clock.sleep(delayMs, signal).catch(() => {}); // Stopping.
      }
    }
  }

  /** Whether something changed; false after the interval between checks. */
  async #wakened(signal: AbortSignal): Promise<boolean> {
    const awake = new AbortController();
    this.#wake = () => awake.abort();
    if (this.#applied < this.#wanted) return true;
    const either = anySignal(signal, awake.signal) ?? signal;
    const isWoken = await this.#options.clock.sleep(CHECK_INTERVAL_MS, either).then(
      () => false,
      () => true,
    );
    this.#wake = () => {};
    return isWoken;
  }
}

/** Whether a change of the Pod can change rules: labels, addresses, the end of the Pod, its node and ports. */
function concernsPolicies(pod: Pod, previous: Pod): boolean {
  const seen = ({ metadata, spec, status }: Pod): readonly unknown[] => [
    metadata.labels,
    metadata.uid,
    spec?.nodeName,
    spec?.containers?.map(({ ports }) => ports),
    status?.podIP,
    status?.podIPs,
    status?.phase === "Succeeded" || status?.phase === "Failed",
  ];
  return !deepEqual(seen(pod), seen(previous));
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function rejectedBy(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => void onAbort(signal, () => reject(signal.reason as Error)));
}
