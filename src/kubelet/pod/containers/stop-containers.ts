/** Stops containers within their grace period, which includes preStop hooks. Rejects only if a container cannot be stopped. */
import type { Pod } from "../../../api/generated/core/v1.ts";
import type { Clock } from "../../../base/clock.ts";
import type { Logger } from "../../../base/logger.ts";
import type { EventRecorder } from "../../../client/events/event-recorder.ts";
import { GRACE_MIN_MS } from "../../shared/grace-period.ts";
import type { PodMachine } from "../../contracts/pod-machine.ts";
import type { PodAction } from "../plan/plan-contract.ts";
import { runPreStop } from "./pre-stop.ts";
import { RuntimeError, type Runtime, type RuntimeContainer } from "../../contracts/runtime.ts";
import { definitionOf, messageOf, recordContainerEvent } from "../pod-events.ts";

export type StopAction = Extract<PodAction, { readonly do: "stop-containers" }>;

export interface ContainerStopsOptions {
  readonly runtime: Runtime;
  readonly machine?: PodMachine | undefined;
  readonly recorder: EventRecorder;
  readonly clock: Clock;
  readonly log: Logger;
}

interface Patience {
  readonly leftMs: () => number;
  /** Elapsed before this kubelet started. */
  readonly passedMs: number;
  readonly podIp: string | undefined;
}

export class ContainerStops {
  readonly #options: ContainerStopsOptions;
  /** Containers that received a stop signal and have not exited. */
  readonly #stopping = new Set<string>();

  constructor(options: ContainerStopsOptions) {
    this.#options = options;
  }

  async stop(pod: Pod, { groups, graceMs, passedMs = 0, message }: StopAction, podIp: string | undefined): Promise<void> {
    const { clock, recorder } = this.#options;
    const endAtMs = clock.monotonic() + graceMs;
    for (const { name } of groups.flat())
      recordContainerEvent(recorder, pod, name, { type: "Normal", reason: "Killing", message: message ?? `Stopping container ${name}` });
    for (const group of groups) {
      const leftMs = () => Math.max(GRACE_MIN_MS, endAtMs - clock.monotonic());
      await Promise.all(group.map((running) => this.#stopOne(pod, running, { leftMs, passedMs, podIp })));
    }
  }

  /** Shortens the remaining grace period of containers that are being stopped. */
  shortenGracePeriod(graceMs: number): void {
    const { runtime, log } = this.#options;
    for (const id of this.#stopping) {
      runtime.stopContainer(id, graceMs).catch((error: unknown) => log.warn("Cannot stop a container", { container: id, error }));
    }
  }

  async #stopOne(pod: Pod, running: RuntimeContainer, { leftMs, passedMs, podIp }: Patience): Promise<void> {
    const { runtime, recorder } = this.#options;
    const { container } = definitionOf(pod, running.name);
    this.#stopping.add(running.id);
    try {
      const place = { pod, container, containerId: running.id, podIp };
      await runPreStop(place, { ...this.#options, withinMs: leftMs(), passedMs });
      await runtime.stopContainer(running.id, leftMs());
    } catch (error) {
      if (error instanceof RuntimeError && error.reason === "NotFound") return;
      recorder.record(pod, { type: "Warning", reason: "FailedKillPod", message: `error killing pod: ${messageOf(error)}` });
      throw error;
    } finally {
      this.#stopping.delete(running.id);
    }
  }
}
