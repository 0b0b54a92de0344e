/** `k8ts controller-manager` in a process of its own (leader-elected-process.ts). */
import { startLeaderElectedProcess, type LeaderElectedProcess, type LeaderElectedProcessOptions } from "./leader-elected-process.ts";

export type ControllerManagerProcess = LeaderElectedProcess;

export function startControllerManagerProcess(options: LeaderElectedProcessOptions): Promise<ControllerManagerProcess> {
  return startLeaderElectedProcess({ command: "controller-manager", says: "controllers" }, options);
}
