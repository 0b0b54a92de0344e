/**
 * Keeps the cluster's own containerd running: one that has ended, whoever ended it, is started again at once, and one line says so. Its
 * containers do not notice. One that cannot be started is tried again, later each time, and its reason is told once.
 * After each start, and when it takes one over, what a killed one had begun and nobody knows of any more is removed, beside the keeping.
 * Not here: the start (own-containerd.ts), what that is (orphaned-tasks.ts, orphaned-network.ts), and what the node says meanwhile (kubelet/node/node-status.ts).
 */
import { exponentialDelayMs } from "../../../base/backoff.ts";
import { untilHungUp } from "../../../host/network/socket-hang-up.ts";
import type { ProcessMark } from "../../../host/processes/process-identity.ts";
import { namesIn } from "../../../host/files/shared-directory.ts";
import { removeOrphanedNetwork } from "./orphaned-network.ts";
import { removeOrphanedTasks } from "./orphaned-tasks.ts";
import { containerdFiles, findOwnContainerd, startOwnContainerd, type OwnContainerdOptions } from "./own-containerd.ts";
import { tasksDirectory } from "./shims.ts";

/** Between starts that come to nothing. The first comes at once: Pods wait for it. */
const AGAIN = { minMs: 250, maxMs: 8_000 };
/** One that has run for so long had a good start; an end after that is another story. */
const GOOD_START_MS = 10_000;

export interface ContainerdKeeperOptions extends OwnContainerdOptions {
  /** Ends the one that runs now, and leaves its containers. */
  readonly stop: () => Promise<void>;
  /** One line for a person. */
  tell(line: string): void;
}

export class ContainerdKeeper {
  readonly #options: ContainerdKeeperOptions;
  readonly #over = new AbortController();
  readonly #keeping: Promise<void>;
  #stopCurrent: () => Promise<void>;
  /** Never rejects; one after another. */
  #clearing: Promise<void>;
  /** In a row. */
  #failures = 0;
  #toldTrouble: string | undefined;

  /** Of one that runs already. */
  constructor(options: ContainerdKeeperOptions) {
    this.#options = options;
    this.#stopCurrent = options.stop;
    this.#clearing = this.#clearCurrent();
    this.#keeping = this.#keep();
  }

  /** Ends the keeping and containerd; containers and their shims run on. What it has begun to clear away is cleared first. */
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
    const { tell } = this.#options;
    try {
      const earlierTasks = await namesIn(tasksDirectory(containerdFiles(this.#options)));
      const { process, wasAdopted, stop } = await startOwnContainerd(this.#options);
      this.#stopCurrent = stop;
      this.#toldTrouble = undefined;
      this.#clearing = this.#clearing.then(() => this.#clear(process, wasAdopted ? [] : earlierTasks));
      if (!wasAdopted) tell(`containerd had ended and was started again (process ${process.pid}); its containers ran on meanwhile`);
    } catch (error) {
      const [sentence = ""] = (error instanceof Error ? error.message : String(error)).split("\n");
      if (sentence !== this.#toldTrouble) tell(`containerd has ended, and for now nothing can be started: ${sentence}; it is tried again`);
      this.#toldTrouble = sentence;
    }
  }

  /** Of the one that runs already, it is not known what was there before it. */
  async #clearCurrent(): Promise<void> {
    const { log } = this.#options;
    const running = await findOwnContainerd(this.#options).catch((error: unknown) => log.warn("Cannot look for containerd", { error }));
    if (running) await this.#clear(running, []);
  }

  async #clear(containerd: ProcessMark, earlierTasks: readonly string[]): Promise<void> {
    await removeOrphanedTasks({ ...this.#options, containerd, earlierTasks });
    await removeOrphanedNetwork(this.#options);
  }
}
