/**
 * Ends and removes what a containerd that was killed had begun and the next one knows nothing of: a shim that it had just started for a Pod
 * serves no task, and nobody would ever end it; the Pod gets another. Only what is older than the containerd that runs now is looked at:
 * a containerd knows the tasks of earlier ones before it answers anything, so that one of those that it does not have then has no future,
 * while it may be just about to make a younger one. Whatever is in doubt stays.
 * Not here: containerd's own records, which are the kubelet's to remove, and the end of all of a cluster (leftovers.ts).
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
  /** That runs now. */
  readonly containerd: ProcessMark;
  /** Ids of tasks whose directories were there before it started, as far as that is known. */
  readonly earlierTasks: readonly string[];
  readonly clock: Clock;
  readonly log: Logger;
}

/** containerd itself asks a shim for no longer than 2 s; longer than this, it is stuck. */
const ASK_TIMEOUT_MS = 10_000;

const GET_TASK_PATH = "/containerd.services.tasks.v1.Tasks/Get";
const GET_TASK_REQUEST = {
  name: "tasks.GetRequest",
  fields: { containerId: { number: 1, type: "string" } },
} as const satisfies MessageDescriptor;

/** Containerd must answer already. Never rejects: what cannot be removed is logged, and found again after the next start. */
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
    log.info("Removed what a containerd that was killed had begun", { shims: orphans.shims.length, tasks: orphans.bundles.length });
  } catch (error) {
    log.warn("Cannot remove all that a containerd that was killed had begun", { error });
  }
}

export interface SeenTasks {
  readonly containerd: ProcessMark;
  readonly earlierTasks: readonly string[];
  readonly shims: readonly Shim[];
  readonly bundles: readonly Bundle[];
}

/** Of what is older than containerd, and of what shares a shim with it. */
export function idsToAsk(seen: SeenTasks): readonly string[] {
  return [...new Set([...oldShims(seen).flatMap((shim) => idsWith(shim, seen)), ...earlierBundles(seen).map(({ id }) => id)])];
}

export interface Orphans {
  /** To be ended. */
  readonly shims: readonly Shim[];
  /** To be removed with all that they have. */
  readonly bundles: readonly Bundle[];
  /** Of those shims, to be removed. */
  readonly sockets: readonly string[];
}

/** `taskless`: those that containerd was asked for and has no task of. */
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
 * Only the CRI's. Both times count the kernel's ticks since the machine's start. Within the same tick, which is 10 ms, no containerd comes
 * from its start to that of a shim, but the last shim of one that was killed may have come in it.
 */
function oldShims({ shims, containerd }: SeenTasks): readonly Shim[] {
  return shims.filter(({ namespace, started }) => namespace === CRI_NAMESPACE && Number(started) <= Number(containerd.started));
}

/** All that a shim may serve: what it was started for, and what is in the same Pod. */
function idsWith({ id }: Shim, { bundles }: SeenTasks): readonly string[] {
  const group = bundles.find((bundle) => bundle.id === id)?.group ?? id;
  return [...new Set([id, ...bundles.flatMap((bundle) => (bundle.group === group ? [bundle.id] : []))])];
}

function earlierBundles({ bundles, earlierTasks }: SeenTasks): readonly Bundle[] {
  const earlier = new Set(earlierTasks);
  return bundles.filter(({ id }) => earlier.has(id));
}

/** Only what containerd says it has not; an answer that does not come says nothing. */
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

/** What runs in it first, which is nothing or the beginning of a container; then what that held. The rest is removed also if one is stuck. */
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
    log.warn("Cannot remove what is left of a task", { id, error });
  }
}
