/**
 * containerd's shims on this machine: their processes, and the directories of the tasks that they serve. Read from the machine itself, so
 * that it also works when containerd is dead. One shim serves all containers of a Pod. Not here: which of them are orphaned
 * (orphaned-tasks.ts, leftovers.ts).
 */
import type { Clock } from "../../../base/clock.ts";
import { killProcesses } from "../../../host/processes/detached-program.ts";
import { fewAtATime } from "../../../host/files/limited-concurrency.ts";
import { joinPath, readTextIfAny } from "../../../host/files/files.ts";
import type { ProcessMark } from "../../../host/processes/process-identity.ts";
import { findProcesses } from "../../../host/processes/process-table.ts";
import { namesIn } from "../../../host/files/shared-directory.ts";

/** Directories of own-containerd.ts. */
export interface ShimPlaces {
  /** Socket of their containerd. */
  readonly socket: string;
  readonly stateDirectory: string;
}

/** containerd namespace of the CRI. */
export const CRI_NAMESPACE = "k8s.io";

/** containerd's task directory, in its persistent and its volatile state. */
export const TASKS = "io.containerd.runtime.v2.task";

/** Annotation that groups the containers of a Pod: all with the same value share a shim. */
const SANDBOX_ANNOTATION = "io.kubernetes.cri.sandbox-id";

export interface Shim extends ProcessMark {
  /** Id of the container that it was started for, mostly a sandbox. */
  readonly id: string;
  /** containerd namespace: clients other than the CRI use others. */
  readonly namespace: string;
  /** Short-lived: only starts the actual shim. */
  readonly isStarter: boolean;
}

/** Identified by the address of their containerd. */
export async function findShims({ socket }: Pick<ShimPlaces, "socket">): Promise<readonly Shim[]> {
  const found = await findProcesses((words) => words[words.indexOf("-address") + 1] === socket && words.includes("-id"));
  return found.map(({ pid, started, arguments: words }) => ({
    ...{ pid, started },
    id: words[words.indexOf("-id") + 1] ?? "",
    namespace: words[words.indexOf("-namespace") + 1] ?? "",
    isStarter: words.at(-1) === "start",
  }));
}

/** Shim starts of a dead containerd: they may complete only after the next containerd runs and then look like its own. */
export async function endShimStarters(places: Pick<ShimPlaces, "socket">, clock: Clock): Promise<void> {
  const starters = (await findShims(places)).filter(({ isStarter }) => isStarter);
  await killProcesses(starters, clock);
}

/** State of a container that its shim keeps. */
export interface Bundle {
  readonly id: string;
  /** Its sandbox, which may be itself; undefined if unknown. */
  readonly group: string | undefined;
  readonly cgroup: string | undefined;
  /** Socket of its shim. */
  readonly socket: string | undefined;
}

/** Directory names are the task ids. */
export function tasksDirectory({ stateDirectory }: Pick<ShimPlaces, "stateDirectory">): string {
  return joinPath(stateDirectory, TASKS, CRI_NAMESPACE);
}

export async function findBundles(places: Pick<ShimPlaces, "stateDirectory">): Promise<readonly Bundle[]> {
  const tasks = tasksDirectory(places);
  return fewAtATime(await namesIn(tasks), (id) => readBundle(joinPath(tasks, id), id));
}

async function readBundle(directory: string, id: string): Promise<Bundle> {
  const [config = "", address = "", bootstrap = ""] = await Promise.all(
    ["config.json", "address", "bootstrap.json"].map((name) => readTextIfAny(joinPath(directory, name))),
  );
  const listensAt = addressIn(bootstrap) ?? address.trim();
  return { id, ...factsIn(config), socket: /^unix:\/\/(\/.+)$/.exec(listensAt)?.[1] };
}

/** From 2.0 on, containerd stores a shim's address in a JSON document; before, the shim wrote the bare address. */
function addressIn(bootstrap: string): string | undefined {
  try {
    const { address } = JSON.parse(bootstrap) as { readonly address?: unknown };
    return typeof address === "string" ? address : undefined;
  } catch {
    return undefined; // Of an older containerd, or truncated.
  }
}

interface Specification {
  readonly annotations?: Readonly<Record<string, unknown>>;
  readonly linux?: { readonly cgroupsPath?: unknown };
}

/** From the container's OCI spec; both undefined if it is truncated. */
function factsIn(config: string): Pick<Bundle, "group" | "cgroup"> {
  try {
    const { annotations, linux } = JSON.parse(config) as Specification;
    const [group, path] = [annotations?.[SANDBOX_ANNOTATION], linux?.cgroupsPath];
    return {
      group: typeof group === "string" ? group : undefined,
      cgroup: typeof path === "string" && /^\/[^/]/.test(path) ? path : undefined,
    };
  } catch {
    return { group: undefined, cgroup: undefined };
  }
}
