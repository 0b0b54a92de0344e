/**
 * Mounts of a container: its volumes in order, the Pod's /etc/hosts unless the container mounts its own, and its termination log. Host
 * paths of subPaths are resolved by the volume manager; only their syntax is validated here. Not here: /etc/hostname, /etc/resolv.conf and
 * /dev/shm, which the runtime provides.
 */
import type { Pod, VolumeMount } from "../../api/generated/core/v1.ts";
import type { AnyContainer } from "../../api/core/v1/pod/containers.ts";
import { quoteGo } from "../../api/machinery/codec/go-text.ts";
import type { DeviceRun, MountRun, TerminationMessage } from "../contracts/container-run.ts";
import { ContainerConfigError } from "../contracts/pod-machine.ts";
import type { MountedVolume, PodVolumes } from "../contracts/pod-volumes.ts";
import { isRecursivelyReadOnly } from "../shared/recursive-read-only.ts";
import { expand } from "./expansion.ts";
import { HOSTS_PATH } from "./hosts-file.ts";

export interface MountsView {
  readonly pod: Pod;
  readonly container: AnyContainer;
  readonly environment: ReadonlyMap<string, string>;
  readonly mounted: ReadonlyMap<string, MountedVolume>;
  readonly volumes: Pick<PodVolumes, "subPath">;
  /** Whether the Pod's runtime handler supports recursive read-only mounts. */
  readonly supportsRecursiveReadOnly: boolean;
}

/** Mounts for the container's `volumeMounts`. */
export async function volumeMountsOf(view: MountsView): Promise<readonly MountRun[]> {
  const mounts: MountRun[] = [];
  for (const mount of view.container.volumeMounts ?? []) mounts.push(await volumeMount(mount, view));
  return mounts;
}

async function volumeMount(mount: VolumeMount, view: MountsView): Promise<MountRun> {
  const volume = view.mounted.get(mount.name);
  if (volume === undefined) {
    throw new ContainerConfigError(`cannot find volume ${quoteGo(mount.name)} to mount into container ${quoteGo(view.container.name)}`);
  }
  const subPath = subPathOf(mount, view.environment);
  const hostPath = subPath === "" ? volume.path : await placeOf(mount, subPath, view);
  const isRecursive = isRecursivelyReadOnly(mount, view.supportsRecursiveReadOnly);
  return {
    hostPath,
    containerPath: absolute(mount.mountPath),
    readOnly: mount.readOnly === true || volume.isReadOnly,
    propagation: propagationOf(mount.mountPropagation),
    ...(isRecursive ? { recursiveReadOnly: true } : {}),
  };
}

// ── block devices ───────────────────────────────────────────────────────────────────────────────────

/** Devices for the container's `volumeDevices`. A read-only volume is a device that can only be read. */
export function volumeDevicesOf({ container, mounted }: Pick<MountsView, "container" | "mounted">): readonly DeviceRun[] {
  return (container.volumeDevices ?? []).map(({ name, devicePath }) => {
    const volume = mounted.get(name);
    if (volume?.isBlockDevice !== true)
      throw new ContainerConfigError(`cannot find volume ${quoteGo(name)} to pass into container ${quoteGo(container.name)}`);
    return { hostPath: volume.path, containerPath: absolute(devicePath), permissions: volume.isReadOnly ? "r" : "mrw" };
  });
}

// ── sub-paths ───────────────────────────────────────────────────────────────────────────────────────

/** "": the whole volume. */
export function subPathOf({ subPath = "", subPathExpr = "" }: VolumeMount, environment: ReadonlyMap<string, string>): string {
  const path = subPathExpr === "" ? subPath : expandedPath(subPathExpr, environment);
  if (path.startsWith("/")) throw new ContainerConfigError(`error SubPath \`${path}\` must not be an absolute path`);
  if (path.split("/").includes("..")) throw new ContainerConfigError(`unable to provision SubPath \`${path}\`: must not contain '..'`);
  return path;
}

/** An empty variable counts as missing: mounting the whole volume instead of a part would be unexpected. */
function expandedPath(expression: string, environment: ReadonlyMap<string, string>): string {
  const missing = new Set<string>();
  const path = expand(expression, (name) => {
    const value = environment.get(name) ?? "";
    if (value === "") missing.add(name);
    return value;
  });
  if (missing.size > 0) throw new ContainerConfigError(`missing value for ${[...missing].toSorted().join(", ")}`);
  return path;
}

async function placeOf(mount: VolumeMount, subPath: string, { pod, container, volumes }: MountsView): Promise<string> {
  try {
    return await volumes.subPath(pod, container, mount, subPath);
  } catch (error) {
    // Details of the node's disks must not leak into the status, which many users can read.
    const message = `failed to prepare subPath for volumeMount ${quoteGo(mount.name)} of container ${quoteGo(container.name)}`;
    throw new ContainerConfigError(message, { cause: error });
  }
}

// ── propagation ───────────────────────────────────────────────────────────────────────

function propagationOf(mode: string | undefined): MountRun["propagation"] {
  switch (mode) {
    case undefined:
    case "None":
      return "private";
    case "HostToContainer":
      return "host-to-container";
    case "Bidirectional":
      return "bidirectional";
    default:
      throw new ContainerConfigError(`invalid MountPropagation mode: ${quoteGo(mode)}`);
  }
}

// ── /etc/hosts and termination log ──────────────────────────────────────────────────────────────────

/** Not if the container mounts something there itself, and not before a Pod without hostNetwork has an IP. */
export function needsHostsFile({ spec }: Pod, container: AnyContainer, podIps: readonly string[]): boolean {
  if (podIps.length === 0 && spec?.hostNetwork !== true) return false;
  return !(container.volumeMounts ?? []).some(({ mountPath }) => mountPath === HOSTS_PATH);
}

export function hostsMount(hostPath: string): MountRun {
  return { hostPath, containerPath: HOSTS_PATH, readOnly: false, propagation: "private" };
}

/** Undefined: the container has no termination log. One file per attempt: that of the previous attempt is still to be read. */
export function terminationMessageOf(
  { name, terminationMessagePath = "", terminationMessagePolicy }: AnyContainer,
  { podDirectory, attempt }: { readonly podDirectory: string; readonly attempt: number },
): TerminationMessage | undefined {
  if (terminationMessagePath === "") return undefined;
  const hostPath = `${podDirectory}/containers/${name}/${attempt}.termination`;
  return { hostPath, fallsBackToLogs: terminationMessagePolicy === "FallbackToLogsOnError" };
}

export function terminationMount({ terminationMessagePath = "" }: AnyContainer, { hostPath }: TerminationMessage): MountRun {
  return { hostPath, containerPath: absolute(terminationMessagePath), readOnly: false, propagation: "private" };
}

function absolute(path: string): string {
  return path.startsWith("/") ? path : `/${path}`;
}
