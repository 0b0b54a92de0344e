/** A plan in the making: the actions so far, and for each container that is to run whether it may be started now or has to wait. */
import type { Container, EphemeralContainer } from "../api/generated/core/v1.ts";
import { BACK_OFF_MIN_MS, backOffUntilMs, formatSeconds } from "./back-off.ts";
import type { PullFailure, StartFailure } from "./pod-memory.ts";
import type { ContainerRole, PodAction, PodPlan, PodView, Waiting } from "./pod-plan.ts";
import { stopGraceMs } from "./plan-end.ts";
import type { RuntimeContainer } from "./runtime.ts";
import { newestContainer } from "./runtime-containers.ts";

/** The newest that has ended, and one before it, are enough to tell what happened; upstream keeps as many. */
const KEPT_ATTEMPTS = 2;

export class Planning {
  readonly #view: PodView;
  readonly #actions: PodAction[] = [];
  readonly #waiting = new Map<string, Waiting>();
  #lookAgainAtMs: number | undefined;
  #isOver = false;

  constructor(view: PodView) {
    this.#view = view;
  }

  add(action: PodAction): void {
    this.#actions.push(action);
  }

  /** The earliest counts. */
  lookAgain(atMs: number): void {
    if (this.#lookAgainAtMs === undefined || atMs < this.#lookAgainAtMs) this.#lookAgainAtMs = atMs;
  }

  /** Nothing of the Pod runs any more, and nothing will. */
  over(): void {
    this.#isOver = true;
  }

  /** Starts it, unless what happened to it before has it wait. */
  start(container: Container | EphemeralContainer, role: ContainerRole): void {
    const { sandbox, memory } = this.#view;
    if (memory.starting.has(container.name)) return;
    const known = newestContainer(sandbox, container.name);
    const endedAtMs = known?.state.is === "exited" ? known.state.finishedAtMs : undefined;
    if (this.#mustWait(container, endedAtMs)) return;
    this.#prune(container.name);
    const attempt = this.#attemptAfter(known, container.name);
    const isMade = known?.state.is === "created" && known.image === container.image;
    this.add({
      do: "start-container",
      container,
      role,
      attempt,
      ...(isMade ? { madeId: known.id } : {}),
      ...(endedAtMs === undefined ? {} : { endedAtMs }),
    });
  }

  /** Its definition changed: the one that runs makes room for another. */
  restart(container: Container, known: RuntimeContainer): void {
    const message = `Container ${container.name} definition changed, will be restarted`;
    this.add({ do: "stop-containers", groups: [[known]], graceMs: stopGraceMs(this.#view.pod), message });
    this.add({ do: "start-container", container, role: "regular", attempt: known.attempt + 1 });
  }

  plan(verdict: { readonly isPastDeadline: boolean; readonly isEnding: boolean }): PodPlan {
    const again = this.#lookAgainAtMs === undefined ? {} : { lookAgainAtMs: this.#lookAgainAtMs };
    return { actions: this.#actions, waiting: this.#waiting, isOver: this.#isOver, ...verdict, ...again };
  }

  #mustWait(container: Container | EphemeralContainer, endedAtMs: number | undefined): boolean {
    const { memory, nowMs } = this.#view;
    const crash = memory.crashes.get(container.name);
    const crashUntilMs = endedAtMs === undefined ? undefined : backOffUntilMs(crash, endedAtMs);
    if (crash !== undefined && crashUntilMs !== undefined && crashUntilMs > nowMs) {
      const message = `back-off ${formatSeconds(crash.delayMs)} restarting failed container=${container.name} pod=${this.#podText()}`;
      return this.#wait(container.name, { reason: "CrashLoopBackOff", message }, crashUntilMs);
    }
    const failure = memory.failures.get(container.name);
    if (failure !== undefined && failure.retryAtMs > nowMs) return this.#wait(container.name, wordsOf(failure), failure.retryAtMs);
    const pull = memory.pulls.get(container.image ?? "");
    return pull !== undefined && this.#waitsForPull(container, pull);
  }

  /** At first it says what went wrong; once somebody has looked again, that it is waiting. */
  #waitsForPull({ name, image = "" }: Container | EphemeralContainer, { backOff, error, message }: PullFailure): boolean {
    const { nowMs } = this.#view;
    const retryAtMs = backOff.updatedAtMs + backOff.delayMs;
    if (retryAtMs <= nowMs) return false;
    const secondLookAtMs = backOff.updatedAtMs + BACK_OFF_MIN_MS;
    if (nowMs < secondLookAtMs) {
      const reason = error.slice(0, error.indexOf(":"));
      return this.#wait(name, { reason, message }, Math.min(secondLookAtMs, retryAtMs));
    }
    return this.#wait(name, { reason: "ImagePullBackOff", message: `Back-off pulling image "${image}": ${error}` }, retryAtMs);
  }

  #wait(name: string, waiting: Waiting, untilMs: number): true {
    this.#waiting.set(name, waiting);
    this.lookAgain(untilMs);
    return true;
  }

  #prune(name: string): void {
    const ended = this.#view.sandbox?.containers.filter((known) => known.name === name && known.state.is === "exited") ?? [];
    // The one that is started now takes the place of the newest.
    for (const { id } of ended.slice(KEPT_ATTEMPTS - 1)) this.add({ do: "remove-container", id });
  }

  /** A container that was made and never ran is started as it is. A runtime that forgot has the API to remember how often it was tried. */
  #attemptAfter(known: RuntimeContainer | undefined, name: string): number {
    if (known !== undefined) return known.state.is === "created" ? known.attempt : known.attempt + 1;
    const { initContainerStatuses = [], containerStatuses = [] } = this.#view.pod.status ?? {};
    const told = [...initContainerStatuses, ...containerStatuses].find((status) => status.name === name);
    return told?.containerID === undefined ? 0 : told.restartCount + 1;
  }

  #podText(): string {
    const { namespace = "", name, uid = "" } = this.#view.pod.metadata;
    return `${name}_${namespace}(${uid})`;
  }
}

function wordsOf({ reason, message }: StartFailure): Waiting {
  return { reason, message };
}
