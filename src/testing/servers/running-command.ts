/** A `k8ts` command that runs in the test's own process until it is stopped: its output and its end. */
import { silentLogger } from "../../base/logger.ts";
import { realClock } from "../../host/real-clock.ts";
import type { Command } from "../../cli/framework/command.ts";

export class RunningCommand {
  readonly lines: string[] = [];
  readonly #stop = new AbortController();
  readonly ended: Promise<void>;
  #onLine = (): void => {};

  constructor(command: Command, ...argv: readonly string[]) {
    const parsed = command.parse(argv, {});
    if (!parsed.ok) throw new Error(`Cannot run the command with ${argv.join(" ")}: ${parsed.problems.join("; ")}`);
    const out = (line: string): void => {
      this.lines.push(line);
      this.#onLine();
    };
    const io = { out, note: out, environment: {}, clock: realClock, log: silentLogger, signal: this.#stop.signal };
    this.ended = command.run(parsed.options, io);
    this.ended.catch(() => undefined);
  }

  /** Resolves with the rest of the first line with this prefix, printed before or after the call. */
  async says(beginning: string): Promise<string> {
    for (;;) {
      const found = this.lines.find((line) => line.startsWith(beginning));
      if (found !== undefined) return found.slice(beginning.length);
      const printed = new Promise<void>((resolve) => (this.#onLine = resolve));
      await Promise.race([printed, this.ended.then(() => Promise.reject(new Error(`The command ended before it printed "${beginning}"`)))]);
    }
  }

  stop(): Promise<void> {
    this.#stop.abort();
    return this.ended;
  }
}
