/**
 * A part of a cluster as one of several processes that could run it: one leads and acts, the others wait. A leader that cannot be sure of
 * its lease any more writes nothing. Without an election it acts at once, and is the only one that may.
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

/** The part while it acts. */
export interface ActiveComponent {
  metrics(): readonly (Family | HistogramFamily)[];
  /** What of it runs at this moment, for who waits for its end in vain. */
  underWay(): readonly string[];
  /** Resolves when nothing of it runs any more. */
  stop(): Promise<void>;
}

export interface LedOptions {
  /** Called anew for each time of leading; what it opens belongs to `owner`. */
  transportFor(identity: IdentityName, owner: Disposables): Transport;
  readonly election?: Election;
  /** Whether the server looks at the lease before each write. Not needed in the process of the only server: nothing is held up on the way. */
  readonly isFenced?: boolean;
  /** Called each time this process begins to act, and ends it. */
  onLeading?(isLeading: boolean): void;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

export interface LeaderElectedComponentOptions<Part extends ActiveComponent> extends LedOptions {
  /** Who stands in the election. */
  readonly identity: IdentityName;
  /** Resolves when it works. What is written through `transportFor` is written only while this process leads. */
  start(transportFor: (identity: IdentityName) => Transport, signal: AbortSignal): Promise<Part>;
}

export interface LeaderElectedComponent<Part extends ActiveComponent> extends AsyncDisposable {
  /** Whether it may act at this moment. */
  isLeading(): boolean;
  /** Resolves when it works for the first time. Rejects if it cannot. */
  readonly started: Promise<Part>;
  /** Resolves when it is seen that another process leads. */
  readonly isLedByAnother: Promise<void>;
  /**
   * Rejects when this process has lost the lease and what it did does not end: it writes nothing more and does not stand again before it
   * has, so it is best ended and started anew. Never resolves.
   */
  readonly stuck: Promise<never>;
  /** The part, while it acts. */
  acting(): Part | undefined;
  /** Of the part, while it acts. */
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
    // What runs ends before the lease is given back.
    await running.stop();
    running = undefined;
  };
  const failed = (error: unknown): never => {
    started.reject(error);
    throw error;
  };
  const led = owned.use(
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
    isLeading: () => led.isLeading(),
    started: started.promise,
    isLedByAnother: another.promise,
    stuck: stuck.promise,
    acting: () => (led.isLeading() ? running : undefined),
    metrics: () => (led.isLeading() ? (running?.metrics() ?? []) : []),
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  };
}

interface Promised<T> {
  readonly promise: Promise<T>;
  resolve(value: T): void;
  reject(error: unknown): void;
}

/** Who does not wait for it is not told by an unhandled rejection. */
function promised<T>(): Promised<T> {
  let settle: Pick<Promised<T>, "resolve" | "reject"> | undefined;
  const promise = new Promise<T>((resolve, reject) => (settle = { resolve, reject }));
  promise.catch(() => undefined);
  return { promise, ...(settle as Pick<Promised<T>, "resolve" | "reject">) };
}
