/** `k8ts controller-manager` in a process of its own (leader-elected-process.ts). */
import { startLedProcess, type LedProcess, type LedProcessOptions } from "./leader-elected-process.ts";

export type ControllerManagerProcess = LedProcess;

export function startControllerManagerProcess(options: LedProcessOptions): Promise<ControllerManagerProcess> {
  return startLedProcess({ command: "controller-manager", says: "controllers" }, options);
}
