/**
 * What containerd's shims are on this machine while, and after, a containerd runs: their processes, and the directories of the tasks that
 * they serve. Both are read from the machine itself, so that it also works when containerd is dead. One shim serves all containers of a Pod.
 * Not here: which of them are wanted (orphaned-tasks.ts, leftovers.ts).
 */
import type { Clock } from "../../../base/clock.ts";
import { killProcesses } from "../../../host/processes/detached-program.ts";
import { fewAtATime } from "../../../host/files/limited-concurrency.ts";
import { joinPath, readTextIfAny } from "../../../host/files/files.ts";
import type { ProcessMark } from "../../../host/processes/process-identity.ts";
import { findProcesses } from "../../../host/processes/process-table.ts";
import { namesIn } from "../../../host/files/shared-directory.ts";

/** Those of own-containerd.ts. */
export interface ShimPlaces {
  /** Where their containerd listens. */
  readonly socket: string;
  readonly stateDirectory: string;
}

/** Where containerd keeps what the CRI runs. */
export const CRI_NAMESPACE = "k8s.io";

/** What containerd calls the directory of its tasks, in what lasts and in what does not. */
export const TASKS = "io.containerd.runtime.v2.task";

/** What groups the containers of a Pod: all that name the same one share its shim. */
const SANDBOX_ANNOTATION = "io.kubernetes.cri.sandbox-id";

export interface Shim extends ProcessMark {
  /** Of the container that it was started for, mostly a sandbox. */
  readonly id: string;
  /** Containerd's: what others than the CRI run by its socket is in another. */
  readonly namespace: string;
  /** It only starts the one that stays, and ends then. */
  readonly isStarter: boolean;
}

/** Known by the address of the containerd that they report to. */
export async function findShims({ socket }: Pick<ShimPlaces, "socket">): Promise<readonly Shim[]> {
  const found = await findProcesses((words) => words[words.indexOf("-address") + 1] === socket && words.includes("-id"));
  return found.map(({ pid, started, arguments: words }) => ({
    ...{ pid, started },
    id: words[words.indexOf("-id") + 1] ?? "",
    namespace: words[words.indexOf("-namespace") + 1] ?? "",
    isStarter: words.at(-1) === "start",
  }));
}

/**
 * Of a containerd that is dead: what it had asked to start a shim would do so for nobody, maybe only after another containerd runs, and
 * then look like one of that one's.
 */
export async function endShimStarters(places: Pick<ShimPlaces, "socket">, clock: Clock): Promise<void> {
  const starters = (await findShims(places)).filter(({ isStarter }) => isStarter);
  await killProcesses(starters, clock);
}

/** What a shim keeps about a container. */
export interface Bundle {
  readonly id: string;
  /** The sandbox that it belongs to, which may be itself; undefined if that is not known. */
  readonly group: string | undefined;
  readonly cgroup: string | undefined;
  /** That of its shim. */
  readonly socket: string | undefined;
}

/** The names of its directories are the ids of its tasks. */
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

/** From 2.0 on, containerd notes where a shim listens in a document of its own; before, the shim wrote the bare address. */
function addressIn(bootstrap: string): string | undefined {
  try {
    const { address } = JSON.parse(bootstrap) as { readonly address?: unknown };
    return typeof address === "string" ? address : undefined;
  } catch {
    return undefined; // Of an older containerd, or not written whole.
  }
}

interface Specification {
  readonly annotations?: Readonly<Record<string, unknown>>;
  readonly linux?: { readonly cgroupsPath?: unknown };
}

/** Of the OCI specification that the container was started with; neither is known if it was not written whole. */
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
