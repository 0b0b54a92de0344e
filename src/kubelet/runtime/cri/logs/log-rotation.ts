/**
 * Keeps logs of running containers from filling the disk: one that has reached its size is put aside under the name of the moment, the
 * runtime begins a new one, and older ones are packed, then removed. Sizes, names and numbers are upstream's. A look costs a `stat` for
 * each running container.
 */
import { NOT_NEEDED } from "../../../../base/abort.ts";
import type { Clock } from "../../../../base/clock.ts";
import type { Logger } from "../../../../base/logger.ts";
import { fileState, filesLike, gzipFile, renameFile } from "../../../../host/files/log-files.ts";
import { removeFile } from "../../../../host/files/files.ts";
import { CONTAINER_RUNNING, reopenContainerLog } from "../messages/container.ts";
import type { CriClient } from "../cri-client.ts";
import type { PodViews } from "../pod-views.ts";
import { PACKED, UNFINISHED } from "./rotated-files.ts";

export interface LogRotationPolicy {
  /** containerLogMaxSize. Less than 0: logs grow without end. */
  readonly maxBytes: number;
  /** containerLogMaxFiles: with the one that is being written. At least 2. */
  readonly maxFiles: number;
  /** containerLogMonitorInterval. */
  readonly everyMs: number;
}

export const LOG_ROTATION_DEFAULT: LogRotationPolicy = { maxBytes: 10 * 1024 * 1024, maxFiles: 5, everyMs: 10_000 };

export interface LogRotationOptions {
  readonly client: CriClient;
  readonly views: PodViews;
  readonly policy: LogRotationPolicy;
  readonly clock: Clock;
  readonly log: Logger;
}

export class LogRotation implements AsyncDisposable {
  readonly #options: LogRotationOptions;
  readonly #over = new AbortController();
  /** Where the log of each running container is; it never changes. */
  readonly #paths = new Map<string, string>();
  readonly #running: Promise<void>;

  constructor(options: LogRotationOptions) {
    this.#options = options;
    this.#running = options.policy.maxBytes < 0 ? Promise.resolve() : this.#run();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort(NOT_NEEDED);
    await this.#running;
  }

  /** Never rejects. */
  async #run(): Promise<void> {
    const { clock, policy, log } = this.#options;
    for (;;) {
      try {
        await clock.sleep(policy.everyMs, this.#over.signal);
        await this.#look();
      } catch (error) {
        if (this.#over.signal.aborted) return;
        log.debug("Cannot look after container logs", { error });
      }
    }
  }

  async #look(): Promise<void> {
    const { containers } = await this.#options.views.listing();
    const running = containers.filter(({ state }) => state === CONTAINER_RUNNING).map(({ id }) => id);
    for (const id of this.#paths.keys()) if (!running.includes(id)) this.#paths.delete(id);
    for (const id of running) {
      if (this.#over.signal.aborted) return;
      await this.#lookAt(id).catch((error: unknown) => this.#options.log.warn("Cannot rotate a container log", { container: id, error }));
    }
  }

  async #lookAt(id: string): Promise<void> {
    const path = this.#paths.get(id) ?? (await this.#options.views.containerStatus(id))?.logPath ?? "";
    if (path === "") return;
    this.#paths.set(id, path);
    const state = await fileState(path);
    if (state === undefined) await this.#options.client.call(reopenContainerLog, { id });
    else if (state.sizeBytes >= this.#options.policy.maxBytes) await this.#rotate(id, path);
  }

  async #rotate(id: string, path: string): Promise<void> {
    const { client, clock, policy } = this.#options;
    const files = await filesLike(`${path}.`);
    const aside = `${path}.${rotationTime(clock.now())}`;
    // One was put aside within this second already.
    if (files.some((file) => file.startsWith(aside))) return;
    const { remove, pack } = planRotation(files, policy.maxFiles);
    for (const old of remove) await removeFile(old);
    for (const old of pack) await packFile(old);
    await renameFile(path, aside);
    try {
      await client.call(reopenContainerLog, { id });
    } catch (error) {
      // Else the next look would begin a new file, and this one would be one rotation short of its lines.
      await renameFile(aside, path);
      throw error;
    }
  }
}

async function packFile(path: string): Promise<void> {
  const unfinished = `${path}${UNFINISHED}`;
  try {
    // Of an attempt that was interrupted.
    await removeFile(unfinished);
    await gzipFile(path, unfinished);
    await renameFile(unfinished, `${path}${PACKED}`);
  } catch (error) {
    await removeFile(unfinished);
    throw error;
  }
  await removeFile(path);
}

/** What becomes of those that were put aside before, when another one is. `files` are sorted, which is by age. */
export function planRotation(
  files: readonly string[],
  maxFiles: number,
): { readonly remove: readonly string[]; readonly pack: readonly string[] } {
  const isLeftOver = (file: string): boolean => file.endsWith(UNFINISHED) || files.includes(`${file}${PACKED}`);
  const inUse = files.filter((file) => !isLeftOver(file)).sort();
  // Beside the new one and the one that is put aside now.
  const kept = Math.max(0, maxFiles - 2);
  const excess = inUse.slice(0, Math.max(0, inUse.length - kept));
  return {
    remove: [...files.filter(isLeftOver), ...excess],
    pack: inUse.slice(excess.length).filter((file) => !file.endsWith(PACKED)),
  };
}

/** "20260131-235959". Upstream takes the machine's own time zone; this is the same everywhere. */
export function rotationTime(timeMs: number): string {
  const [day = "", time = ""] = new Date(timeMs).toISOString().split(/[T.]/);
  return `${day.replaceAll("-", "")}-${time.replaceAll(":", "")}`;
}
