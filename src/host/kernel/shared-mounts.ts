/**
 * Makes mounts below a directory propagate to containers that have it with mountPropagation, and back. Only a mount point can be shared, so
 * a directory is bind-mounted to itself first. systemd makes all mounts shared; this is for machines without it, and containers.
 */
import { mountTable, mountsUnder, type MountEntry } from "./mount-table.ts";
import { bindMount, unmountUnder } from "./mounts.ts";
import { runInHelperShell } from "../processes/helper-shell.ts";

/**
 * Idempotent. Rejects if mounts exist below the directory that the bind mount would hide, or if this process is not allowed to mount. Disposing
 * removes the bind mount, also that of an earlier process, unless something is mounted below it.
 */
export async function shareMounts(directory: string): Promise<AsyncDisposable> {
  const covering = coveringMount(await mountTable(), directory);
  if (covering !== undefined && !covering.isShared) {
    if (covering.path !== directory) await bindToItself(directory);
    await runInHelperShell("mount", "--no-canonicalize", "--make-rshared", directory);
  }
  return { [Symbol.asyncDispose]: () => unbind(directory) };
}

async function bindToItself(directory: string): Promise<void> {
  const [hidden] = await mountsUnder(directory);
  if (hidden !== undefined) throw new Error(`Cannot share mounts below ${directory}: ${hidden.path} is mounted already`);
  await bindMount(directory, directory, []);
}

async function unbind(directory: string): Promise<void> {
  const table = await mountTable();
  const [only, ...below] = await mountsUnder(directory);
  if (only !== undefined && below.length === 0 && isBoundToItself(table, only)) await unmountUnder(directory);
}

/** The mount that a path is on; of several at one place, the last covers the others. */
export function coveringMount(table: readonly MountEntry[], path: string): MountEntry | undefined {
  const covers = ({ path: place }: MountEntry) => place === "/" || path === place || path.startsWith(`${place}/`);
  return table
    .filter(covers)
    .reduce<MountEntry | undefined>((best, one) => (one.path.length >= (best?.path.length ?? 0) ? one : best), undefined);
}

/** True if it shows the directory that is at this place without it. */
export function isBoundToItself(table: readonly MountEntry[], { path, parentId, device, root }: MountEntry): boolean {
  const parent = table.find(({ id }) => id === parentId);
  if (parent === undefined || parent.device !== device || !path.startsWith(parent.path)) return false;
  const below = path.slice(parent.path === "/" ? 0 : parent.path.length);
  return root === `${parent.root === "/" ? "" : parent.root}${below}`;
}
