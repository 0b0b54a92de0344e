/**
 * Waits for the processes of a cluster whose supervisor was killed: they detect it and exit by themselves shortly after. A restart or
 * cleanup of the cluster first waits for their exit: its store, port and Pods must have one owner.
 */
import type { Clock } from "../../base/clock.ts";
import { terminateProcess, waitForProcessExit } from "../../host/processes/detached-program.ts";
import type { ClusterRecord } from "../home/cluster-record.ts";

/** An API server completes running requests first. */
const STOP_WITHIN_MS = 10_000;

export async function waitForOrphanedProcesses({ parts = [] }: ClusterRecord, clock: Clock): Promise<void> {
  const processes = parts.flatMap((part) => part.process ?? []);
  await Promise.all(
    processes.map(async (process) => {
      if (!(await waitForProcessExit(process, { timeoutMs: STOP_WITHIN_MS, clock })))
        await terminateProcess(process, { graceMs: 0, clock });
    }),
  );
}
