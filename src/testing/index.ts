/**
 * The package's entry `k8ts/testing`: what tests of one's own need, so that they wait for nothing and repeat exactly. What stands
 * here is public and stays. Not here: what only our own tests need (needs.ts, rounds.ts).
 */
export { startCluster, type Cluster, type ClusterOptions } from "../main/cluster.ts";
export { seededRandom, type Random } from "../base/random.ts";
export type { VirtualClock } from "../base/virtual-clock.ts";
export { virtualClock } from "./virtual-clock.ts";
