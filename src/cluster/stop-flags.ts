/** Flag of every command that stops a cluster: the timeout of a graceful stop. */
import { durationExpected, durationMs } from "../config/connection-flags.ts";

/** Enough for Pods with the default grace period of 30 s and the shutdown after them. */
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
