/**
 * The package's entry point `k8ts/testing`: fast and deterministic tests of your own code. Everything exported here is public and stable.
 * - A whole cluster with a clock that the test advances; one for all tests of a file, or a fork for each of them.
 * - Your own controller against the real API server: one reconciliation (`given`), or whole scenarios in which its process dies after each
 *   of its API calls (`everyStepMayBeTheLast`).
 * Not here: what only the tests of k8ts need (needs.ts, rounds.ts).
 */
export type { Cluster, ClusterOptions } from "../embedded/cluster.ts";
export { startCluster } from "../embedded/start-cluster.ts";
export { useCluster, useFork, type EachTestHooks, type SuiteHooks, type TestHook, type UseClusterOptions } from "./use-cluster.ts";
export { forEachSeed } from "./for-each-seed.ts";
export { seededRandom, type Random } from "../base/random.ts";
export type { VirtualClock } from "../base/virtual-clock.ts";
export { virtualClock } from "./virtual-clock.ts";
export { driven } from "./driven.ts";
export { given, givenWith, type Given, type GivenOptions } from "./given.ts";
export {
  everyStepMayBeTheLast,
  runScenario,
  type EveryStepOptions,
  type ScenarioRun,
  type Scenario,
  type ScenarioCluster,
} from "./every-step.ts";
export type { Disturbance } from "./mortal-transport.ts";
export type { RunningControllers } from "../controllers/runtime/run-controllers.ts";
