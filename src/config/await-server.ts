/** Waits for an API server that does not respond yet, and reports each reason once. */
import type { Io } from "../cli/framework/command.ts";
import { connectionAdvice } from "./connection-advice.ts";

/** Maximum retry interval: a starting server responds within seconds. */
const RETRY_MIN_MS = 500;
const RETRY_MAX_MS = 10_000;

export interface AwaitedServer {
  readonly server: string;
  /** Source of address and credentials (connectionSource), for advice if waiting does not help. */
  readonly source: string;
  /** Rejects while the server does not respond or does not authenticate this client. */
  query(): Promise<unknown>;
  /** True for errors that waiting does not resolve; they are thrown. Default: none. */
  isFinal?(error: unknown): boolean;
}

/** False: cancelled before. */
export async function isServerThere({ server, source, query, isFinal }: AwaitedServer, { clock, signal, out }: Io): Promise<boolean> {
  let said = "";
  for (let waitMs = RETRY_MIN_MS; ; waitMs = Math.min(waitMs * 2, RETRY_MAX_MS)) {
    try {
      await query();
      return true;
    } catch (error) {
      if (signal.aborted) return false;
      if (isFinal?.(error) === true) throw error;
      const advice = connectionAdvice(error, source);
      const why = `${(error as Error).message}${advice === undefined ? "" : `; ${advice}`}`;
      if (why !== said) out(`waiting for the API server at ${server}: ${why}`);
      said = why;
    }
    await clock.sleep(waitMs, signal).catch(() => undefined);
    if (signal.aborted) return false;
  }
}
