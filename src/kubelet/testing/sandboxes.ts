/** Runtime states for tables of tests: one word per container. */
import type { RuntimeContainer, RuntimeContainerState, SandboxStatus } from "../contracts/runtime.ts";

export const CREATED: RuntimeContainerState = { is: "created" };

export function running(startedAtMs = 0): RuntimeContainerState {
  return { is: "running", startedAtMs };
}

export function exited(exitCode: number, finishedAtMs = 0): RuntimeContainerState {
  return { is: "exited", exitCode, startedAtMs: 0, finishedAtMs, reason: exitCode === 0 ? "Completed" : "Error" };
}

export function container(name: string, state: RuntimeContainerState, more: Partial<RuntimeContainer> = {}): RuntimeContainer {
  const attempt = more.attempt ?? 0;
  return { id: `${name}-${attempt}`, name, attempt, image: "i:1", imageId: "sha256:i", createdAtMs: 0, state, ...more };
}

export function sandbox(containers: readonly RuntimeContainer[], more: Partial<SandboxStatus> = {}): SandboxStatus {
  return {
    id: "box",
    podUid: "u",
    namespace: "default",
    name: "p",
    state: "ready",
    createdAtMs: 0,
    ips: ["10.0.0.2"],
    containers,
    ...more,
  };
}
