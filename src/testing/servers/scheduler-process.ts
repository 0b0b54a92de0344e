/** `k8ts scheduler` in a process of its own (leader-elected-process.ts). */
import { startLedProcess, type LedProcess, type LedProcessOptions } from "./leader-elected-process.ts";

export type SchedulerProcess = LedProcess;

export function startSchedulerProcess(options: LedProcessOptions): Promise<SchedulerProcess> {
  return startLedProcess({ command: "scheduler", says: "scheduler" }, options);
}
