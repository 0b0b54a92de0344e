/**
 * The controllers of a cluster as one of several processes that could run them: one leads and acts, the others wait. A leader that cannot
 * be sure of its lease any more writes nothing. Without an election it acts at once, and is the only one that may.
 */
import { KUBE_CONTROLLER_MANAGER } from "../api/identities.ts";
import type { Transport } from "../api/machinery/transport.ts";
import { aborted } from "../base/abort.ts";
import { Disposables } from "../base/disposables.ts";
import type { Family, HistogramFamily } from "../base/prometheus-text.ts";
import { createClient } from "../client/rest-client.ts";
import type { RunningControllers } from "../controllers/runtime/run-controllers.ts";
import { startControllersPart, type ControllersPartOptions } from "./controllers-part.ts";
import { leadingOnly } from "./leading-only.ts";
import { leadershipOf, startLed, type Election } from "./led.ts";

/** Where upstream's controller managers, too, find out who leads. */
export const CONTROLLER_MANAGER_LEASE = { namespace: "kube-system", name: "kube-controller-manager" };

export interface LedControllersOptions extends Omit<ControllersPartOptions, "transportFor" | "signal"> {
  /** Called anew for each time of leading; what it opens belongs to `owner`. */
  transportFor(identity: Parameters<ControllersPartOptions["transportFor"]>[0], owner: Disposables): Transport;
  readonly election?: Election;
  /** Whether the server looks at the lease before each write. Not needed in the process of the only server: nothing is held up on the way. */
  readonly isFenced?: boolean;
  /** Called each time this process begins to act, and ends it. */
  onLeading?(isLeading: boolean): void;
}

export interface LedControllers extends AsyncDisposable {
  /** Whether it may act at this moment. */
  isLeading(): boolean;
  /** Resolves with their names when they work for the first time. Rejects if they cannot. */
  readonly started: Promise<readonly string[]>;
  /** Resolves when it is seen that another process leads. */
  readonly isLedByAnother: Promise<void>;
  /**
   * Rejects when this process has lost the lease and its controllers do not end: it writes nothing more and does not stand again before
   * they have, so it is best ended and started anew. Never resolves.
   */
  readonly stuck: Promise<never>;
  /** Of the controllers, while they run. */
  metrics(): readonly (Family | HistogramFamily)[];
}

export function startLedControllers(options: LedControllersOptions): LedControllers {
  const { election, isFenced = true, clock, random, log } = options;
  const owned = new Disposables();
  let onAnother: () => void;
  const isLedByAnother = new Promise<void>((resolve) => (onAnother = resolve));
  let running: RunningControllers | undefined;
  let onStuck: (error: Error) => void;
  const stuck = new Promise<never>((_resolve, reject) => (onStuck = reject));
  let onStarted: { resolve(names: readonly string[]): void; reject(error: unknown): void };
  const started = new Promise<readonly string[]>((resolve, reject) => (onStarted = { resolve, reject }));
  // Who does not wait for them is not told by an unhandled rejection.
  for (const promise of [started, stuck]) promise.catch(() => undefined);
  const leadership = isFenced ? leadershipOf(election) : undefined;
  const act = async (signal: AbortSignal, isLeading: () => boolean): Promise<void> => {
    await using ways = new Disposables();
    const transportFor: ControllersPartOptions["transportFor"] = (identity) => {
      const transport = options.transportFor(identity, ways);
      return identity === KUBE_CONTROLLER_MANAGER ? transport : leadingOnly(transport, { isLeading, leadership });
    };
    const part = await startControllersPart({ ...options, transportFor, signal });
    running = part;
    log.info("Controllers are running", { controllers: part.names });
    options.onLeading?.(true);
    onStarted.resolve(part.names);
    await aborted(signal);
    // What runs ends before the lease is given back.
    await part.stop();
    running = undefined;
  };
  const led = owned.use(
    startLed({
      election,
      client: createClient(options.transportFor(KUBE_CONTROLLER_MANAGER, owned)),
      clock,
      random,
      log,
      act: (signal, isLeading) =>
        act(signal, isLeading).catch((error: unknown) => {
          onStarted.reject(error);
          throw error;
        }),
      onLeader: (identity) => void (identity !== election?.identity && onAnother()),
      underWay: () => running?.underWay() ?? [],
      onStopped: () => options.onLeading?.(false),
      onFailed: (error) => onStarted.reject(error),
      onGivenUp: (error) => onStuck(error),
    }),
  );
  return {
    isLeading: () => led.isLeading(),
    started,
    isLedByAnother,
    stuck,
    metrics: () => (led.isLeading() ? (running?.metrics() ?? []) : []),
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  };
}
