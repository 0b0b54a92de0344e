/** Lookups among the containers of a sandbox, which may hold several attempts per name. */
import type { RuntimeContainer, SandboxStatus } from "../../contracts/runtime.ts";

/** Newest attempt of a name. */
export function newestContainer(sandbox: SandboxStatus | undefined, name: string): RuntimeContainer | undefined {
  return sandbox?.containers.find((container) => container.name === name);
}

/** Newest attempt of a name in the current sandbox; attempts of an earlier sandbox are history. */
export function presentContainer(sandbox: SandboxStatus | undefined, name: string): RuntimeContainer | undefined {
  const newest = newestContainer(sandbox, name);
  return newest !== undefined && isOfPresent(newest, sandbox) ? newest : undefined;
}

/** Whether the container was created in the current sandbox. */
export function isOfPresent({ createdAtMs }: RuntimeContainer, sandbox: SandboxStatus | undefined): boolean {
  return createdAtMs >= (sandbox?.createdAtMs ?? 0);
}

/** The attempt before the newest: what `kubectl logs --previous` shows. */
export function previousContainer(sandbox: SandboxStatus | undefined, name: string): RuntimeContainer | undefined {
  return sandbox?.containers.filter((container) => container.name === name)[1];
}

/** The runtime's name of an image may differ from the Pod's; comparing them would show a change where none exists. */
export function isOfImage({ image, requestedImage }: RuntimeContainer, container: { readonly image?: string }): boolean {
  return (requestedImage ?? image) === container.image;
}

export function isRunning(container: RuntimeContainer | undefined): boolean {
  return container?.state.is === "running";
}

export function hasRunning(sandbox: SandboxStatus | undefined): boolean {
  return sandbox?.containers.some(isRunning) === true;
}

/**
 * Whether its startup probe has succeeded: init containers after a sidecar wait for that. A runtime that reports nothing counts as started.
 */
export function isStarted(container: RuntimeContainer | undefined): boolean {
  return isRunning(container) && container?.started !== false;
}
