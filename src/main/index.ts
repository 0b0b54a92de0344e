/** The package's entry `k8ts`: a cluster inside a program of one's own. What stands here is public and stays. */
export { startCluster, type Cluster, type ClusterOptions, type ClusterPart } from "./cluster.ts";
export type { EtcdStoreConfig, StoreConfig } from "./store-config.ts";
export type { Clock } from "../base/clock.ts";
export type { LogFields, Logger } from "../base/logger.ts";
export { version } from "./generated/version.ts";
