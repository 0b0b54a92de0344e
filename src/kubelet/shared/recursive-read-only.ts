/**
 * Decides whether a volume is mounted recursively read-only: mounts below it are read-only, too. Depends on the handler that runs the Pod.
 * Follows upstream's resolveRecursiveReadOnly.
 */
import type { VolumeMount } from "../../api/generated/core/v1.ts";
import { quoteGo } from "../../api/machinery/codec/go-text.ts";
import { ContainerConfigError } from "../contracts/pod-machine.ts";
import type { RuntimeFeatures } from "../contracts/runtime.ts";

/** Throws a ContainerConfigError if the mount requires it and cannot have it. */
export function isRecursivelyReadOnly({ name, recursiveReadOnly, readOnly, mountPropagation }: VolumeMount, isSupported: boolean): boolean {
  if (recursiveReadOnly === undefined || recursiveReadOnly === "Disabled") return false;
  if (readOnly !== true) throw notRecursive(name, "it is not read-only");
  if (mountPropagation !== undefined && mountPropagation !== "None")
    throw notRecursive(name, `it is not compatible with propagation ${quoteGo(mountPropagation)}`);
  if (recursiveReadOnly === "IfPossible") return isSupported;
  if (recursiveReadOnly !== "Enabled") throw unresolved(`unknown recursive read-only mode ${quoteGo(recursiveReadOnly)}`);
  if (!isSupported) throw notRecursive(name, "it is not supported by the runtime");
  return true;
}

/** A runtime that does not list its handlers (containerd before 2.0) supports it for none. */
export function handlerSupportsRecursiveReadOnly(features: RuntimeFeatures | undefined, handler: string): boolean {
  return features?.handlers.find(({ name }) => name === handler)?.hasRecursiveReadOnlyMounts === true;
}

function notRecursive(volume: string, but: string): ContainerConfigError {
  return unresolved(`volume ${quoteGo(volume)} requested recursive read-only mode, but ${but}`);
}

function unresolved(why: string): ContainerConfigError {
  return new ContainerConfigError(`failed to resolve recursive read-only mode: ${why}`);
}
