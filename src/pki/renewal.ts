/**
 * Renews certificates while the server runs: checks periodically whether one is about to expire, or whether another server or a person has
 * replaced files. Failures are retried and do not stop the server.
 */
import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/logger.ts";

/** Maximum delay until new files are noticed. */
const FILES_INTERVAL_MS = 10 * 60 * 1000;
/** Certificates are renewed 30 days before they expire, so this is frequent enough. */
const OWN_INTERVAL_MS = 24 * 60 * 60 * 1000;

export interface RenewalOptions {
  /** Resolves with true if something changed. */
  readonly renew: () => Promise<boolean>;
  /** True if other processes may change files. */
  readonly isShared: boolean;
  /** Called after a change. */
  readonly onRenewed: () => void | Promise<void>;
  readonly clock: Clock;
  readonly log: Logger;
}

export function startRenewal({ renew, isShared, onRenewed, clock, log }: RenewalOptions): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const pass = async () => {
    try {
      if (!(await renew())) return;
      await onRenewed();
      log.info("Renewed certificates");
    } catch (error) {
      log.error("Renewing certificates failed", { error });
    }
  };
  const loop = async () => {
    for (;;) {
      await clock.sleep(isShared ? FILES_INTERVAL_MS : OWN_INTERVAL_MS, stopping.signal);
      await pass();
    }
  };
  const stopped = loop().catch((error: unknown) => {
    if (!stopping.signal.aborted) throw error;
  });
  return {
    async stop() {
      stopping.abort();
      await stopped;
    },
  };
}
