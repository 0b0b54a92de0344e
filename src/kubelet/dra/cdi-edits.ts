/**
 * The Container Device Interface, for runtimes that do not resolve device names themselves (containerd before 2.0): specifications of
 * vendors name devices, and what a container needs to use them. Pure. Not here: reading the files (cdi-files.ts).
 */
import type { ContainerRun, DeviceRun, MountRun } from "../contracts/container-run.ts";

/** A specification file; members that are not used here are left out. */
export interface CdiSpecification {
  /** "vendor.example.com/class" */
  readonly kind: string;
  readonly devices?: readonly { readonly name: string; readonly containerEdits?: CdiEdits }[];
  /** For every container with a device of this file. */
  readonly containerEdits?: CdiEdits;
}

export interface CdiEdits {
  /** "NAME=value" */
  readonly env?: readonly string[];
  readonly deviceNodes?: readonly { readonly path: string; readonly hostPath?: string; readonly permissions?: string }[];
  readonly mounts?: readonly { readonly hostPath: string; readonly containerPath: string; readonly options?: readonly string[] }[];
  readonly hooks?: readonly unknown[];
}

/** Throws if a device is unknown, or needs a hook, which only the runtime can run. */
export function withCdiEdits(names: readonly string[], specifications: readonly CdiSpecification[], run: ContainerRun): ContainerRun {
  const edits = new Set<CdiEdits>();
  const unknown: string[] = [];
  for (const name of names) {
    const found = editsOf(name, specifications);
    if (found.length === 0) unknown.push(name);
    for (const each of found) edits.add(each);
  }
  if (unknown.length > 0) throw new Error(`unresolvable CDI devices ${unknown.join(", ")}`);
  return [...edits].reduce((edited, each) => applied(each, edited, names), run);
}

/** Later specifications have precedence, as directories have. */
function editsOf(name: string, specifications: readonly CdiSpecification[]): readonly CdiEdits[] {
  for (const { kind, devices = [], containerEdits = {} } of specifications.toReversed()) {
    const device = devices.find((each) => `${kind}=${each.name}` === name);
    if (device !== undefined) return [containerEdits, device.containerEdits ?? {}];
  }
  return [];
}

const DEFAULT_PERMISSIONS = "rwm";

function applied(
  { env = [], deviceNodes = [], mounts = [], hooks = [] }: CdiEdits,
  run: ContainerRun,
  names: readonly string[],
): ContainerRun {
  if (hooks.length > 0)
    throw new Error(`CDI devices ${names.join(", ")} need hooks, which this container runtime cannot run: use containerd 2.0 or newer`);
  const variables = env.map((text) => ({ name: text.split("=", 1)[0] ?? "", value: text.slice(text.indexOf("=") + 1) }));
  const replaced = new Set(variables.map(({ name }) => name));
  const devices = deviceNodes.map(({ path, hostPath = path, permissions = DEFAULT_PERMISSIONS }): DeviceRun => ({
    hostPath,
    containerPath: path,
    permissions,
  }));
  const added = mounts.map(({ hostPath, containerPath, options = [] }): MountRun => ({
    hostPath,
    containerPath,
    readOnly: options.includes("ro"),
    propagation: "private",
  }));
  return {
    ...run,
    environment: [...run.environment.filter(({ name }) => !replaced.has(name)), ...variables],
    devices: [...run.devices, ...devices],
    mounts: [...run.mounts, ...added],
  };
}
