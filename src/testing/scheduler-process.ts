/** `k8ts scheduler` in a process of its own (led-process.ts). */
import { startLedProcess, type LedProcess, type LedProcessOptions } from "./led-process.ts";

export type SchedulerProcess = LedProcess;

export function startSchedulerProcess(options: LedProcessOptions): Promise<SchedulerProcess> {
  return startLedProcess({ command: "scheduler", says: "scheduler" }, options);
}
