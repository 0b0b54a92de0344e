/**
 * Keeps one network component running: a start that fails is retried with back-off until it succeeds, because its cause may vanish (a
 * program is installed, a port becomes free, the API server answers). Its description is the current one at any time.
 *
 * A Pod is admitted by the running component. While it does not run, a Pod that needs it does not start: protection that is missing must
 * not be found out by the first packet.
 */
import type { Pod } from "../../api/generated/core/v1.ts";
import { Backoff } from "../../base/backoff.ts";
import type { NetworkComponent, NetworkContext, RunningNetworkComponent } from "./network-component.ts";

/** Longer than a start on a busy machine. A component waits for its informers, and the API server may be away when a node starts. */
const START_TIMEOUT_MS = 60_000;

/** A start costs a few processes: a cause that vanishes is noticed soon, and one that stays costs next to nothing. */
const RETRY = { minMs: 1_000, maxMs: 60_000 };

export class KeptComponent implements AsyncDisposable {
  readonly name: string;
  /** Settles when the first start ended, or takes long. */
  readonly attempted: Promise<void>;
  readonly #component: NetworkComponent;
  readonly #context: NetworkContext;
  readonly #onChange: () => void;
  readonly #stopping = new AbortController();
  /** Settles when no further start follows. */
  readonly #keeping: Promise<void>;
  #isStarting = false;
  #running: RunningNetworkComponent | undefined;
  /** Shown while it does not run. */
  #state = "starting";

  constructor(component: NetworkComponent, context: Omit<NetworkContext, "signal">, onChange: () => void) {
    this.name = component.name;
    this.#component = component;
    this.#context = { ...context, signal: this.#stopping.signal };
    this.#onChange = onChange;
    const first = this.#start();
    this.#keeping = first.then((isRunning) => (isRunning ? undefined : this.#retry()));
    this.attempted = this.#reportLate(first);
  }

  get description(): string {
    return this.#running?.description ?? this.#state;
  }

  /** Rejects with the reason if the Pod must not start now. */
  async admitPod(pod: Pod, addresses: readonly string[]): Promise<void> {
    if (this.#running !== undefined) return this.#running.admitPod?.(pod, addresses);
    const need = await this.#component.needOf?.(pod, this.#context);
    if (need !== undefined) throw new Error(`${need}, but ${this.name} is ${this.#state}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort();
    // A start that does not end cannot block the stop: what it returns later is disposed of then.
    if (!this.#isStarting) await this.#keeping;
    const running = this.#running;
    this.#running = undefined;
    await running?.[Symbol.asyncDispose]();
  }

  /** Whether it runs now, or needs to no longer. Never rejects. */
  async #start(): Promise<boolean> {
    this.#isStarting = true;
    try {
      const running = await this.#component.start(this.#context);
      if (this.#stopping.signal.aborted) {
        await running[Symbol.asyncDispose]();
        return true;
      }
      this.#running = running;
      running.onDescriptionChange?.(this.#onChange);
      this.#onChange();
      return true;
    } catch (error) {
      if (!this.#stopping.signal.aborted) this.#failed(error);
      return this.#stopping.signal.aborted;
    } finally {
      this.#isStarting = false;
    }
  }

  async #retry(): Promise<void> {
    const { clock, log, random } = this.#context;
    const backoff = new Backoff({ ...RETRY, random });
    do {
      await clock.sleep(backoff.next(), this.#stopping.signal).catch(() => {}); // Stopping.
      if (this.#stopping.signal.aborted) return;
    } while (!(await this.#start()));
    if (this.#running !== undefined) log.info("A network component runs after failed starts", { attempts: backoff.attempts + 1 });
  }

  #failed(error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error);
    this.#context.log.error("Starting a network component failed and is retried", { error });
    this.#setState(`not running: ${reason}`);
  }

  /** Reports each reason once, not every attempt. */
  #setState(state: string): void {
    if (state === this.#state) return;
    this.#state = state;
    this.#context.warn(`${this.name} is ${state}`);
    this.#onChange();
  }

  /** Settles with `first`, or after START_TIMEOUT_MS, which is reported; `first` continues. */
  async #reportLate(first: Promise<boolean>): Promise<void> {
    const done = new AbortController();
    const late = this.#context.clock.sleep(START_TIMEOUT_MS, done.signal).then(
      () => this.#setState(`not running: it did not start within ${START_TIMEOUT_MS / 1_000} s and continues; its log has the reason`),
      () => {}, // It ended in time.
    );
    await Promise.race([first, late]);
    done.abort();
  }
}
