/** Finding one's way among the containers of a sandbox, of which there may be several attempts of one name. */
import type { RuntimeContainer, SandboxStatus } from "../../contracts/runtime.ts";

/** The newest attempt of a name. */
export function newestContainer(sandbox: SandboxStatus | undefined, name: string): RuntimeContainer | undefined {
  return sandbox?.containers.find((container) => container.name === name);
}

/** The newest attempt of a name in the sandbox that there is now: what ran in one before it is history. */
export function presentContainer(sandbox: SandboxStatus | undefined, name: string): RuntimeContainer | undefined {
  const newest = newestContainer(sandbox, name);
  return newest !== undefined && isOfPresent(newest, sandbox) ? newest : undefined;
}

/** Whether it was made in the sandbox that there is now. */
export function isOfPresent({ createdAtMs }: RuntimeContainer, sandbox: SandboxStatus | undefined): boolean {
  return createdAtMs >= (sandbox?.createdAtMs ?? 0);
}

/** The attempt before the newest: what `kubectl logs --previous` shows. */
export function previousContainer(sandbox: SandboxStatus | undefined, name: string): RuntimeContainer | undefined {
  return sandbox?.containers.filter((container) => container.name === name)[1];
}

/** Runtimes may call an image otherwise than the Pod did, and would seem to run another. */
export function isOfImage({ image, requestedImage: wantedImage }: RuntimeContainer, container: { readonly image?: string }): boolean {
  return (wantedImage ?? image) === container.image;
}

export function isRunning(container: RuntimeContainer | undefined): boolean {
  return container?.state.is === "running";
}

export function hasRunning(sandbox: SandboxStatus | undefined): boolean {
  return sandbox?.containers.some(isRunning) === true;
}

/** Its startup is over: init containers after a sidecar wait for that. A runtime that says nothing has nothing to wait for. */
export function isStarted(container: RuntimeContainer | undefined): boolean {
  return isRunning(container) && container?.started !== false;
}
