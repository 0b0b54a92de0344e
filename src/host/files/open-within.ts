/**
 * Opens files inside a directory that an untrusted process writes to, which may try to redirect us outside by links, even during the
 * lookup: each path component is opened relative to the previous one, and links are not followed. An open file stays the same whatever
 * happens to its name. Linux only: Node has no `openat`, and a path through /proc/self/fd is equivalent.
 */
import { constants } from "node:fs";
import { chmod, mkdir, open, realpath, type FileHandle } from "node:fs/promises";
import { relative } from "node:path";

/** O_PATH: opens nothing, so a FIFO does not block and no device notices. Node does not name it. */
const ONLY_THE_PLACE = 0o10000000;

/** PATH_MAX of Linux, with the final zero. Descriptors reach further, but no other program could use or remove what is there. */
const PATH_BYTES_MAX = 4_096;

/** The resolved path would be outside of the directory, or beyond what a path can name. */
export class OutsideError extends Error {
  override readonly name = "OutsideError";
}

/**
 * Opens `path` in `directory`. Links that stay inside are followed. Missing directories are created with `modeOfMissing`; without it the
 * path must exist. The caller closes the result, which can be inspected and mounted.
 */
export async function openWithin(directory: string, path: string, modeOfMissing?: number): Promise<FileHandle> {
  const root = await realpath(directory);
  const parts = path.split("/").filter((part) => part !== "" && part !== ".");
  if (Buffer.byteLength([root, ...parts].join("/")) >= PATH_BYTES_MAX)
    throw new OutsideError(
      `Cannot open a path of ${Buffer.byteLength(path)} bytes in ${root}: paths have at most ${PATH_BYTES_MAX - 1} bytes`,
    );
  const { existing, missing } = await resolveExisting(root, parts);
  if (missing.length > 0 && modeOfMissing === undefined) throw new OutsideError(`Cannot open "${path}" in ${root}: it does not exist`);
  return openEach(root, [...existing, ...missing], { made: missing.length, mode: modeOfMissing ?? 0 });
}

/** The existing part of a path, as names below `root` none of which is a link (now), and the names to create. */
async function resolveExisting(
  root: string,
  parts: readonly string[],
): Promise<{ readonly existing: readonly string[]; readonly missing: readonly string[] }> {
  for (let count = parts.length; count >= 0; count--) {
    const real = await realpath([root, ...parts.slice(0, count)].join("/")).catch(ifMissing);
    if (real === undefined) continue;
    if (real !== root && !real.startsWith(`${root === "/" ? "" : root}/`))
      throw new OutsideError(`Cannot open "${parts.join("/")}" in ${root}: it resolves to ${real}`);
    const existing = relative(root, real);
    return { existing: existing === "" ? [] : existing.split("/"), missing: parts.slice(count) };
  }
  throw new OutsideError(`Cannot open "${parts.join("/")}" in ${root}: that directory does not exist`);
}

function ifMissing(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
}

/** The last `made` names are created if they are still missing. */
async function openEach(
  root: string,
  names: readonly string[],
  { made, mode }: { readonly made: number; readonly mode: number },
): Promise<FileHandle> {
  let current = await openPlace(root);
  try {
    for (const [index, name] of names.entries()) {
      const path = `/proc/self/fd/${current.fd}/${name}`;
      const isMade = index >= names.length - made && (await makeDirectory(path));
      const next = await openPlace(path);
      await current.close();
      current = next;
      if ((await current.stat()).isSymbolicLink())
        throw new OutsideError(`Cannot open "${names.join("/")}" in ${root}: "${name}" is a link`);
      // The umask may have cleared bits of the mode. By descriptor: the name may refer to another file by now.
      if (isMade) await chmod(`/proc/self/fd/${current.fd}`, mode);
    }
    return current;
  } catch (error) {
    await current.close();
    throw error;
  }
}

function openPlace(path: string): Promise<FileHandle> {
  return open(path, ONLY_THE_PLACE | constants.O_NOFOLLOW);
}

async function makeDirectory(path: string): Promise<boolean> {
  try {
    await mkdir(path, { mode: 0o700 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    return false;
  }
}
