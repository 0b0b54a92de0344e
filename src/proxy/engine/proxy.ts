/**
 * The service proxy of one node. Level-triggered: changes wake the loop, which computes the newest model and applies it; whatever changes
 * meanwhile is one more round. So the first change is applied at once, and a burst costs one apply at a time. A failed apply is retried with
 * back-off; rules that were flushed are found by a periodic check and written again; while the API server is away everything stays as it
 * was. Nothing is applied before all Services are known, so that a restart never removes rules of existing ones. Not here: the model
 * (model-feed.ts) and what it means in the kernel (../appliers).
 */
import type { Transport } from "../../api/machinery/transport.ts";
import { Backoff } from "../../base/backoff.ts";
import type { Clock } from "../../base/clock.ts";
import { Disposables } from "../../base/disposables.ts";
import type { Logger } from "../../base/logger.ts";
import type { Random } from "../../base/random.ts";
import { createEventRecorder } from "../../client/events/create-event-recorder.ts";
import type { EventRecorder } from "../../client/events/event-recorder.ts";
import { createClient } from "../../client/rest-client.ts";
import type { NetworkNamespace } from "../../host/network/network-namespace.ts";
import { localAddresses } from "../../host/network/network-address.ts";
import type { Applier, ApplierOptions, IntactCheck, ProxyMode } from "../appliers/applier.ts";
import type { ModelSettings } from "../compute-model.ts";
import { listenAddresses } from "../listen-addresses.ts";
import type { HealthCheck, ProxyModel } from "../model.ts";
import { AnnouncedAddresses } from "./announced-addresses.ts";
import { enableBridgeNetfilter } from "./bridge-netfilter.ts";
import { cleanUpOtherModes, openMode } from "./choose-mode.ts";
import { setConntrackTimeouts } from "./conntrack-timeouts.ts";
import { Conntrack } from "./conntrack.ts";
import { HealthCheckServers } from "./health-check-servers.ts";
import { ModelFeed } from "./model-feed.ts";
import { ProxyMetrics } from "./proxy-metrics.ts";

/** How soon flushed rules are noticed. A check reads a few rules: some milliseconds. */
const CHECK_EVERY_MS = 5_000;
/** How soon a single removed rule is noticed: such a check reads all rules. */
const THOROUGH_CHECK_EVERY_MS = 30_000;
/** A slow check (many rules, a busy machine) runs less often: at most this share of the time is spent on checks of either kind. */
const CHECK_SHARE = 0.02;
/** The first retry is soon, because a lock of another program's iptables is the usual cause; the longest delay still repairs quickly. */
const RETRY = { minMs: 200, maxMs: 15_000 };
/** Upstream's value: after this duration without a successful write the proxy is unhealthy. */
const UNHEALTHY_AFTER_MS = 60_000;

export interface ProxyOptions {
  readonly modes: readonly ProxyMode[];
  /** Name of the requested mode. */
  readonly mode: string;
  readonly owner: string;
  readonly namespace: NetworkNamespace;
  readonly podBridge?: string | undefined;
  readonly nodeName: string;
  readonly settings: ModelSettings;
  readonly applierOptions: ApplierOptions;
  readonly transport: Transport;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** For problems that the user can solve. */
  warn(message: string): void;
}

interface OpenedMode {
  readonly mode: ProxyMode;
  readonly applier: Applier;
  /** Called once, after the first successful apply. Never rejects. */
  takeOver(): Promise<void>;
}

export interface ProxyHealth {
  /** False if changes have been waiting too long to be applied. */
  readonly isHealthy: boolean;
  readonly isNodeEligible: boolean;
  /** Milliseconds since the epoch. */
  readonly lastUpdatedMs: number;
}

/** Resolves after the first apply, also if that failed and is retried in the background. Rejects if no mode can be used. */
export async function startProxy(options: ProxyOptions): Promise<Proxy> {
  const { owner, namespace, podBridge, applierOptions, clock, log } = options;
  await using starting = new Disposables();
  const context = { owner, namespace, options: applierOptions, clock, log, ...(podBridge === undefined ? {} : { podBridge }) };
  const chosen = await clock.external(openMode({ ...options, requested: options.mode }, context));
  const { mode, applier } = chosen;
  if (podBridge !== undefined && mode.name !== "userspace") await clock.external(prepareBridge(options));
  // After the first apply that succeeds: until then the rules of another mode carry the traffic.
  const takeOver = () => cleanUpOtherModes(options.modes, chosen, context);
  const proxy = starting.use(new Proxy(options, { mode, applier, takeOver }));
  await proxy.firstApplied();
  if (mode.name !== "userspace") await clock.external(trackConnectionsLonger(options));
  starting.move();
  return proxy;
}

async function prepareBridge({ namespace, warn }: ProxyOptions): Promise<void> {
  const problem = await enableBridgeNetfilter(namespace);
  if (problem !== undefined)
    warn(`Pods may not reach Pods of the same node by cluster IPs; load the kernel module br_netfilter: ${problem}`);
}

/** After the first apply: the kernel tracks connections once there are rules about them. */
async function trackConnectionsLonger({ namespace, log }: ProxyOptions): Promise<void> {
  await setConntrackTimeouts(namespace).catch((error: unknown) => log.info("The kernel's timeouts of connections stay", { error }));
}

export class Proxy implements AsyncDisposable {
  readonly metrics = new ProxyMetrics();
  readonly #options: ProxyOptions;
  readonly #mode: ProxyMode;
  readonly #applier: Applier;
  readonly #takeOver: () => Promise<void>;
  readonly #feed: ModelFeed;
  readonly #conntrack: Conntrack;
  readonly #announced: AnnouncedAddresses;
  readonly #healthChecks: HealthCheckServers;
  readonly #events: EventRecorder;
  readonly #stop = new AbortController();
  readonly #backoff: Backoff;
  readonly #loops: readonly Promise<void>[];
  /** The model in the kernel; undefined before the first apply and after a failure. */
  #applied: ProxyModel | undefined;
  /** The last model that was applied, for the clean-up of flows. */
  #lastApplied: ProxyModel | undefined;
  #isCheckDue = false;
  readonly #checkCostMs: Record<IntactCheck, number> = { quick: 0, thorough: 0 };
  #checkedThoroughlyAtMs: number;
  #changes = 0;
  #wake: (() => void) | undefined;
  #isWoken = true;
  #pendingSinceMs: number | undefined;
  #lastUpdatedMs = 0;
  readonly #first = withResolvers();

  constructor(options: ProxyOptions, { mode, applier, takeOver }: OpenedMode) {
    const { settings, namespace, nodeName, transport, clock, random, log, warn } = options;
    this.#options = options;
    this.#mode = mode;
    this.#applier = applier;
    this.#takeOver = takeOver;
    this.#backoff = new Backoff({ ...RETRY, random });
    this.#checkedThoroughlyAtMs = clock.monotonic();
    this.#events = createEventRecorder({
      ...{ client: createClient(transport), component: "kube-proxy", instance: nodeName, clock, random, log },
      api: "events.k8s.io",
    });
    this.#conntrack = new Conntrack({ namespace, log, warn });
    this.#announced = new AnnouncedAddresses(options);
    const hosts = ([4, 6] as const).flatMap((family) => listenAddresses(family, settings.nodePortAddresses, localAddresses()));
    this.#healthChecks = new HealthCheckServers({
      ...{ hosts, clock, random, log, isHealthy: () => this.health.isHealthy },
      failed: (check, message) => this.#reportHealthCheck(check, message),
    });
    this.#feed = new ModelFeed({ ...options, onChange: () => this.#changed() });
    this.#loops = [this.#applyForever(), this.#checkForever()];
  }

  get mode(): string {
    return this.#mode.name;
  }

  /** The mode, and what limits it. */
  get description(): string {
    return this.#applier.description ?? this.mode;
  }

  /** What was applied last. */
  get model(): ProxyModel | undefined {
    return this.#lastApplied;
  }

  get health(): ProxyHealth {
    const nowMs = this.#options.clock.now();
    const isLate = this.#pendingSinceMs !== undefined && nowMs - this.#pendingSinceMs > UNHEALTHY_AFTER_MS;
    return { isHealthy: !isLate, isNodeEligible: this.#feed.isNodeEligible, lastUpdatedMs: isLate ? this.#lastUpdatedMs : nowMs };
  }

  firstApplied(): Promise<void> {
    return this.#first.promise;
  }

  /** Stops; the kernel's state stays. */
  async [Symbol.asyncDispose](): Promise<void> {
    const { clock } = this.#options;
    this.#stop.abort(new Error("The proxy is stopped"));
    this.#wake?.();
    this.#first.reject(this.#stop.signal.reason);
    await Promise.all(this.#loops);
    await this.#feed[Symbol.asyncDispose]();
    await clock.external(this.#healthChecks[Symbol.asyncDispose]());
    await this.#events[Symbol.asyncDispose]();
    await clock.external(Promise.resolve(this.#applier[Symbol.asyncDispose]()));
  }

  #changed(): void {
    const nowMs = this.#options.clock.now();
    this.#changes++;
    this.#pendingSinceMs ??= nowMs;
    this.metrics.queued(nowMs);
    this.#wakeUp();
  }

  #wakeUp(): void {
    this.#isWoken = true;
    this.#wake?.();
  }

  async #nextWake(): Promise<void> {
    if (!this.#isWoken) await new Promise<void>((resolve) => (this.#wake = resolve));
    this.#wake = undefined;
    this.#isWoken = false;
  }

  async #applyForever(): Promise<void> {
    const { signal } = this.#stop;
    try {
      await this.#feed.synced(signal);
    } catch {
      return; // Stopped before.
    }
    while (!signal.aborted) {
      await this.#nextWake();
      if (signal.aborted) return;
      try {
        await this.#round();
        this.#backoff.reset();
      } catch (error) {
        await this.#failed(error);
      }
      this.#first.resolve();
    }
  }

  /** Observes, computes, applies. */
  async #round(): Promise<void> {
    const { clock, log } = this.#options;
    if (this.#isCheckDue) await this.#check();
    const { pending } = this.#feed;
    const changes = this.#changes;
    this.metrics.pending(pending);
    const model = this.#feed.update();
    if (model !== this.#applied) {
      const startMs = clock.monotonic();
      this.#applied = undefined;
      const { written } = await clock.external(this.#applier.apply(model));
      this.#applied = model;
      const nowMs = clock.now();
      this.metrics.synced({ nowMs, durationMs: clock.monotonic() - startMs, written });
      for (const atMs of pending.triggeredAtMs) this.metrics.programmed(nowMs - atMs);
      log.debug("Applied", { written, servicePorts: model.servicePorts.size });
    }
    await this.#afterApply(model);
    this.#lastUpdatedMs = clock.now();
    this.#pendingSinceMs = this.#changes === changes ? undefined : this.#lastUpdatedMs;
  }

  /** Nothing here fails an apply: the rules are in effect. What could not be done is tried again after the next check. */
  async #afterApply(model: ProxyModel): Promise<void> {
    const { clock } = this.#options;
    if (this.#lastApplied === undefined) await clock.external(this.#takeOver());
    if (model !== this.#lastApplied || this.#conntrack.isPending) await clock.external(this.#conntrack.cleanUp(model));
    this.#lastApplied = model;
    await clock.external(this.#healthChecks.update(model.healthChecks));
    await clock.external(this.#announced.update(model.announcedIps));
  }

  /** A check that fails says nothing about the rules; the next one may. */
  async #check(): Promise<void> {
    const { clock, log } = this.#options;
    this.#isCheckDue = false;
    if (this.#applied === undefined) return;
    const startMs = clock.monotonic();
    const check = this.#isThoroughCheckDue() ? "thorough" : "quick";
    const isIntact = await clock.external(this.#applier.isIntact(check)).catch((error: unknown) => {
      log.warn("Checking the proxy's rules failed", { error });
      return true;
    });
    const endMs = clock.monotonic();
    this.#checkCostMs[check] = endMs - startMs;
    if (check === "thorough") this.#checkedThoroughlyAtMs = endMs;
    if (isIntact) return;
    log.warn("Rules of the proxy are missing and are written again", { mode: this.mode });
    this.metrics.repaired();
    this.#applied = undefined;
  }

  #isThoroughCheckDue(): boolean {
    const sinceMs = this.#options.clock.monotonic() - this.#checkedThoroughlyAtMs;
    return sinceMs >= Math.max(THOROUGH_CHECK_EVERY_MS, this.#checkCostMs.thorough / CHECK_SHARE);
  }

  async #failed(error: unknown): Promise<void> {
    const { clock, log } = this.#options;
    const retryMs = this.#backoff.next();
    log.error("Applying the proxy's rules failed", { mode: this.mode, error, retryMs: Math.round(retryMs) });
    this.metrics.failed();
    this.#first.resolve();
    await clock.sleep(retryMs, this.#stop.signal).catch(() => undefined);
    this.#wakeUp();
  }

  async #checkForever(): Promise<void> {
    const { clock } = this.#options;
    const { signal } = this.#stop;
    for (;;) {
      await clock.sleep(Math.max(CHECK_EVERY_MS, this.#checkCostMs.quick / CHECK_SHARE), signal).catch(() => undefined);
      if (signal.aborted) return;
      this.#isCheckDue = true;
      this.#wakeUp();
    }
  }

  /** As upstream's event. */
  #reportHealthCheck({ namespace, name }: HealthCheck, message: string): void {
    const service = this.#feed.service(namespace, name);
    if (service === undefined) return;
    const [reason, action] = ["FailedToStartServiceHealthcheck", "Listen"];
    this.#events.record(service, { type: "Warning", reason, action, message: `Failed to start healthcheck server: ${message}` });
  }
}

interface Resolvable {
  readonly promise: Promise<void>;
  resolve(): void;
  reject(reason: unknown): void;
}

/** Promise.withResolvers, which Node 20 does not have. */
function withResolvers(): Resolvable {
  let [resolve, reject]: [() => void, (reason: unknown) => void] = [() => undefined, () => undefined];
  const promise = new Promise<void>((resolved, rejected) => ([resolve, reject] = [resolved, rejected]));
  promise.catch(() => undefined);
  return { promise, resolve, reject };
}
