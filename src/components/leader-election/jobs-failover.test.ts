/**
 * Two controller managers under virtual time, with the real election and the server's check of each write. The leader dies after a random
 * request in the middle of Jobs, twenty times; its successor starts from lists that may be stale.
 */
import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { KUBE_CONTROLLER_MANAGER, type IdentityName } from "../../api/identities.ts";
import { isTrue } from "../../api/batch/v1/job/conditions.ts";
import { jobs } from "../../api/batch/v1/job.ts";
import { pods } from "../../api/core/v1/pod.ts";
import type { Job, JobSpec } from "../../api/generated/batch/v1.ts";
import { silentLogger } from "../../base/logger.ts";
import { seededRandom, type Random } from "../../base/random.ts";
import { completionIndexOf, indexFailuresOf } from "../../controllers/job/job-pods.ts";
import { aJob, simulatedKubelet } from "../../controllers/job/testing/jobs.ts";
import { driven } from "../../testing/driven.ts";
import { TEST_SETTINGS } from "../../testing/fixtures/controller-settings.ts";
import { given, type Given } from "../../testing/given.ts";
import { MortalTransport } from "../../testing/mortal-transport.ts";
import { testSeed } from "../../testing/rounds.ts";
import { CONTROLLER_MANAGER_LEASE, startLeaderElectedControllers, type LeaderElectedControllers } from "./leader-elected-controllers.ts";

const KILLS = 20;
const COMPLETIONS = 40;
/** Requests of the Job controller until its process dies: fewer than a generation of Pods takes. */
const REQUESTS = { min: 3, max: 30 };
/** Twenty times the duration of a lease, and the work. */
const VIRTUAL_SECONDS_MAX = 3_600;
/** Longer than a manager waits for its controllers and its lease. */
const STOP_MS = 60_000;

interface Manager {
  readonly transport: MortalTransport;
  readonly controllers: LeaderElectedControllers;
}

function startManager({ server, clock }: Given, identity: string, random: Random, dieAfter: number | undefined): Manager {
  const transport = new MortalTransport({ clock, random, disturbance: () => ({ staleStarts: 0.5, delayMsMax: 50 }), dieAfter });
  const transportFor = (user: IdentityName) =>
    transport.around(server.server.transport({ user, userAgent: "kube-controller-manager" }), { counts: user !== KUBE_CONTROLLER_MANAGER });
  const controllers = startLeaderElectedControllers({
    controllers: ["job-controller"],
    settings: TEST_SETTINGS,
    transportFor,
    election: { lease: CONTROLLER_MANAGER_LEASE, identity },
    clock,
    random,
    log: silentLogger,
  });
  // Rejects if it dies before it has started.
  controllers.started.catch(() => undefined);
  controllers.stuck.catch(() => undefined);
  return { transport, controllers };
}

/** Runs two managers until all Jobs have finished. Resolves with the number of leaders that died. */
async function runAndKill(cluster: Given, random: Random): Promise<number> {
  const { clock } = cluster;
  let kills = 0;
  let started = 0;
  const start = (): Manager => {
    const dieAfter = kills + running.length < KILLS ? REQUESTS.min + random.below(REQUESTS.max - REQUESTS.min) : undefined;
    return startManager(cluster, `manager-${started++}`, random.derive(`manager ${started}`), dieAfter);
  };
  const stopped: PromiseLike<void>[] = [];
  const stop = ({ controllers }: Manager): void => void stopped.push(controllers[Symbol.asyncDispose]());
  let running: Manager[] = [];
  running.push(start());
  running.push(start());
  for (let second = 0; second < VIRTUAL_SECONDS_MAX && !(await areFinished(cluster)); second++) {
    await clock.advance(1_000);
    const dead = running.filter(({ transport }) => transport.isDead);
    running = running.filter(({ transport }) => !transport.isDead);
    kills += dead.length;
    for (const manager of dead) {
      stop(manager);
      running.push(start());
    }
  }
  running.forEach(stop);
  await clock.advance(STOP_MS);
  await driven(clock, Promise.all(stopped));
  return kills;
}

async function areFinished(cluster: Given): Promise<boolean> {
  const all = await cluster.list(jobs, "default");
  return all.every(({ status = {} }) => isTrue(status, "Complete") || isTrue(status, "Failed"));
}

function named(name: string, spec: Partial<JobSpec>) {
  return { ...aJob({ completions: COMPLETIONS, parallelism: 4, ...spec }), metadata: { namespace: "default", name } };
}

function countsOf({ status = {} }: Job) {
  const { succeeded = 0, failed = 0, completedIndexes = "", uncountedTerminatedPods } = status;
  return { succeeded, failed, completedIndexes, uncountedTerminatedPods, isComplete: isTrue(status, "Complete") };
}

test("when the leader is killed 20 times in the middle of Jobs, every index runs as often as it must and no Pod is counted twice", async () => {
  const indexed = { completionMode: "Indexed" as const };
  await using cluster = await given(
    named("plain", {}),
    named("indexed", indexed),
    named("failing", { ...indexed, completions: 10, backoffLimitPerIndex: 1 }),
  );
  await cluster.run(simulatedKubelet((pod) => (pod.metadata.name.startsWith("failing-") && indexFailuresOf(pod) === 0 ? 1 : 0)));

  const kills = await runAndKill(cluster, seededRandom(testSeed()));

  equal(kills, KILLS);
  const [failing, withIndexes, plain] = await cluster.list(jobs, "default");
  const none = { uncountedTerminatedPods: {}, isComplete: true };
  deepEqual(plain && countsOf(plain), { succeeded: COMPLETIONS, failed: 0, completedIndexes: "", ...none });
  deepEqual(withIndexes && countsOf(withIndexes), { succeeded: COMPLETIONS, failed: 0, completedIndexes: "0-39", ...none });
  deepEqual(failing && countsOf(failing), { succeeded: 10, failed: 10, completedIndexes: "0-9", ...none });
  // Finished Pods stay: these are all that were ever created.
  const created = await cluster.list(pods, "default");
  const ofJob = (name: string) => created.filter(({ metadata }) => metadata.labels?.["job-name"] === name);
  deepEqual([ofJob("plain").length, ofJob("indexed").length, ofJob("failing").length], [COMPLETIONS, COMPLETIONS, 20]);
  equal(new Set(ofJob("indexed").map(completionIndexOf)).size, COMPLETIONS);
});
