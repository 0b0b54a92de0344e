/**
 * Starts controllers over one set of informers, and stops them. Each acts under its own identity; all read from the same informers, so that
 * a kind is held once. Not here: leader election (client/election), and which process runs them (components).
 */
import type { Clock } from "../../base/clock.ts";
import { Disposables } from "../../base/disposables.ts";
import type { Logger } from "../../base/logger.ts";
import type { Family, HistogramFamily } from "../../base/metrics/prometheus-text.ts";
import type { Random } from "../../base/random.ts";
import type { Client } from "../../client/client.ts";
import type { EventRecorder } from "../../client/events/event-recorder.ts";
import type { Informers } from "../../client/informer/informer.ts";
import { ownWrites } from "../../client/informer/own-writes.ts";
import { readerOf } from "../../client/informer/reader.ts";
import type { Controller } from "./controller.ts";
import { EveryKind } from "./all-kinds.ts";
import { metricFamilies } from "./metrics.ts";
import { RunningController } from "./running-controller.ts";

export interface RunOptions {
  readonly controllers: readonly Controller[];
  /** For a client with read access to everything that the controllers watch. */
  readonly informers: Informers;
  /** The same, for discovery. */
  readonly client: Client;
  /** Client with the identity of this controller, for writes. */
  clientFor(controller: Controller): Client | Promise<Client>;
  /** Event recorder of this controller. The runtime disposes of it. */
  recorderFor(controller: Controller, client: Client): EventRecorder;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Aborts a start that waits for an unresponsive server. It does not stop what runs: `stop` does. */
  readonly signal?: AbortSignal;
}

export interface RunningControllers extends AsyncDisposable {
  /** Their names. */
  readonly names: readonly string[];
  metrics(): readonly (Family | HistogramFamily)[];
  /** Keys being reconciled, as "deployment-controller default/web". */
  underWay(): readonly string[];
  /** Starts no more reconciliations; resolves when the running ones have ended. */
  stop(): Promise<void>;
}

/** Resolves when all of them are synced and running. Rejects, with all of them stopped, if one cannot be started or the signal aborts. */
export async function runControllers(options: RunOptions): Promise<RunningControllers> {
  const { controllers, signal } = options;
  await using starting = new Disposables();
  const named = controllers.flatMap(({ watches }) => watches.flatMap((watch) => ("everyKind" in watch ? [] : [watch.kind])));
  const everyKind = new EveryKind({ ...options, named });
  starting.defer(() => everyKind.close());
  if (controllers.some(({ watches }) => watches.some((watch) => "everyKind" in watch))) await everyKind.start(signal);
  const read = readerOf(options.informers);
  const prepare = (controller: Controller, itsClient: Client): RunningController => {
    const client = ownWrites(itsClient, options.informers);
    const events = options.recorderFor(controller, client);
    const one = new RunningController({ ...options, controller, read, client, events, everyKind });
    // Stopped first, then its recorded events are written.
    starting.defer(async () => {
      await one.stop();
      await events[Symbol.asyncDispose]();
    });
    return one;
  };
  const clients = await Promise.all(controllers.map(async (controller) => options.clientFor(controller)));
  const running = controllers.map((controller, index) => prepare(controller, clients[index] as Client));
  await Promise.all(running.map((one) => one.start(signal)));
  const started = starting.move();
  const stop = async (): Promise<void> => {
    // Concurrently: each may wait for a request in flight.
    await Promise.all(running.map((one) => one.stop()));
    await started[Symbol.asyncDispose]();
  };
  return {
    names: running.map(({ name }) => name),
    metrics: () => metricFamilies(running),
    underWay: () => running.flatMap((one) => one.underWay),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}
