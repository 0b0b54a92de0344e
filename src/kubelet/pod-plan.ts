/**
 * What is to be done for a Pod now, from what is wanted and what there is. A pure function: whoever does what it says and asks again comes
 * to the end of it, from wherever the last one stopped. What waits for a while says until when.
 *
 * Not here: what the API is told (pod-status.ts), doing it (pod-acts.ts), init containers (plan-init.ts), when it ends (plan-end.ts).
 */
import type { Container, EphemeralContainer, Pod } from "../api/generated/core/v1.ts";
import { isExpiredAt, planEnd } from "./plan-end.ts";
import { planInit } from "./plan-init.ts";
import { Planning } from "./planning.ts";
import type { PodMemory } from "./pod-memory.ts";
import { shouldRestart } from "./restart-policy.ts";
import type { RuntimeContainer, SandboxStatus } from "./runtime.ts";
import { newestContainer } from "./runtime-containers.ts";

export type ContainerRole = "init" | "regular" | "ephemeral";

export type PodAction =
  | { readonly do: "run-sandbox"; readonly isAgain: boolean }
  | StartAction
  /** Groups one after the other; those of one group together. */
  | {
      readonly do: "stop-containers";
      readonly groups: readonly (readonly RuntimeContainer[])[];
      readonly graceMs: number;
      /** Of the time that hooks have, so much has passed before. */
      readonly passedMs?: number;
      readonly message?: string;
    }
  | { readonly do: "remove-container"; readonly id: string }
  | { readonly do: "stop-sandbox"; readonly id: string }
  | { readonly do: "remove-sandbox"; readonly id: string };

export interface StartAction {
  readonly do: "start-container";
  readonly container: Container | EphemeralContainer;
  readonly role: ContainerRole;
  readonly attempt: number;
  /** Of one that was made before and never ran. */
  readonly madeId?: string;
  /** When the attempt before ended, if there was one: the next has to wait longer. */
  readonly endedAtMs?: number;
}

export interface Waiting {
  readonly reason: string;
  readonly message: string;
}

export interface PodView {
  readonly pod: Pod;
  /** It is no more in the API: all of it has to go. */
  readonly isGone: boolean;
  readonly sandbox: SandboxStatus | undefined;
  readonly memory: PodMemory;
  /** It was being deleted before this kubelet came. */
  readonly isResumed?: boolean;
  readonly nowMs: number;
}

export interface PodPlan {
  readonly actions: readonly PodAction[];
  /** Why containers are not started yet, by name. */
  readonly waiting: ReadonlyMap<string, Waiting>;
  /** Milliseconds since the epoch; undefined: not before something happens. */
  readonly lookAgainAtMs?: number;
  /** It is to end: nothing is to be started any more. */
  readonly isEnding: boolean;
  /** Nothing of it runs any more, or will. */
  readonly isOver: boolean;
  /** It ran for longer than it may. */
  readonly isPastDeadline: boolean;
}

export function planPod(view: PodView): PodPlan {
  const planning = new Planning(view);
  const isPastDeadline = isExpiredAt(view.pod, view.nowMs, planning);
  const isEnding = planEnd(view, planning, { isPastDeadline });
  if (!isEnding) planRun(view, planning);
  return planning.plan({ isPastDeadline, isEnding });
}

function planRun(view: PodView, planning: Planning): void {
  const { sandbox, memory, nowMs } = view;
  if (sandbox?.state !== "ready") {
    if (memory.sandboxRetryAtMs !== undefined && memory.sandboxRetryAtMs > nowMs) return planning.lookAgain(memory.sandboxRetryAtMs);
    planning.add({ do: "run-sandbox", isAgain: sandbox !== undefined });
  }
  planEphemeral(view, planning);
  if (planInit(view, planning)) planRegular(view, planning);
}

function planEphemeral({ pod, sandbox }: PodView, planning: Planning): void {
  // They are for looking at what runs, so not before something can.
  if (sandbox?.state !== "ready") return;
  for (const container of pod.spec?.ephemeralContainers ?? []) {
    if (newestContainer(sandbox, container.name) === undefined) planning.start(container, "ephemeral");
  }
}

function planRegular({ pod, sandbox }: PodView, planning: Planning): void {
  const { spec } = pod;
  if (spec === undefined) return;
  for (const container of spec.containers ?? []) {
    const known = newestContainer(sandbox, container.name);
    if (known?.state.is === "running" && sandbox?.state === "ready") {
      if (known.image !== container.image) planning.restart(container, known);
    } else if (known?.state.is !== "exited" || shouldRestart(container, spec, known.state.exitCode)) {
      planning.start(container, "regular");
    }
  }
}
