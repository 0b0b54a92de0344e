/**
 * Keeps logs of running containers from filling the disk: a log that has reached its maximum size is renamed with a timestamp, the runtime
 * opens a new file, and older ones are compressed, then removed. Sizes, names and counts are upstream's. Each check costs a `stat` per
 * running container.
 */
import { NOT_NEEDED } from "../../../../base/abort.ts";
import type { Clock } from "../../../../base/clock.ts";
import type { Logger } from "../../../../base/logger.ts";
import { fileState, filesLike, gzipFile, renameFile } from "../../../../host/files/log-files.ts";
import { removeFile } from "../../../../host/files/files.ts";
import { CONTAINER_RUNNING, reopenContainerLog } from "../messages/container.ts";
import type { CriClient } from "../cri-client.ts";
import type { PodViews } from "../pod-views.ts";
import { COMPRESSED, UNFINISHED } from "./rotated-files.ts";

export interface LogRotationPolicy {
  /** containerLogMaxSize. Negative: logs grow without limit. */
  readonly maxBytes: number;
  /** containerLogMaxFiles, including the current one. At least 2. */
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
  /** Log path of each running container; it never changes. */
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
        log.debug("Cannot monitor container logs", { error });
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
    // The log was already rotated within this second.
    if (files.some((file) => file.startsWith(aside))) return;
    const { remove, compress } = planRotation(files, policy.maxFiles);
    for (const old of remove) await removeFile(old);
    for (const old of compress) await compressFile(old);
    await renameFile(path, aside);
    try {
      await client.call(reopenContainerLog, { id });
    } catch (error) {
      // Otherwise the next check would create a new file, and this one would be rotated without its lines.
      await renameFile(aside, path);
      throw error;
    }
  }
}

async function compressFile(path: string): Promise<void> {
  const unfinished = `${path}${UNFINISHED}`;
  try {
    // Of an interrupted attempt.
    await removeFile(unfinished);
    await gzipFile(path, unfinished);
    await renameFile(unfinished, `${path}${COMPRESSED}`);
  } catch (error) {
    await removeFile(unfinished);
    throw error;
  }
  await removeFile(path);
}

/** Decides which rotated files are compressed and removed at the next rotation. `files` are sorted, which is by age. */
export function planRotation(
  files: readonly string[],
  maxFiles: number,
): { readonly remove: readonly string[]; readonly compress: readonly string[] } {
  const isLeftOver = (file: string): boolean => file.endsWith(UNFINISHED) || files.includes(`${file}${COMPRESSED}`);
  const inUse = files.filter((file) => !isLeftOver(file)).sort();
  // Beside the new one and the one rotated now.
  const kept = Math.max(0, maxFiles - 2);
  const excess = inUse.slice(0, Math.max(0, inUse.length - kept));
  return {
    remove: [...files.filter(isLeftOver), ...excess],
    compress: inUse.slice(excess.length).filter((file) => !file.endsWith(COMPRESSED)),
  };
}

/** "20260131-235959", in UTC. Upstream uses the machine's time zone. */
export function rotationTime(timeMs: number): string {
  const [day = "", time = ""] = new Date(timeMs).toISOString().split(/[T.]/);
  return `${day.replaceAll("-", "")}-${time.replaceAll(":", "")}`;
}
