/**
 * "Every step may be the last": a scenario is played once undisturbed, then again and again, and each time the process of the controllers
 * dies after another one of its API calls: what the server did stays done, what was going on is lost, and a fresh process starts from
 * what is. It is also played with events that come late and twice, watches that are cut, and requests that fail before or after the
 * server took them. However it is disturbed, the cluster must end in the same state, down to names, times and numbers that only chance
 * or the clock decides.
 */
import { deepEqual } from "node:assert/strict";
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
import { comparableState } from "./comparable-state.ts";
import { MortalTransport, type Disturbance } from "./mortal-transport.ts";
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
  /** Kinds that are not compared, since how often they are written is up to chance. Events never are. */
  readonly ignored?: readonly ResourceKind[];
}

export interface ScenarioCluster {
  readonly client: Client;
  readonly clock: VirtualClock;
}

const REST_MS = 120_000;
/** A scenario that has not come to rest after so many deaths never will: one death more would find another. */
const SEED = 7;

export interface Played {
  /** What can be compared of the end. */
  readonly state: readonly string[];
  /** How many API calls the controllers made until then, deaths included. */
  readonly calls: number;
}

/** Plays it once. `dieAfter`: the number of the call after which the process dies; the next process lives. */
export async function play(scenario: Scenario, disturbance: Disturbance & { readonly dieAfter?: number } = {}): Promise<Played> {
  await using owner = new Disposables();
  const server = owner.use(await startServer({ config: { authorizationModes: ["AlwaysAllow"] } }));
  const { clock } = server;
  const client = createClient(server.transport());
  const random = seededRandom(disturbance.seed ?? SEED);
  for (const object of scenario.objects) await makeObject(client, object);

  let calls = 0;
  let process = await startProcess(scenario, { server, random, disturbance, dieAfter: disturbance.dieAfter });
  owner.defer(() => process.stop());
  const rest = async (): Promise<void> => {
    for (let left = scenario.restMs ?? REST_MS; left > 0; left -= REST_STEP_MS) {
      await clock.settle();
      if (process.transport.isDead) {
        calls += process.transport.calls;
        await process.stop();
        process = await startProcess(scenario, { server, random, disturbance });
      }
      await clock.advance(REST_STEP_MS);
    }
  };
  await rest();
  for (const step of scenario.steps ?? []) {
    await step({ client, clock });
    await rest();
  }
  calls += process.transport.calls;
  return {
    state: await comparableState(
      client,
      all.filter((kind) => !isIgnored(kind, scenario)),
    ),
    calls,
  };
}

/** Short, so that a process that has died is followed by another soon. */
const REST_STEP_MS = 1_000;

function isIgnored(kind: ResourceKind, { ignored = [] }: Scenario): boolean {
  return kind.kind === "Event" || ignored.some(({ plural }) => plural === kind.plural);
}

export interface EveryStepOptions {
  /** At most so many deaths, spread evenly over the calls. Default: one after each. */
  readonly deathsMax?: number;
  /** How often it is played with events late and twice, and with failing requests. */
  readonly disturbedRuns: number;
}

/** Rejects, naming the death or the seed, if a disturbed run ends in another state than the undisturbed one. */
export async function everyStepMayBeTheLast(scenario: Scenario, { deathsMax = Infinity, disturbedRuns }: EveryStepOptions): Promise<void> {
  const undisturbed = await play(scenario);
  if (undisturbed.calls === 0) throw new Error("The controllers asked for nothing: there is no step that could be the last");
  const stride = Math.max(1, Math.ceil(undisturbed.calls / deathsMax));
  for (let dieAfter = 1; dieAfter <= undisturbed.calls; dieAfter += stride) {
    const { state } = await play(scenario, { dieAfter });
    deepEqual(state, undisturbed.state, `The process died after call ${dieAfter} of ${undisturbed.calls}`);
  }
  for (let seed = 1; seed <= disturbedRuns; seed++) {
    const { state } = await play(scenario, { seed, delayMsMax: 300, repeats: 0.2, cuts: 0.05, failures: 0.1 });
    deepEqual(state, undisturbed.state, `Events were late and requests failed, from seed ${seed}`);
  }
}

interface ProcessOptions {
  readonly server: StartedServer;
  readonly random: Random;
  readonly disturbance: Disturbance;
  readonly dieAfter?: number | undefined;
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
