/**
 * A component that runs in one of several processes: the leader runs it, the others are on standby. A leader that may have lost its lease
 * writes nothing. Without leader election it runs immediately, and must be the only instance.
 */
import type { IdentityName } from "../../api/identities.ts";
import type { Transport } from "../../api/machinery/transport.ts";
import { aborted } from "../../base/abort.ts";
import type { Clock } from "../../base/clock.ts";
import { Disposables } from "../../base/disposables.ts";
import type { Logger } from "../../base/logger.ts";
import type { Family, HistogramFamily } from "../../base/metrics/prometheus-text.ts";
import type { Random } from "../../base/random.ts";
import { createClient } from "../../client/rest-client.ts";
import { leaderOnlyTransport } from "./leader-only-transport.ts";
import { leadershipOf, startLeaderElected, type Election } from "./leader-elected.ts";

/** The running component. */
export interface ActiveComponent {
  metrics(): readonly (Family | HistogramFamily)[];
  /** Work in progress, for the message if it does not stop. */
  underWay(): readonly string[];
  /** Resolves when it has stopped. */
  stop(): Promise<void>;
}

export interface LeaderElectedOptions {
  /** Called each time this process becomes the leader; resources are owned by `owner`. */
  transportFor(identity: IdentityName, owner: Disposables): Transport;
  readonly election?: Election;
  /** True if the server verifies the lease before each write. Not needed in the process of the only server, where no write is delayed. */
  readonly isFenced?: boolean;
  /** Called when this process becomes the leader, and when it stops being it. */
  onLeading?(isLeading: boolean): void;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

export interface LeaderElectedComponentOptions<Part extends ActiveComponent> extends LeaderElectedOptions {
  /** Identity in the election. */
  readonly identity: IdentityName;
  /** Resolves when it runs. Writes through `transportFor` are sent only while this process is the leader. */
  start(transportFor: (identity: IdentityName) => Transport, signal: AbortSignal): Promise<Part>;
}

export interface LeaderElectedComponent<Part extends ActiveComponent> extends AsyncDisposable {
  /** True while it may write. */
  isLeading(): boolean;
  /** Resolves when it runs for the first time. Rejects if it fails. */
  readonly started: Promise<Part>;
  /** Resolves when another process is observed as the leader. */
  readonly otherLeaderObserved: Promise<void>;
  /**
   * Rejects when this process has lost the lease and the component does not stop: it writes nothing more and does not become the leader
   * again, so the process should exit. Never resolves.
   */
  readonly stuck: Promise<never>;
  /** The component, while it is active. */
  acting(): Part | undefined;
  /** Metrics of the active component. */
  metrics(): readonly (Family | HistogramFamily)[];
}

export function startLeaderElectedComponent<Part extends ActiveComponent>(
  options: LeaderElectedComponentOptions<Part>,
): LeaderElectedComponent<Part> {
  const { election, isFenced = true, identity, clock, random, log } = options;
  const owned = new Disposables();
  const started = promised<Part>();
  const another = promised<void>();
  const stuck = promised<never>();
  let running: Part | undefined;
  const leadership = isFenced ? leadershipOf(election) : undefined;
  const act = async (signal: AbortSignal, isLeading: () => boolean): Promise<void> => {
    await using ways = new Disposables();
    running = await options.start((who) => leaderOnlyTransport(options.transportFor(who, ways), { isLeading, leadership }), signal);
    options.onLeading?.(true);
    started.resolve(running);
    await aborted(signal);
    // The component stops before the lease is released.
    await running.stop();
    running = undefined;
  };
  const failed = (error: unknown): never => {
    started.reject(error);
    throw error;
  };
  const run = owned.use(
    startLeaderElected({
      ...{ election, clock, random, log },
      client: createClient(options.transportFor(identity, owned)),
      act: (signal, isLeading) => act(signal, isLeading).catch(failed),
      onLeader: (leader) => void (leader !== election?.identity && another.resolve()),
      underWay: () => running?.underWay() ?? [],
      onStopped: () => options.onLeading?.(false),
      onFailed: (error) => started.reject(error),
      onGivenUp: (error) => stuck.reject(error),
    }),
  );
  return {
    isLeading: () => run.isLeading(),
    started: started.promise,
    otherLeaderObserved: another.promise,
    stuck: stuck.promise,
    acting: () => (run.isLeading() ? running : undefined),
    metrics: () => (run.isLeading() ? (running?.metrics() ?? []) : []),
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  };
}

interface Promised<T> {
  readonly promise: Promise<T>;
  resolve(value: T): void;
  reject(error: unknown): void;
}

/** Avoids an unhandled rejection if it is not awaited. */
function promised<T>(): Promised<T> {
  let settle: Pick<Promised<T>, "resolve" | "reject"> | undefined;
  const promise = new Promise<T>((resolve, reject) => (settle = { resolve, reject }));
  promise.catch(() => undefined);
  return { promise, ...(settle as Pick<Promised<T>, "resolve" | "reject">) };
}
