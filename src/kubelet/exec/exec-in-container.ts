/**
 * Runs a command of a probe or a hook in a container: without input, for a limited time, keeping the beginning of what it says. Runtimes
 * that can end a command themselves do so; of others its streams are cut.
 */
import { NOT_NEEDED } from "../../base/abort.ts";
import type { Clock } from "../../base/clock.ts";
import type { Runtime } from "../contracts/runtime.ts";

/** As much as people are told. Upstream's number. */
const OUTPUT_BYTES_MAX = 10 * 1024;

export type ExecRuntime = Pick<Runtime, "exec" | "execSync">;

export interface ExecInOptions {
  readonly runtime: ExecRuntime;
  readonly clock: Clock;
  /** 0: it has all the time. */
  readonly timeoutMs: number;
}

export interface ExecOutcome {
  /** Undefined: its time was up. */
  readonly exitCode: number | undefined;
  readonly output: string;
}

/** Rejects if it cannot be run, or if the signal comes. */
export async function execIn(
  containerId: string,
  command: readonly string[],
  options: ExecInOptions,
  signal: AbortSignal,
): Promise<ExecOutcome> {
  const { runtime, timeoutMs } = options;
  if (runtime.execSync === undefined) return execOverStreams(containerId, command, options, signal);
  const { exitCode, output } = await runtime.execSync(containerId, command, timeoutMs);
  return { exitCode, output: new TextDecoder().decode(output.subarray(0, OUTPUT_BYTES_MAX)) };
}

async function execOverStreams(
  containerId: string,
  command: readonly string[],
  { runtime, clock, timeoutMs }: ExecInOptions,
  signal: AbortSignal,
): Promise<ExecOutcome> {
  const [cut, over] = [new AbortController(), new AbortController()];
  const kept = new KeptOutput();
  const keep = (chunk: Uint8Array): void => kept.add(chunk);
  const run = runtime.exec(containerId, command, { output: keep, error: keep }, AbortSignal.any([cut.signal, signal]));
  // Of one that was given up nobody wants to know how it ended.
  run.catch(() => undefined);
  try {
    const isLate =
      timeoutMs === 0
        ? []
        : [
            clock.sleep(timeoutMs, over.signal).then(
              () => undefined,
              () => undefined,
            ),
          ];
    return { exitCode: await Promise.race([run, ...isLate]), output: kept.text };
  } finally {
    over.abort(NOT_NEEDED);
    cut.abort(NOT_NEEDED);
  }
}

class KeptOutput {
  readonly #decoder = new TextDecoder();
  #leftBytes = OUTPUT_BYTES_MAX;
  text = "";

  add(chunk: Uint8Array): void {
    this.text += this.#decoder.decode(chunk.subarray(0, this.#leftBytes), { stream: true });
    this.#leftBytes -= Math.min(this.#leftBytes, chunk.length);
  }
}
