/** The audit log of an API server: its policy and its file, as the flags say. */
import { readFile } from "node:fs/promises";
import type { AuditPolicy, AuditSink } from "../../apiserver/framework/audit.ts";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import type { AuditConfig } from "../../config/audit/audit-flags.ts";
import { readAuditPolicy } from "../../config/audit/audit-policy.ts";
import { openDatedLog } from "../../host/files/dated-log.ts";

/** A disk that stays full must not fill the other log, too. */
const REPORT_INTERVAL_MS = 60_000;

/** Rejects with one sentence that names the file. */
export async function readAuditPolicyFile(path: string): Promise<AuditPolicy> {
  try {
    return readAuditPolicy(await readFile(path));
  } catch (error) {
    throw new Error(`Cannot use ${path} of --audit-policy-file: ${(error as Error).message}`, { cause: error });
  }
}

export interface OpenedAuditLog extends AsyncDisposable {
  readonly policy: AuditPolicy;
  readonly sink: AuditSink;
}

export async function openAuditLog(
  config: AuditConfig,
  { clock, log }: { readonly clock: Clock; readonly log: Logger },
): Promise<OpenedAuditLog> {
  const policy = await readAuditPolicyFile(config.policyFile);
  let lostCount = 0;
  let reportedMs = -Infinity;
  const onLost = (lines: number, error: unknown): void => {
    lostCount += lines;
    if (clock.monotonic() - reportedMs < REPORT_INTERVAL_MS) return;
    reportedMs = clock.monotonic();
    log.error("Events of the audit log are lost", { path: config.logPath, events: lines, error });
  };
  const file = await openDatedLog({ ...config, path: config.logPath, nowMs: () => clock.now(), onLost });
  return {
    policy,
    sink: {
      write(event) {
        if (!file.append(event)) onLost(1, new Error("the disk is too slow"));
      },
      get lostCount() {
        return lostCount;
      },
    },
    [Symbol.asyncDispose]: () => file[Symbol.asyncDispose](),
  };
}
