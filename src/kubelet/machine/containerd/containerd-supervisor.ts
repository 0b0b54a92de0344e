/**
 * Supervises the cluster's own containerd: restarts it as soon as it ends, for whatever reason, and reports that in one line. Its
 * containers are not affected. A failing start is retried with exponential backoff and its reason reported once. After each start, and on
 * adopting a running one, orphans of a killed containerd are removed in the background. Not here: the start (own-containerd.ts), orphan
 * detection (orphaned-tasks.ts, orphaned-network.ts), and the Node's status meanwhile (kubelet/node/node-status.ts).
 */
import { exponentialDelayMs } from "../../../base/backoff.ts";
import { untilHungUp } from "../../../host/network/socket-hang-up.ts";
import type { ProcessMark } from "../../../host/processes/process-identity.ts";
import { namesIn } from "../../../host/files/shared-directory.ts";
import { removeOrphanedNetwork } from "./orphaned-network.ts";
import { removeOrphanedTasks } from "./orphaned-tasks.ts";
import { containerdFiles, findOwnContainerd, startOwnContainerd, type OwnContainerdOptions } from "./own-containerd.ts";
import { tasksDirectory } from "./shims.ts";

/** Backoff between failing starts. The first attempt is immediate: Pods wait for it. */
const AGAIN = { minMs: 250, maxMs: 8_000 };
/** Uptime after which the failure count is reset. */
const GOOD_START_MS = 10_000;

export interface ContainerdSupervisorOptions extends OwnContainerdOptions {
  /** Terminates the current containerd; its containers keep running. */
  readonly stop: () => Promise<void>;
  /** Reports one line to the user. */
  report(line: string): void;
}

export class ContainerdSupervisor {
  readonly #options: ContainerdSupervisorOptions;
  readonly #over = new AbortController();
  readonly #keeping: Promise<void>;
  #stopCurrent: () => Promise<void>;
  /** Serialized; never rejects. */
  #clearing: Promise<void>;
  /** Consecutive. */
  #failures = 0;
  #reportedFailure: string | undefined;

  /** Requires a running containerd. */
  constructor(options: ContainerdSupervisorOptions) {
    this.#options = options;
    this.#stopCurrent = options.stop;
    this.#clearing = this.#clearCurrent();
    this.#keeping = this.#keep();
  }

  /** Stops supervision and containerd; containers and their shims keep running. Waits for a cleanup in progress. */
  async stop(): Promise<void> {
    this.#over.abort();
    await this.#keeping;
    await this.#clearing;
    await this.#stopCurrent();
  }

  /** Never rejects. */
  async #keep(): Promise<void> {
    const { clock } = this.#options;
    const { socket } = containerdFiles(this.#options);
    const { signal } = this.#over;
    while (!signal.aborted) {
      const sinceMs = clock.monotonic();
      await untilHungUp(socket, signal);
      if (clock.monotonic() - sinceMs >= GOOD_START_MS) this.#failures = 0;
      if (this.#failures > 0) await clock.sleep(exponentialDelayMs(AGAIN, this.#failures - 1), signal).catch(() => undefined);
      if (signal.aborted) return;
      this.#failures += 1;
      await this.#startAgain();
    }
  }

  async #startAgain(): Promise<void> {
    const { report } = this.#options;
    try {
      const earlierTasks = await namesIn(tasksDirectory(containerdFiles(this.#options)));
      const { process, wasAdopted, stop } = await startOwnContainerd(this.#options);
      this.#stopCurrent = stop;
      this.#reportedFailure = undefined;
      this.#clearing = this.#clearing.then(() => this.#clear(process, wasAdopted ? [] : earlierTasks));
      if (!wasAdopted) report(`containerd exited and was restarted (process ${process.pid}); its containers kept running`);
    } catch (error) {
      const [sentence = ""] = (error instanceof Error ? error.message : String(error)).split("\n");
      if (sentence !== this.#reportedFailure) report(`containerd exited and cannot be restarted: ${sentence}; retrying`);
      this.#reportedFailure = sentence;
    }
  }

  /** For an adopted containerd the earlier tasks are unknown. */
  async #clearCurrent(): Promise<void> {
    const { log } = this.#options;
    const running = await findOwnContainerd(this.#options).catch((error: unknown) =>
      log.warn("Looking up the running containerd failed", { error }),
    );
    if (running) await this.#clear(running, []);
  }

  async #clear(containerd: ProcessMark, earlierTasks: readonly string[]): Promise<void> {
    await removeOrphanedTasks({ ...this.#options, containerd, earlierTasks });
    await removeOrphanedNetwork(this.#options);
  }
}
