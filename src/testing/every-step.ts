/**
 * "Every step may be the last": a scenario is played once undisturbed, then again and again, and each time the process of the controllers
 * dies after another one of its API calls: what the server did stays done, what was going on is lost, and a fresh process starts from
 * what is. It is also played with events that come late, twice and again when they are old, processes that start from what was a while
 * ago, watches that are cut, and requests that fail before or after the server took them.
 *
 * However it is disturbed, the cluster must end in the same state, but for names, times and numbers that only chance or the clock decides;
 * by then nothing may be written any more; and what is there must be the same as before: nothing may have been made again that the
 * undisturbed run makes once. Events (the kind) are not looked at: how many there are is up to chance.
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
import { makeObject, silentRecorder } from "./given.ts";
import { comparableState, fieldsOf } from "./comparable-state.ts";
import { MortalTransport, type Disturbance } from "./mortal-transport.ts";
import { ObjectHistory, type Origin } from "./object-history.ts";
import { withinRules } from "./within-rules.ts";

export interface Scenario {
  /** Those that are in the cluster before any controller starts. */
  readonly objects: readonly object[];
  /** A function, since each run has its own. */
  controllers(): readonly Controller[];
  /** What happens meanwhile, one after the other; each begins when nothing is left to do. */
  readonly steps?: readonly ((cluster: ScenarioCluster) => Promise<void>)[];
  /** How long the cluster is left alone after each step, by its own clock, so that all comes to rest. Default: 2 minutes. */
  readonly restMs?: number;
  /**
   * How long nothing may be written at the end, by the cluster's own clock. Default: 5 minutes; shorter for one at whose end something is
   * due soon.
   */
  readonly idleMs?: number;
  /** Kinds that are not compared, since how often they are written is up to chance. Events never are. */
  readonly ignored?: readonly ResourceKind[];
}

export interface ScenarioCluster {
  readonly client: Client;
  readonly clock: VirtualClock;
}

const REST_MS = 120_000;
/** Longer than any controller waits before it tries again what failed. */
const IDLE_MS = 300_000;
const SEED = 7;

export interface Played {
  /** What can be compared of the end. */
  readonly state: readonly string[];
  /** How many API calls the controllers made until then, deaths included. */
  readonly calls: number;
  /** How often each object came to be. */
  readonly origins: ReadonlyMap<string, Origin>;
  /** What was written when all should have been at rest. */
  readonly restless: readonly string[];
}

/** Plays it once. `dieAfter`: the number of the call after which the process dies; the next process lives. */
export async function play(scenario: Scenario, disturbance: Disturbance & { readonly dieAfter?: number } = {}): Promise<Played> {
  await using owner = new Disposables();
  const server = owner.use(await startServer({ config: { authorizationModes: ["AlwaysAllow"] } }));
  const { clock } = server;
  const client = createClient(server.transport());
  const random = seededRandom(disturbance.seed ?? SEED);
  for (const object of scenario.objects) await makeObject(client, object);
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
    // To come to rest takes a network on which one can.
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

/** Short, so that a process that has died is followed by another soon. */
const REST_STEP_MS = 1_000;
/** Long, since nothing should happen. */
const IDLE_STEP_MS = 30_000;

function isIgnored(kind: ResourceKind, { ignored = [] }: Scenario): boolean {
  return kind.kind === "Event" || ignored.some(({ plural }) => plural === kind.plural);
}

export interface EveryStepOptions {
  /** At most so many deaths, spread evenly over the calls. Default: one after each. */
  readonly deathsMax?: number;
  /** How often it is played with events late, twice and old, and with failing requests. */
  readonly disturbedRuns: number;
}

/** Rejects, naming the death or the seed, if a disturbed run does not come to the same end as the undisturbed one, or none to rest. */
export async function everyStepMayBeTheLast(scenario: Scenario, { deathsMax = Infinity, disturbedRuns }: EveryStepOptions): Promise<void> {
  const undisturbed = await play(scenario);
  if (undisturbed.calls === 0) throw new Error("The controllers asked for nothing: there is no step that could be the last");
  const stride = Math.max(1, Math.ceil(undisturbed.calls / deathsMax));
  mustBeIdle(undisturbed, "Undisturbed");
  for (let dieAfter = 1; dieAfter <= undisturbed.calls; dieAfter += stride) {
    const played = await play(scenario, { dieAfter });
    // Who starts from what is finds what was made, also if the server chose its name.
    mustBeEqual(played, undisturbed, `The process died after call ${dieAfter} of ${undisturbed.calls}`, { alsoChosen: true });
  }
  for (let seed = 1; seed <= disturbedRuns; seed++) {
    const dieAfter = 1 + seededRandom(seed).below(undisturbed.calls);
    const played = await play(scenario, { seed, dieAfter, ...DISTURBED });
    // Who does not know yet that one whose name the server chose is there makes another, and takes one away when it does.
    mustBeEqual(played, undisturbed, `Events were late or old and requests failed, from seed ${seed}`, { alsoChosen: false });
  }
}

const DISTURBED: Disturbance = { delayMsMax: 300, repeats: 0.2, replays: 0.2, staleStarts: 0.5, cuts: 0.05, failures: 0.1 };

function mustBeIdle({ restless }: Played, how: string): void {
  if (restless.length > 0) throw new Error(`${how}: not at rest at the end, as something was still written\n${summary(restless)}`);
}

function mustBeEqual(played: Played, undisturbed: Played, how: string, { alsoChosen }: { readonly alsoChosen: boolean }): void {
  const states = differences(undisturbed.state, played.state);
  if (states.length > 0) throw new Error(`${how}: another end than undisturbed (-), namely (+)\n${differingFields(states).join("\n")}`);
  const origins = differences(originsOf(undisturbed, alsoChosen), originsOf(played, alsoChosen));
  if (origins.length > 0) throw new Error(`${how}: made not as often as undisturbed (-), but (+)\n${origins.join("\n")}`);
  mustBeIdle(played, how);
}

function originsOf({ origins }: Played, alsoChosen: boolean): readonly string[] {
  return [...origins].flatMap(([name, { times, isChosen }]) => (isChosen && !alsoChosen ? [] : [`${name}: ${times} times`]));
}

/** What only one of them has: "-" the first, "+" the second. A line that one has more often is among them. */
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

/** The same, field by field: of objects that differ most fields do not. */
function differingFields(objects: readonly string[]): readonly string[] {
  const fields = (sign: string): readonly string[] =>
    objects.filter((line) => line.startsWith(sign)).flatMap((line) => fieldsOf(line.slice(2)));
  return differences(fields("-"), fields("+"));
}

/** Each line once, with how often it came. */
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

/** A controller manager, as far as the cluster can tell. */
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
