/** Log of all watch events of a cluster, one line per event with the whole object: two runs are identical if their logs are. */
import { all } from "../api/all.ts";
import type { Client } from "../client/client.ts";

/** Longer than any scenario: a watch that the server closes would leave a gap. */
const WATCH_SECONDS = 7 * 24 * 3_600;

export class EventLog {
  readonly lines: string[] = [];

  /** Watches all kinds from now on. */
  static async follow(client: Client): Promise<EventLog> {
    const log = new EventLog();
    const kinds = all.filter(({ stored, verbs }) => stored && verbs.includes("watch"));
    const ended = (): void => void log.lines.push("A watch ended");
    for (const kind of kinds) {
      await client.watch(
        kind,
        { timeoutSeconds: WATCH_SECONDS },
        { event: (event) => void log.lines.push(`${kind.plural} ${JSON.stringify(event)}`), ended },
      );
    }
    return log;
  }

  /** Returns where two logs diverge, with the lines before; undefined if they are identical. */
  differenceFrom(other: EventLog): string | undefined {
    const length = Math.max(this.lines.length, other.lines.length);
    for (let index = 0; index < length; index++) {
      if (this.lines[index] === other.lines[index]) continue;
      return [
        `event ${index} of ${this.lines.length} and ${other.lines.length}:`,
        this.lines[index] ?? "nothing",
        other.lines[index] ?? "nothing",
      ].join("\n");
    }
    return undefined;
  }
}
