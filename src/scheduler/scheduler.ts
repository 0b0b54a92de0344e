/**
 * The scheduler: assigns every unassigned Pod to a node, by the plugins of the profile that the Pod names. It reads the cluster from its
 * informers and changes it by bindings. It starts from current state: what was decided and not bound is decided again.
 */
import type { Pod } from "../api/generated/core/v1.ts";
import type { Transport } from "../api/machinery/transport.ts";
import type { Clock } from "../base/clock.ts";
import { Disposables } from "../base/disposables.ts";
import type { Logger } from "../base/logger.ts";
import type { Family, HistogramFamily } from "../base/metrics/prometheus-text.ts";
import type { Random } from "../base/random.ts";
import type { ObjectKey } from "../client/client.ts";
import { createEventRecorder } from "../client/events/create-event-recorder.ts";
import type { EventRecorder } from "../client/events/event-recorder.ts";
import { createInformers } from "../client/informer/informers.ts";
import { createClient } from "../client/rest-client.ts";
import { SchedulerCache } from "./cache/scheduler-cache.ts";
import { feedClusterEvents } from "./cluster-events.ts";
import { watchCluster } from "./cluster-view.ts";
import { profilesOf } from "./config/profiles.ts";
import type { PluginCatalog, SchedulerConfiguration } from "./config/scheduler-configuration.ts";
import { Turns } from "./cycle/decide.ts";
import type { Profile } from "./cycle/profile.ts";
import { RoundRobin } from "./cycle/round-robin.ts";
import { Stopwatch } from "./cycle/stopwatch.ts";
import { Decisions, type Decision } from "./decisions.ts";
import { effectsOn } from "./effects.ts";
import type { PluginContext, QueuedPod } from "./framework/plugin.ts";
import { SchedulerStatistics } from "./metrics.ts";
import { PodConditions } from "./pod-conditions.ts";
import { Nominator } from "./queue/nominator.ts";
import { SchedulingQueue } from "./queue/scheduling-queue.ts";
import type { PodInQueue } from "./queue/waiting-pod.ts";
import { Scheduling } from "./scheduling.ts";

/** Maximum concurrent bindings and evictions. More would only queue in the API server; decisions wait for them instead. */
const UNDER_WAY_MAX_DEFAULT = 500;
/** Maximum time of decisions without yielding to the event loop. */
const TURN_MS = 5;

export interface SchedulerOptions {
  readonly transport: Transport;
  readonly configuration: SchedulerConfiguration;
  /** The available plugins: plugins/all.ts, and others. */
  readonly catalog: PluginCatalog;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Maximum concurrent bindings and evictions; default: UNDER_WAY_MAX_DEFAULT. */
  readonly underWayMax?: number;
  /** Aborts a start that waits for an unresponsive server. */
  readonly signal?: AbortSignal;
}

export interface RunningScheduler {
  /** The scheduler names that it handles. */
  readonly schedulerNames: readonly string[];
  /** The last decisions about a Pod, oldest first. */
  decisions(pod: ObjectKey): readonly Decision[];
  /** Where an unassigned Pod waits, and for what. */
  waiting(pod: ObjectKey): PodInQueue | undefined;
  metrics(): readonly (Family | HistogramFamily)[];
  /** Work in progress. */
  underWay(): readonly string[];
  /** Decides nothing more; resolves when work in progress is done. */
  stop(): Promise<void>;
}

/** Resolves when it is synced and running. */
export async function startScheduler(options: SchedulerOptions): Promise<RunningScheduler> {
  const { transport, clock, random, log, configuration } = options;
  await using starting = new Disposables();
  const stopping = new AbortController();
  const { signal } = stopping;
  const client = createClient(transport);
  const informers = starting.use(createInformers({ transport, clock, random, log }));
  const known = watchCluster(informers, options.signal ?? signal);
  const recorders = new Map<string, EventRecorder>();
  for (const { schedulerName } of configuration.profiles) {
    const recorder = createEventRecorder({ client, component: schedulerName, clock, random, log, api: "events.k8s.io" });
    recorders.set(schedulerName, starting.use(recorder));
  }
  const cluster = await known;
  const nominator = new Nominator();
  const statistics = new SchedulerStatistics();
  const late: { scheduling?: Scheduling; queue?: SchedulingQueue } = {};
  const profiles = makeProfiles(options, {
    cluster,
    effects: effectsOn({
      client,
      informers,
      events: byScheduler(recorders),
      clock,
      sendBack: (pod) => late.scheduling?.sendBack(pod) ?? false,
      onClaimCreation: (status) => statistics.claimCreated(status),
    }),
    nominatedPods: (nodeName) => nominator.nominatedPods(nodeName),
    activate: (podUid) => late.queue?.activate(podUid),
    runInBackground: (work) => runInBackground(work, { clock, log, signal }),
    ...{ clock, random, log },
  });
  const queue = starting.use(newQueue(options, profiles, nominator));
  late.queue = queue;
  const cache = new SchedulerCache({ log });
  const decisions = new Decisions();
  const conditions = new PodConditions({ client, cluster, clock, log, signal });
  const turns = new Turns(new RoundRobin(random.derive("equal nodes")), new Stopwatch(() => clock.monotonic(), statistics));
  const scheduling = new Scheduling({
    ...{ profiles, recorders, cache, queue, nominator, cluster, conditions, decisions, statistics, turns, clock, log, signal },
  });
  late.scheduling = scheduling;
  const isOurs = ({ spec }: Pod) => profiles.has(spec?.schedulerName ?? "");
  starting.use(feedClusterEvents({ informers, cache, queue, isOurs, onAssumedRemoved: (pod) => void scheduling.sendBack(pod) }));
  const { underWayMax = UNDER_WAY_MAX_DEFAULT } = options;
  const deciding = decideAll({ queue, scheduling, clock, underWayMax }, signal);
  const owned = starting.move();
  let stopped: Promise<void> | undefined;
  const stop = async (): Promise<void> => {
    stopping.abort(new Error("The scheduler was stopped"));
    await deciding;
    await scheduling.allAreOver();
    await owned[Symbol.asyncDispose]();
  };
  return {
    schedulerNames: [...profiles.keys()],
    decisions: (pod) => decisions.of(pod),
    waiting: ({ namespace = "", name }) => queue.find(`${namespace}/${name}`),
    metrics: () => statistics.families(queue, cache),
    underWay: () => (scheduling.underWay === 0 ? [] : [`${scheduling.underWay} bindings or evictions`]),
    stop: () => (stopped ??= stop()),
  };
}

/** Throws with all configuration errors. */
function makeProfiles({ configuration, catalog }: SchedulerOptions, context: PluginContext): ReadonlyMap<string, Profile> {
  const made = profilesOf(configuration, catalog, context);
  if (!made.ok) throw new Error(made.problems.join("; "));
  return made.profiles;
}

function newQueue(
  { configuration, clock, log }: SchedulerOptions,
  profiles: ReadonlyMap<string, Profile>,
  nominator: Nominator,
): SchedulingQueue {
  const { podInitialBackoffMs: initialBackoffMs, podMaxBackoffMs: maxBackoffMs } = configuration;
  const all = [...profiles.values()];
  // All profiles sort alike.
  const sort = all[0]?.queueSort;
  const compare = (a: QueuedPod, b: QueuedPod): number => sort?.compare?.(a, b) ?? 0;
  return new SchedulingQueue({ clock, log, profiles: all, compare, nominator, initialBackoffMs, maxBackoffMs });
}

/** Events come from the scheduler of the Pod being scheduled: for evictions, the preemptor. */
function byScheduler(recorders: ReadonlyMap<string, EventRecorder>): Pick<EventRecorder, "record"> {
  return {
    record: (about, event) => recorders.get(((event.related ?? about) as Pod).spec?.schedulerName ?? "")?.record(about, event),
  };
}

function runInBackground(
  work: Iterator<void>,
  { clock, log, signal }: Pick<SchedulerOptions, "clock" | "log"> & { readonly signal: AbortSignal },
): void {
  const step = (): void => {
    if (signal.aborted) return;
    try {
      if (work.next().done === true) return;
    } catch (error) {
      log.error("Background work of a plugin failed", { error });
      return;
    }
    clock.soon(step);
  };
  clock.soon(step);
}

interface Deciding {
  readonly queue: SchedulingQueue;
  readonly scheduling: Scheduling;
  readonly clock: Clock;
  readonly underWayMax: number;
}

/** Until stopped. Yields in between: decisions are synchronous, and would block everything else. Never rejects. */
async function decideAll({ queue, scheduling, clock, underWayMax }: Deciding, signal: AbortSignal): Promise<void> {
  let turnBeganAtMs = clock.monotonic();
  while (!signal.aborted) {
    const taken = queue.tryPop() ?? (await queue.pop(signal).catch(() => undefined));
    if (taken === undefined) return;
    scheduling.attempt(taken);
    while (scheduling.underWay >= underWayMax) await scheduling.oneIsOver();
    if (clock.monotonic() - turnBeganAtMs < TURN_MS) continue;
    await new Promise<void>((resolve) => clock.soon(resolve));
    turnBeganAtMs = clock.monotonic();
  }
}
