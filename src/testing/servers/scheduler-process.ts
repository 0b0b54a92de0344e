/** `k8ts scheduler` in a process of its own (leader-elected-process.ts). */
import { startLeaderElectedProcess, type LeaderElectedProcess, type LeaderElectedProcessOptions } from "./leader-elected-process.ts";

export type SchedulerProcess = LeaderElectedProcess;

export function startSchedulerProcess(options: LeaderElectedProcessOptions): Promise<SchedulerProcess> {
  return startLeaderElectedProcess({ command: "scheduler", says: "scheduler" }, options);
}
