/**
 * Starts the scheduler with a configuration and a transport. Used by `k8ts up` and startCluster, in the API server's process, and by `k8ts
 * scheduler`, over HTTPS.
 */
import { KUBE_SCHEDULER } from "../api/identities.ts";
import type { SchedulerConfiguration } from "../scheduler/config/scheduler-configuration.ts";
import { startScheduler, type RunningScheduler } from "../scheduler/scheduler.ts";
import {
  startLeaderElectedComponent,
  type LeaderElectedOptions,
  type LeaderElectedComponent,
} from "./leader-election/leader-elected-component.ts";
import { CATALOG } from "../config/scheduler-config.ts";

/** Upstream's user agent, which determines the field manager. */
export const SCHEDULER_AGENT = "kube-scheduler";

/** Upstream's Lease of the scheduler. */
export const SCHEDULER_LEASE = { namespace: "kube-system", name: "kube-scheduler" };

export interface LeaderElectedSchedulerOptions extends LeaderElectedOptions {
  readonly configuration: SchedulerConfiguration;
}

export type LeaderElectedScheduler = LeaderElectedComponent<RunningScheduler>;

export function startLeaderElectedScheduler(options: LeaderElectedSchedulerOptions): LeaderElectedScheduler {
  const { configuration, clock, random } = options;
  const log = options.log.with({ part: "scheduler" });
  return startLeaderElectedComponent({
    ...options,
    identity: KUBE_SCHEDULER,
    start: (transportFor, signal) =>
      startScheduler({ transport: transportFor(KUBE_SCHEDULER), configuration, catalog: CATALOG, clock, random, log, signal }),
  });
}
