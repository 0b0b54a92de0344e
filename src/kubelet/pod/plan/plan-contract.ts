/** Input and output of the plan of a Pod (pod-plan.ts). Only types. */
import type { Container, EphemeralContainer, Pod } from "../../../api/generated/core/v1.ts";
import type { RuntimeContainer, SandboxStatus } from "../../contracts/runtime.ts";
import type { Unhealthy } from "../../probes/probe-state.ts";
import type { PodMemory } from "../pod-state.ts";

export type ContainerRole = "init" | "regular" | "ephemeral";

export type PodAction =
  /** Prepares volumes and directories on the machine. */
  | { readonly do: "prepare" }
  /** The sandbox is lost and will be recreated. */
  | { readonly do: "record-sandbox-changed"; readonly id: string }
  | { readonly do: "run-sandbox" }
  | StartAction
  /** Groups are stopped one after the other; containers of one group together. */
  | {
      readonly do: "stop-containers";
      readonly groups: readonly (readonly RuntimeContainer[])[];
      readonly graceMs: number;
      /** Part of the hooks' time that has already elapsed. */
      readonly passedMs?: number;
      readonly message?: string;
    }
  /** Changes the resources of a running container. */
  | { readonly do: "resize-container"; readonly id: string; readonly container: Container }
  /** The same for the Pod as a whole. */
  | { readonly do: "resize-pod" }
  | { readonly do: "remove-container"; readonly id: string }
  /** Kills and removes containers for a restart of all of them, `sources` last. */
  | { readonly do: "reset-containers"; readonly others: readonly RuntimeContainer[]; readonly sources: readonly RuntimeContainer[] }
  | { readonly do: "stop-sandbox"; readonly id: string }
  | { readonly do: "remove-sandbox"; readonly id: string };

export interface StartAction {
  readonly do: "start-container";
  readonly container: Container | EphemeralContainer;
  readonly role: ContainerRole;
  readonly attempt: number;
  /** Set for a container that was created before and never ran. */
  readonly madeId?: string;
  /** When the previous attempt exited, if there was one: it determines the back-off. */
  readonly endedAtMs?: number;
}

export interface Waiting {
  readonly reason: string;
  readonly message: string;
}

export interface PodView {
  /** With its allocated resources, which may differ from its requests. */
  readonly pod: Pod;
  /** The Pod is no longer in the API: everything of it is removed. */
  readonly isOrphaned: boolean;
  readonly sandbox: SandboxStatus | undefined;
  readonly memory: PodMemory;
  /** Containers that failed a probe and have to be stopped, by id. */
  readonly unhealthy?: Unhealthy | undefined;
  /** The Pod was being deleted before this kubelet started. */
  readonly isResumed?: boolean;
  /** Containers whose start was in progress when the runtime was queried: it may have completed since, so the answer may be outdated. */
  readonly wasStarting?: ReadonlySet<string>;
  readonly nowMs: number;
}

export interface PodPlan {
  readonly actions: readonly PodAction[];
  /** Why containers do not start yet, by name. */
  readonly waiting: ReadonlyMap<string, Waiting>;
  /** Milliseconds since the epoch; undefined: no sync before the next event. */
  readonly syncAtMs?: number;
  /** The Pod terminates: nothing is started any more. */
  readonly isTerminating: boolean;
  /** Nothing of the Pod runs or will run. */
  readonly isTerminated: boolean;
  /** activeDeadlineSeconds is exceeded. */
  readonly isPastDeadline: boolean;
  /** The status has to be written before the next plan is made. */
  readonly mustReport: boolean;
}
