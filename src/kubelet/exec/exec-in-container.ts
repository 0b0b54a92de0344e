/**
 * Runs the command of a probe or hook in a container: without stdin, with a timeout, keeping the beginning of its output. Runtimes that
 * support `execSync` enforce the timeout themselves; otherwise the streams are cut.
 */
import { NOT_NEEDED } from "../../base/abort.ts";
import type { Clock } from "../../base/clock.ts";
import type { Runtime } from "../contracts/runtime.ts";

/** Maximum reported output. Upstream's limit. */
const OUTPUT_BYTES_MAX = 10 * 1024;

export type ExecRuntime = Pick<Runtime, "exec" | "execSync">;

export interface ExecInOptions {
  readonly runtime: ExecRuntime;
  readonly clock: Clock;
  /** 0: no timeout. */
  readonly timeoutMs: number;
}

export interface ExecOutcome {
  /** Undefined: the timeout expired. */
  readonly exitCode: number | undefined;
  readonly output: string;
}

/** Rejects if it cannot run, or if the signal aborts. */
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
  // The result of a cancelled command is ignored.
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
