/**
 * Keeps the cluster's own containerd running: one that has ended, whoever ended it, is started again at once, and one line says so. Its
 * containers do not notice. One that cannot be started is tried again, later each time, and its reason is told once.
 * Not here: the start (own-containerd.ts), and what the node says meanwhile (kubelet/node-keeper.ts).
 */
import { exponentialDelayMs } from "../../../base/backoff.ts";
import { untilHungUp } from "../../../host/hang-up.ts";
import { containerdFiles, startOwnContainerd, type OwnContainerdOptions } from "./own-containerd.ts";

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
  /** In a row. */
  #failures = 0;
  #toldTrouble: string | undefined;

  /** Of one that runs already. */
  constructor(options: ContainerdKeeperOptions) {
    this.#options = options;
    this.#stopCurrent = options.stop;
    this.#keeping = this.#keep();
  }

  /** Ends the keeping and containerd; containers and their shims run on. */
  async stop(): Promise<void> {
    this.#over.abort();
    await this.#keeping;
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
      const { process, wasAdopted, stop } = await startOwnContainerd(this.#options);
      this.#stopCurrent = stop;
      this.#toldTrouble = undefined;
      if (!wasAdopted) tell(`containerd had ended and was started again (process ${process.pid}); its containers ran on meanwhile`);
    } catch (error) {
      const [sentence = ""] = (error instanceof Error ? error.message : String(error)).split("\n");
      if (sentence !== this.#toldTrouble) tell(`containerd has ended, and for now nothing can be started: ${sentence}; it is tried again`);
      this.#toldTrouble = sentence;
    }
  }
}
