/** How long a cluster may take to stop: the flag of every command that stops one. */
import { durationExpected, durationMs } from "../config/connection-flags.ts";

/** As long as Pods with the usual grace of 30 s, and what comes after them, can take. */
const STOP_TIMEOUT = "1m0s";

export const stopTimeoutFlag = {
  timeout: {
    type: "string",
    placeholder: "DURATION",
    default: STOP_TIMEOUT,
    doc: "Time for a graceful stop of Pods and components; then the process is killed.",
    expects: durationExpected,
  },
} as const;

export function stopTimeoutMs({ timeout }: { readonly timeout: string }): number {
  return durationMs(timeout);
}
