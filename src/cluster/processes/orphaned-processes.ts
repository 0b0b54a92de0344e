/**
 * The processes of a cluster whose supervisor was killed: they notice it and stop by themselves, within moments. Whoever goes on with the
 * cluster, or cleans up after it, first waits until they are gone: two must not have its store, its port or its Pods at once.
 */
import type { Clock } from "../../base/clock.ts";
import { terminateProcess, waitForProcessExit } from "../../host/processes/detached-program.ts";
import type { ClusterRecord } from "../home/cluster-record.ts";

/** An API server lets requests that run come to their end. */
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
