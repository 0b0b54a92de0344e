/**
 * The controllers in a process of their own, over HTTPS: one of several such processes leads and acts, the others wait. Each controller has
 * the identity of its own service account. A leader that cannot be sure of its lease any more writes nothing.
 */
import { KUBE_CONTROLLER_MANAGER, type IdentityName } from "../api/identities.ts";
import type { Transport } from "../api/machinery/transport.ts";
import { onAbort } from "../base/abort.ts";
import type { Clock } from "../base/clock.ts";
import { Disposables } from "../base/disposables.ts";
import type { Logger } from "../base/logger.ts";
import type { Family, HistogramFamily } from "../base/prometheus-text.ts";
import type { Random } from "../base/random.ts";
import { startLeaderElection, type ElectionTimes } from "../client/election/leader-election.ts";
import type { ConnectionConfig } from "../client/https/connection-config.ts";
import { httpsTransport } from "../client/https/https-transport.ts";
import { createClient } from "../client/rest-client.ts";
import type { ControllerSettings } from "../controllers/all.ts";
import { CONTROLLER_MANAGER_AGENT, startControllersPart } from "./controllers-part.ts";
import { leadingOnly } from "./leading-only.ts";
import { ServiceAccountTokens } from "./service-account-tokens.ts";

export interface ControllerManagerOptions {
  readonly connection: ConnectionConfig;
  /** As --controllers takes it. */
  readonly controllers: readonly string[];
  readonly settings: ControllerSettings;
  /** Whether each controller shows a token of its own service account; otherwise all act as whoever the connection says. */
  readonly useServiceAccountCredentials: boolean;
  /** Absent: it acts at once, and is the only one that does. */
  readonly election?: ElectionTimes & { readonly lease: { readonly namespace: string; readonly name: string }; readonly identity: string };
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Called each time this process begins to act, and ends it. */
  onLeading?(isLeading: boolean): void;
}

export interface ControllerManager extends AsyncDisposable {
  /** Whether it acts. */
  isLeading(): boolean;
  /** Of the controllers, while it acts. */
  metrics(): readonly (Family | HistogramFamily)[];
}

export function startControllerManager(options: ControllerManagerOptions): ControllerManager {
  const { connection, clock, log, random, election } = options;
  const owned = new Disposables();
  const connect = (config: ConnectionConfig): Transport & AsyncDisposable =>
    httpsTransport(config, { clock, log, userAgent: CONTROLLER_MANAGER_AGENT });
  const own = owned.use(connect(connection));
  const state: { metrics: ControllerManager["metrics"]; isLeading: () => boolean } = {
    metrics: () => [],
    isLeading: () => election === undefined,
  };
  const lead = (signal: AbortSignal) => act(signal, { ...options, own, connect, state });
  if (election === undefined) {
    const stop = new AbortController();
    const acting = lead(stop.signal);
    owned.defer(async () => {
      stop.abort();
      await acting;
    });
  } else {
    const running = startLeaderElection({
      ...election,
      client: createClient(own),
      clock,
      random,
      log,
      onStartedLeading: lead,
      onStoppedLeading: () => options.onLeading?.(false),
    });
    state.isLeading = () => running.isLeading();
    owned.use(running);
  }
  return {
    isLeading: () => state.isLeading(),
    metrics: () => state.metrics(),
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  };
}

interface Acting extends ControllerManagerOptions {
  readonly own: Transport;
  connect(config: ConnectionConfig): Transport & AsyncDisposable;
  readonly state: { metrics: ControllerManager["metrics"]; readonly isLeading: () => boolean };
}

/** Runs the controllers until the signal comes; resolves when nothing of them runs any more. */
async function act(signal: AbortSignal, { own, connect, state, ...options }: Acting): Promise<void> {
  const { connection, clock, useServiceAccountCredentials } = options;
  await using owned = new Disposables();
  const tokenMaker = createClient(own);
  const transportFor = ({ name }: IdentityName): Transport => {
    if (name === KUBE_CONTROLLER_MANAGER.name) return own;
    if (!useServiceAccountCredentials) return leadingOnly(own, state.isLeading);
    const account = name.slice(name.lastIndexOf(":") + 1);
    const credentials = { tokenSource: new ServiceAccountTokens({ client: tokenMaker, account, clock }) };
    return leadingOnly(owned.use(connect({ ...connection, credentials })), state.isLeading);
  };
  const running = owned.use(await startControllersPart({ ...options, transportFor }));
  state.metrics = () => running.metrics();
  options.log.info("Controllers are running", { controllers: running.names });
  options.onLeading?.(true);
  if (!signal.aborted) await new Promise<void>((resolve) => void onAbort(signal, resolve));
  state.metrics = () => [];
  // So that what runs ends before the lease is given back.
  await running.stop();
}
