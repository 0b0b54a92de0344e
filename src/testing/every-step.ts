/**
 * "Every step may be the last": runs a scenario once undisturbed, then repeatedly, killing the controllers' process after a different API
 * call each time: completed writes persist, requests in flight are lost, and a new process starts from the stored state. Further runs
 * deliver events late, twice and out of date, start from stale lists, cut watches, and fail requests before or after the server executed
 * them.
 *
 * However it is disturbed, the cluster must reach the same state, apart from names, timestamps and numbers that are random or depend on the
 * clock; then all writes must have stopped; and the objects must be the same: nothing that the undisturbed run creates once may have been
 * created again. Events (the kind) are not compared, since their number is not deterministic.
 */
import { all } from "../api/all.ts";
import { controllerIdentity } from "../api/identities.ts";
import { startServer, type StartedServer } from "../apiserver/testing/server.ts";
import { Disposables } from "../base/disposables.ts";
import { silentLogger } from "../base/logger.ts";
import { seededRandom, type Random } from "../base/random.ts";
import type { VirtualClock } from "../base/virtual-clock.ts";
import type { Client, ResourceKind } from "../client/client.ts";
import { createInformers } from "../client/informer/informers.ts";
import { createClient } from "../client/rest-client.ts";
import type { Controller } from "../controllers/runtime/controller.ts";
import { runControllers } from "../controllers/runtime/run-controllers.ts";
import { createObject, silentRecorder } from "./given.ts";
import { comparableState, fieldsOf } from "./comparable-state.ts";
import { MortalTransport, type Disturbance } from "./mortal-transport.ts";
import { ObjectHistory, type Origin } from "./object-history.ts";
import { withinRules } from "./within-rules.ts";

export interface Scenario {
  /** Objects in the cluster before any controller starts. */
  readonly objects: readonly object[];
  /** Returns new controllers for each run. */
  controllers(): readonly Controller[];
  /** Changes made meanwhile, one after the other; each begins when the cluster has settled. */
  readonly steps?: readonly ((cluster: ScenarioCluster) => Promise<void>)[];
  /** Time in virtual milliseconds to settle after each step. Default: 2 minutes. */
  readonly restMs?: number;
  /**
   * Time in virtual milliseconds without writes required at the end. Default: 5 minutes; set a shorter one if something is due soon after
   * the end.
   */
  readonly idleMs?: number;
  /** Kinds that are not compared, since the number of their writes is not deterministic. Events never are. */
  readonly ignored?: readonly ResourceKind[];
}

export interface ScenarioCluster {
  readonly client: Client;
  readonly clock: VirtualClock;
}

const REST_MS = 120_000;
/** Longer than any controller's maximum retry delay. */
const IDLE_MS = 300_000;
const SEED = 7;

export interface ScenarioRun {
  /** Comparable part of the final state. */
  readonly state: readonly string[];
  /** Number of API calls that the controllers made, including those of killed processes. */
  readonly calls: number;
  /** How often each object was created. */
  readonly origins: ReadonlyMap<string, Origin>;
  /** Writes made when the cluster should have been idle. */
  readonly restless: readonly string[];
}

/** Runs a scenario once. `dieAfter`: the number of the API call after which the process dies; the next process survives. */
export async function runScenario(
  scenario: Scenario,
  disturbance: Disturbance & { readonly dieAfter?: number } = {},
): Promise<ScenarioRun> {
  await using owner = new Disposables();
  const server = owner.use(await startServer({ config: { authorizationModes: ["AlwaysAllow"] } }));
  const { clock } = server;
  const client = createClient(server.transport());
  const random = seededRandom(disturbance.seed ?? SEED);
  for (const object of scenario.objects) await createObject(client, object);
  const kinds = all.filter((kind) => kind.verbs.includes("watch") && !isIgnored(kind, scenario));
  const history = new ObjectHistory();
  await history.follow(client, kinds);

  let calls = 0;
  let network: Disturbance = disturbance;
  const start = (dieAfter?: number) => startProcess(scenario, { server, random, disturbance: () => network, dieAfter });
  let process = await start(disturbance.dieAfter);
  owner.defer(() => process.stop());
  const pass = async (durationMs: number, stepMs: number): Promise<void> => {
    for (let left = durationMs; left > 0; left -= stepMs) {
      await clock.settle();
      if (process.transport.isDead) {
        calls += process.transport.calls;
        await process.stop();
        process = await start();
      }
      await clock.advance(Math.min(stepMs, left));
    }
  };
  const { restMs = REST_MS, idleMs = IDLE_MS } = scenario;
  const rest = async (): Promise<void> => {
    network = disturbance;
    await pass(restMs / 2, REST_STEP_MS);
    // The cluster can settle only on a working network.
    network = UNDISTURBED;
    await pass(restMs / 2, REST_STEP_MS);
  };
  await rest();
  for (const step of scenario.steps ?? []) {
    await step({ client, clock });
    await rest();
  }
  calls += process.transport.calls;
  const state = await comparableState(client, kinds);
  history.takeWritten();
  await pass(idleMs, IDLE_STEP_MS);
  return { state, calls, origins: history.origins, restless: history.takeWritten() };
}

const UNDISTURBED: Disturbance = {};

/** Short, so that a dead process is replaced soon. */
const REST_STEP_MS = 1_000;
/** Long, since nothing should happen. */
const IDLE_STEP_MS = 30_000;

function isIgnored(kind: ResourceKind, { ignored = [] }: Scenario): boolean {
  return kind.kind === "Event" || ignored.some(({ plural }) => plural === kind.plural);
}

export interface EveryStepOptions {
  /** Maximum number of deaths, spread evenly over the calls. Default: one after each call. */
  readonly deathsMax?: number;
  /** Number of runs with delayed, duplicated and stale events and failing requests. */
  readonly disturbedRuns: number;
}

/**
 * Rejects, naming the call or the seed, if a disturbed run does not reach the state of the undisturbed one, or a run does not become idle.
 */
export async function everyStepMayBeTheLast(scenario: Scenario, { deathsMax = Infinity, disturbedRuns }: EveryStepOptions): Promise<void> {
  const undisturbed = await runScenario(scenario);
  if (undisturbed.calls === 0) throw new Error("The controllers made no API call, so there is no step to interrupt");
  const stride = Math.max(1, Math.ceil(undisturbed.calls / deathsMax));
  mustBeIdle(undisturbed, "Undisturbed");
  for (let dieAfter = 1; dieAfter <= undisturbed.calls; dieAfter += stride) {
    const run = await runScenario(scenario, { dieAfter });
    // A restarted process lists what exists, so it finds objects with generated names, too.
    mustBeEqual(run, undisturbed, `The process died after call ${dieAfter} of ${undisturbed.calls}`, { alsoChosen: true });
  }
  for (let seed = 1; seed <= disturbedRuns; seed++) {
    const dieAfter = 1 + seededRandom(seed).below(undisturbed.calls);
    const run = await runScenario(scenario, { seed, dieAfter, ...DISTURBED });
    // A process that has not yet observed its object with a generated name creates another one and deletes the surplus later.
    mustBeEqual(run, undisturbed, `With delayed and stale events and failing requests, seed ${seed}`, { alsoChosen: false });
  }
}

const DISTURBED: Disturbance = { delayMsMax: 300, repeats: 0.2, replays: 0.2, staleStarts: 0.5, cuts: 0.05, failures: 0.1 };

function mustBeIdle({ restless }: ScenarioRun, how: string): void {
  if (restless.length > 0) throw new Error(`${how}: not idle at the end, these writes continued\n${summary(restless)}`);
}

function mustBeEqual(run: ScenarioRun, undisturbed: ScenarioRun, how: string, { alsoChosen }: { readonly alsoChosen: boolean }): void {
  const states = differences(undisturbed.state, run.state);
  if (states.length > 0)
    throw new Error(`${how}: the final state differs: undisturbed (-), disturbed (+)\n${differingFields(states).join("\n")}`);
  const origins = differences(originsOf(undisturbed, alsoChosen), originsOf(run, alsoChosen));
  if (origins.length > 0) throw new Error(`${how}: the number of creations differs: undisturbed (-), disturbed (+)\n${origins.join("\n")}`);
  mustBeIdle(run, how);
}

function originsOf({ origins }: ScenarioRun, alsoChosen: boolean): readonly string[] {
  return [...origins].flatMap(([name, { times, isChosen }]) => (isChosen && !alsoChosen ? [] : [`${name}: ${times} times`]));
}

/** Lines that only one of them has: "-" the first, "+" the second. Repetitions are counted. */
function differences(expected: readonly string[], actual: readonly string[]): readonly string[] {
  const surplus = (of: readonly string[], over: readonly string[]): readonly string[] => {
    const left = [...over];
    return of.filter((line) => {
      const at = left.indexOf(line);
      if (at !== -1) left.splice(at, 1);
      return at === -1;
    });
  };
  return [...surplus(expected, actual).map((line) => `- ${line}`), ...surplus(actual, expected).map((line) => `+ ${line}`)];
}

/** The same difference field by field, since most fields of differing objects are equal. */
function differingFields(objects: readonly string[]): readonly string[] {
  const fields = (sign: string): readonly string[] =>
    objects.filter((line) => line.startsWith(sign)).flatMap((line) => fieldsOf(line.slice(2)));
  return differences(fields("-"), fields("+"));
}

/** Each line once, with its number of occurrences. */
function summary(lines: readonly string[]): string {
  const times = new Map<string, number>();
  for (const line of lines) times.set(line, (times.get(line) ?? 0) + 1);
  return [...times].map(([line, count]) => `${line}: ${count} times`).join("\n");
}

interface ProcessOptions {
  readonly server: StartedServer;
  readonly random: Random;
  disturbance(): Disturbance;
  readonly dieAfter: number | undefined;
}

interface ControllerProcess {
  readonly transport: MortalTransport;
  stop(): Promise<void>;
}

/** A controller manager, as seen by the API server. */
async function startProcess(scenario: Scenario, { server, random, disturbance, dieAfter }: ProcessOptions): Promise<ControllerProcess> {
  const { clock } = server;
  const transport = new MortalTransport({ clock, random, disturbance, dieAfter });
  const informers = createInformers({
    transport: transport.around(server.transport(), { counts: false }),
    clock,
    random,
    log: silentLogger,
  });
  const starting = runControllers({
    controllers: scenario.controllers(),
    informers,
    client: createClient(transport.around(server.transport(), { counts: false })),
    clientFor(controller) {
      const user = controllerIdentity(controller.account);
      const own = server.server.transport({ user, userAgent: "kube-controller-manager" });
      return createClient(withinRules(transport.around(own, { counts: true }), controller));
    },
    recorderFor: () => silentRecorder,
    clock,
    random,
    log: silentLogger,
  });
  return {
    transport,
    async stop() {
      transport.die();
      await informers.close();
      await starting.then(
        (running) => running.stop(),
        () => undefined,
      );
    },
  };
}
