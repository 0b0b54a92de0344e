/**
 * Keeps certificates good while the server runs: looks from time to time whether one is about to end, or whether another server or a
 * person has put new ones into the directory, and hands them on. What fails is tried again, and is no reason to stop serving.
 */
import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/logger.ts";

/** How long new files may go unnoticed. */
const FILES_INTERVAL_MS = 10 * 60 * 1000;
/** Certificates are made anew 30 days before their end, so this is soon enough for those. */
const OWN_INTERVAL_MS = 24 * 60 * 60 * 1000;

export interface RenewalOptions {
  /** Whether there is something new. */
  readonly renew: () => Promise<boolean>;
  /** Whether others may bring something new. */
  readonly isShared: boolean;
  /** Called after there was. */
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
