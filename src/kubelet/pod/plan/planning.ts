/** Builder of a plan: the actions so far, and for each container that should run whether it starts now or has to wait. */
import type { Container, EphemeralContainer, Pod } from "../../../api/generated/core/v1.ts";
import { allContainers } from "../../../api/core/v1/pod/containers.ts";
import { pullBackOff, volumeImageBackOff } from "../../images/pull-back-off.ts";
import { usedVolumes } from "../used-volumes.ts";
import { backOffUntilMs, formatSeconds, restartBackOff } from "../containers/back-off.ts";
import type { RestartAllBackOff, StartFailure } from "../pod-state.ts";
import type { ContainerRole, PodAction, PodPlan, PodView, Waiting } from "./plan-contract.ts";
import { GRACE_MIN_MS, stopGraceMs } from "../../shared/grace-period.ts";
import { probeOf } from "../../probes/probe-state.ts";
import type { RuntimeContainer } from "../../contracts/runtime.ts";
import { isOfImage, isOfPresent, newestContainer } from "../containers/runtime-containers.ts";

/** Exited containers kept per name: the newest and one before it, as upstream. */
const KEPT_ATTEMPTS = 2;
const SECOND_MS = 1000;

export class Planning {
  readonly #view: PodView;
  readonly #actions: PodAction[] = [];
  readonly #waiting = new Map<string, Waiting>();
  #syncAtMs: number | undefined;
  #isTerminated = false;
  #mustReport = false;

  constructor(view: PodView) {
    this.#view = view;
  }

  add(action: PodAction): void {
    this.#actions.push(action);
  }

  /** The earliest time wins. */
  syncAt(atMs: number): void {
    if (this.#syncAtMs === undefined || atMs < this.#syncAtMs) this.#syncAtMs = atMs;
  }

  /** Nothing of the Pod runs or will run. */
  terminated(): void {
    this.#isTerminated = true;
  }

  /** The status has to be written before the next plan is made. */
  reportFirst(): void {
    this.#mustReport = true;
  }

  /** All containers wait until a restart of all of them may begin. */
  waitAll(containers: readonly Container[], { source, delayMs, retryAtMs }: RestartAllBackOff): void {
    const message = `back-off ${formatSeconds(delayMs)} restarting failed container=${source} pod=${this.#podText()}`;
    for (const { name } of containers) this.#wait(name, { reason: "CrashLoopBackOff", message }, retryAtMs);
  }

  /** Starts the container, unless a back-off applies. */
  start(container: Container | EphemeralContainer, role: ContainerRole): void {
    const { sandbox, memory, wasStarting } = this.#view;
    if (memory.starting.has(container.name) || wasStarting?.has(container.name) === true) return;
    const known = newestContainer(sandbox, container.name);
    const endedAtMs = known?.state.is === "exited" ? known.state.finishedAtMs : undefined;
    if (this.#mustWait(container, endedAtMs)) return;
    // The container that is started now becomes the newest.
    this.#prune(container.name, { kept: KEPT_ATTEMPTS - 1 });
    const attempt = this.#attemptAfter(known, container.name);
    const isMade =
      known?.state.is === "created" && sandbox?.state === "ready" && isOfPresent(known, sandbox) && isOfImage(known, container);
    // It can never start, and the runtime does not accept two containers of one attempt.
    if (known?.state.is === "created" && !isMade) this.add({ do: "remove-container", id: known.id });
    const isCrash = endedAtMs !== undefined && known !== undefined && !memory.endedBefore.has(known.id);
    this.add({
      do: "start-container",
      container,
      role,
      attempt,
      ...(isMade ? { madeId: known.id } : {}),
      ...(isCrash ? { endedAtMs } : {}),
    });
  }

  /** Replaces the running container. If it restarted before, its new back-off begins here, as upstream. */
  restart(
    container: Container,
    known: RuntimeContainer,
    { role, message = `Container ${container.name} definition changed, will be restarted` }: Restarting,
  ): void {
    this.add({ do: "stop-containers", groups: [[known]], graceMs: stopGraceMs(this.#view.pod), message });
    this.add({ do: "start-container", container, role, attempt: known.attempt + 1, ...this.#endOfEarlier(container.name) });
  }

  /**
   * Stops a container that failed a probe, and restarts it if the policy allows. As upstream, the back-off counts from the exit of the
   * attempt before.
   */
  restartUnhealthy(container: Container, known: RuntimeContainer, { role, failed }: Failing): void {
    const { pod } = this.#view;
    const { name } = container;
    const isRestarted = role === "init" || (container.restartPolicy ?? pod.spec?.restartPolicy) !== "Never";
    const graceMs = graceAfterProbeMs(pod, container, failed);
    const message = role === "init" ? `Init container ${name} failed ${failed} probe` : `Container ${name} failed ${failed} probe`;
    const promise = role === "regular" && isRestarted ? ", will be restarted" : "";
    this.add({ do: "stop-containers", groups: [[known]], graceMs, message: `${message}${promise}` });
    const ended = this.#endOfEarlier(name);
    const { endedAtMs } = ended;
    if (!isRestarted || this.#mustWait(container, endedAtMs)) return;
    // The container that is stopped now is the one kept for inspection.
    this.#prune(name, { kept: 0 });
    this.add({ do: "start-container", container, role, attempt: known.attempt + 1, ...ended });
  }

  /** Whether images of volumes are still missing: containers that mount them wait as for their own image. */
  waitForVolumeImages(): boolean {
    const { pod, memory, nowMs } = this.#view;
    let isWaiting = false;
    for (const { name, image } of usedVolumes(pod)) {
      const reference = image?.reference ?? "";
      const failure = memory.volumeImages.get(reference);
      const wait = failure === undefined ? undefined : volumeImageBackOff(reference, failure, nowMs);
      if (wait === undefined) continue;
      isWaiting = true;
      for (const { container } of allContainers(pod.spec ?? { containers: [] }, "spec"))
        if (container.volumeMounts?.some((mount) => mount.name === name) === true) this.#wait(container.name, wait.waiting, wait.untilMs);
    }
    return isWaiting;
  }

  plan(verdict: { readonly isPastDeadline: boolean; readonly isTerminating: boolean }): PodPlan {
    const again = this.#syncAtMs === undefined ? {} : { syncAtMs: this.#syncAtMs };
    return {
      actions: this.#actions,
      waiting: this.#waiting,
      isTerminated: this.#isTerminated,
      mustReport: this.#mustReport,
      ...verdict,
      ...again,
    };
  }

  #mustWait(container: Container | EphemeralContainer, endedAtMs: number | undefined): boolean {
    const { memory, nowMs } = this.#view;
    const crash = restartBackOff(memory.crashes, container);
    const crashUntilMs = endedAtMs === undefined ? undefined : backOffUntilMs(crash, endedAtMs);
    if (crash !== undefined && crashUntilMs !== undefined && crashUntilMs > nowMs) {
      const message = `back-off ${formatSeconds(crash.delayMs)} restarting failed container=${container.name} pod=${this.#podText()}`;
      return this.#wait(container.name, { reason: "CrashLoopBackOff", message }, crashUntilMs);
    }
    const failure = memory.failures.get(container.name);
    if (failure !== undefined && failure.retryAtMs > nowMs) return this.#wait(container.name, wordsOf(failure), failure.retryAtMs);
    const { name, image = "" } = container;
    const pull = memory.pulls.get(image);
    const wait = pull === undefined ? undefined : pullBackOff(image, pull, nowMs);
    return wait !== undefined && this.#wait(name, wait.waiting, wait.untilMs);
  }

  /** When the newest exited attempt of the container ended. */
  #endOfEarlier(name: string): { readonly endedAtMs?: number } {
    const earlier = this.#view.sandbox?.containers.find((other) => other.name === name && other.state.is === "exited");
    return earlier?.state.is === "exited" ? { endedAtMs: earlier.state.finishedAtMs } : {};
  }

  #wait(name: string, waiting: Waiting, untilMs: number): true {
    this.#waiting.set(name, waiting);
    this.syncAt(untilMs);
    return true;
  }

  #prune(name: string, { kept }: { readonly kept: number }): void {
    const ended = this.#view.sandbox?.containers.filter((known) => known.name === name && known.state.is === "exited") ?? [];
    for (const { id } of ended.slice(kept)) this.add({ do: "remove-container", id });
  }

  /** A container that was created and never ran is started as it is. If the runtime lost it, the attempt comes from the reported status. */
  #attemptAfter(known: RuntimeContainer | undefined, name: string): number {
    if (known !== undefined) return known.state.is === "created" ? known.attempt : known.attempt + 1;
    const { initContainerStatuses = [], containerStatuses = [] } = this.#view.pod.status ?? {};
    const reported = [...initContainerStatuses, ...containerStatuses].find((status) => status.name === name);
    if (reported === undefined) return 0;
    // A status without an id was reported while a restart was pending.
    return reported.containerID === undefined ? reported.restartCount : reported.restartCount + 1;
  }

  #podText(): string {
    const { namespace = "", name, uid = "" } = this.#view.pod.metadata;
    return `${name}_${namespace}(${uid})`;
  }
}

interface Restarting {
  readonly role: "init" | "regular";
  readonly message?: string;
}

interface Failing {
  readonly role: "init" | "regular";
  readonly failed: "startup" | "liveness";
}

/** A grace period of the probe takes precedence over the Pod's. */
function graceAfterProbeMs(pod: Pod, container: Container, failed: "startup" | "liveness"): number {
  const seconds = probeOf(container, failed)?.terminationGracePeriodSeconds;
  return seconds === undefined ? stopGraceMs(pod) : Math.max(GRACE_MIN_MS, seconds * SECOND_MS);
}

function wordsOf({ reason, message }: StartFailure): Waiting {
  return { reason, message };
}
