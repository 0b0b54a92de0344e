/**
 * The package's entry `k8ts/testing`: what tests of one's own need, so that they wait for nothing and repeat exactly. What stands
 * here is public and stays.
 * - A whole cluster, and a clock that moves only when it is told to; one for all tests of a file, or a fork for each of them.
 * - A controller of one's own, tried on the real API server: one pass (`given`), or a whole life in which its process dies after each of
 *   its calls (`everyStepMayBeTheLast`).
 * Not here: what only our own tests need (needs.ts, rounds.ts).
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
export { everyStepMayBeTheLast, play, type EveryStepOptions, type Played, type Scenario, type ScenarioCluster } from "./every-step.ts";
export type { Disturbance } from "./mortal-transport.ts";
export type { RunningControllers } from "../controllers/runtime/run-controllers.ts";
