/** How a part that runs by itself waits for an API server that is not there yet: it says for what it waits, once for each reason. */
import type { Io } from "../cli/framework/command.ts";
import { connectionAdvice } from "./connection-advice.ts";

/** A server that is being started is there within seconds; one that is away for long is asked as often as this. */
const RETRY_MIN_MS = 500;
const RETRY_MAX_MS = 10_000;

export interface AwaitedServer {
  readonly server: string;
  /** What says where it is and who this program is to it (connectionSource): to be checked if waiting will not help. */
  readonly source: string;
  /** Rejects as long as it is not there, or does not take this program for who it is. */
  ask(): Promise<unknown>;
  /** Of what `ask` rejected with: waiting would not help, and it is thrown. Default: nothing is. */
  isFinal?(error: unknown): boolean;
}

/** False: it was told to stop before. */
export async function isServerThere({ server, source, ask, isFinal }: AwaitedServer, { clock, signal, out }: Io): Promise<boolean> {
  let said = "";
  for (let waitMs = RETRY_MIN_MS; ; waitMs = Math.min(waitMs * 2, RETRY_MAX_MS)) {
    try {
      await ask();
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
