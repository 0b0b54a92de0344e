/**
 * Terminates and removes unfinished tasks of a killed containerd, which the next one does not know: a shim that it had just started for a
 * Pod serves no task and would never end; the Pod is retried with another. Only what is older than the running containerd is checked: a
 * containerd loads the tasks of earlier ones before it answers any request, so an older task that it does not have is orphaned, while a
 * younger one may be about to be created. Doubtful cases are kept. Not here: containerd's own records, which the kubelet removes, and
 * removing a whole cluster (leftovers.ts).
 */
import type { Clock } from "../../../base/clock.ts";
import type { Logger } from "../../../base/logger.ts";
import { encode, type MessageDescriptor } from "../../../base/protobuf/messages.ts";
import { killCgroup, removeCgroup } from "../../../host/kernel/cgroup-tree.ts";
import { killProcesses } from "../../../host/processes/detached-program.ts";
import { fewAtATime } from "../../../host/files/limited-concurrency.ts";
import { joinPath, removeFile } from "../../../host/files/files.ts";
import { GrpcError, openGrpcChannel } from "../../../host/grpc/channel.ts";
import { unmountUnder } from "../../../host/kernel/mounts.ts";
import type { ProcessMark } from "../../../host/processes/process-identity.ts";
import { removeTree } from "../../../host/files/shared-directory.ts";
import { containerdFiles, type OwnContainerdOptions } from "./own-containerd.ts";
import { CRI_NAMESPACE, findBundles, findShims, TASKS, tasksDirectory, type Bundle, type Shim } from "./shims.ts";

export interface OrphanedTasksOptions extends Pick<OwnContainerdOptions, "directory" | "runDirectory"> {
  /** The running one. */
  readonly containerd: ProcessMark;
  /** Ids of tasks whose directories existed before it started, as far as known. */
  readonly earlierTasks: readonly string[];
  readonly clock: Clock;
  readonly log: Logger;
}

/** containerd's own timeout for shims is 2 s; beyond this one it is stuck. */
const ASK_TIMEOUT_MS = 10_000;

const GET_TASK_PATH = "/containerd.services.tasks.v1.Tasks/Get";
const GET_TASK_REQUEST = {
  name: "tasks.GetRequest",
  fields: { containerId: { number: 1, type: "string" } },
} as const satisfies MessageDescriptor;

/** Requires that containerd answers. Never rejects: failures are logged and retried after the next start. */
export async function removeOrphanedTasks(options: OrphanedTasksOptions): Promise<void> {
  const { clock, log } = options;
  const files = containerdFiles(options);
  try {
    const [shims, bundles] = await Promise.all([findShims(files), findBundles(files)]);
    const ids = idsToAsk({ ...options, shims, bundles });
    if (ids.length === 0) return;
    const taskless = await idsWithoutTask(ids, { socket: files.socket, clock });
    const orphans = planOrphans({ ...options, shims, bundles, taskless });
    if (orphans.shims.length + orphans.bundles.length === 0) return;
    await killProcesses(orphans.shims, clock);
    for (const bundle of orphans.bundles) await removeBundle(bundle, options);
    for (const socket of orphans.sockets) await removeFile(socket);
    log.info("Removed orphaned tasks of a killed containerd", { shims: orphans.shims.length, tasks: orphans.bundles.length });
  } catch (error) {
    log.warn("Cleanup of orphaned tasks failed", { error });
  }
}

export interface SeenTasks {
  readonly containerd: ProcessMark;
  readonly earlierTasks: readonly string[];
  readonly shims: readonly Shim[];
  readonly bundles: readonly Bundle[];
}

/** Tasks older than containerd, and those that share a shim with them. */
export function idsToAsk(seen: SeenTasks): readonly string[] {
  return [...new Set([...oldShims(seen).flatMap((shim) => idsWith(shim, seen)), ...earlierBundles(seen).map(({ id }) => id)])];
}

export interface Orphans {
  /** To be terminated. */
  readonly shims: readonly Shim[];
  /** To be removed with all their resources. */
  readonly bundles: readonly Bundle[];
  /** Sockets of those shims, to be removed. */
  readonly sockets: readonly string[];
}

/** `taskless`: queried ids for which containerd has no task. */
export function planOrphans(seen: SeenTasks & { readonly taskless: ReadonlySet<string> }): Orphans {
  const { taskless, bundles } = seen;
  const shims = oldShims(seen).filter((shim) => idsWith(shim, seen).every((id) => taskless.has(id)));
  const gone = new Set([
    ...shims.flatMap((shim) => idsWith(shim, seen)),
    ...earlierBundles(seen).flatMap(({ id }) => (taskless.has(id) ? [id] : [])),
  ]);
  const socketsOf = (some: readonly Bundle[]) => some.flatMap(({ socket }) => (socket === undefined ? [] : [socket]));
  const inUse = new Set(socketsOf(bundles.filter(({ id }) => !gone.has(id))));
  const removed = bundles.filter(({ id }) => gone.has(id));
  return { shims, bundles: removed, sockets: [...new Set(socketsOf(removed))].filter((socket) => !inUse.has(socket)) };
}

/**
 * Only the CRI's. Both times are kernel ticks since boot. containerd does not start a shim within the 10 ms tick of its own start, but the
 * last shim of a killed one may be of that tick.
 */
function oldShims({ shims, containerd }: SeenTasks): readonly Shim[] {
  return shims.filter(({ namespace, started }) => namespace === CRI_NAMESPACE && Number(started) <= Number(containerd.started));
}

/** All tasks that a shim may serve: its own, and those of the same Pod. */
function idsWith({ id }: Shim, { bundles }: SeenTasks): readonly string[] {
  const group = bundles.find((bundle) => bundle.id === id)?.group ?? id;
  return [...new Set([id, ...bundles.flatMap((bundle) => (bundle.group === group ? [bundle.id] : []))])];
}

function earlierBundles({ bundles, earlierTasks }: SeenTasks): readonly Bundle[] {
  const earlier = new Set(earlierTasks);
  return bundles.filter(({ id }) => earlier.has(id));
}

/** Only an explicit NOT_FOUND counts; a missing answer means unknown. */
async function idsWithoutTask(
  ids: readonly string[],
  { socket, clock }: { readonly socket: string; readonly clock: Clock },
): Promise<ReadonlySet<string>> {
  const channel = await openGrpcChannel({ host: socket, port: 0, clock });
  const metadata = { "containerd-namespace": CRI_NAMESPACE };
  const isWithoutTask = (id: string) =>
    channel.call(GET_TASK_PATH, encode(GET_TASK_REQUEST, { containerId: id }), { timeoutMs: ASK_TIMEOUT_MS, metadata }).then(
      () => false,
      (error: unknown) => error instanceof GrpcError && error.code === "NOT_FOUND",
    );
  try {
    const answers = await fewAtATime(ids, isWithoutTask);
    return new Set(ids.filter((_, index) => answers[index]));
  } finally {
    channel.close();
  }
}

/**
 * Kills its processes first (none, or a container that is just starting), then releases its resources. A failure does not stop the rest.
 */
async function removeBundle({ id, cgroup }: Bundle, options: OrphanedTasksOptions): Promise<void> {
  const { clock, log } = options;
  const { rootDirectory, runcDirectory, ...files } = containerdFiles(options);
  const bundle = joinPath(tasksDirectory(files), id);
  try {
    if (cgroup !== undefined) {
      await killCgroup(cgroup, clock);
      await removeCgroup(cgroup);
    }
    await unmountUnder(bundle);
    for (const directory of [joinPath(runcDirectory, CRI_NAMESPACE, id), joinPath(rootDirectory, TASKS, CRI_NAMESPACE, id), bundle])
      await removeTree(directory);
  } catch (error) {
    log.warn("Cannot remove an orphaned task", { id, error });
  }
}
