/** Removes trees that other processes, such as containers, may change meanwhile; and links that are replaced atomically. */
import { rename, rm, symlink } from "node:fs/promises";
import { runProgram } from "../processes/child-process.ts";

/**
 * Removes a tree by coreutils' `rm`, which opens every directory relative to its parent and never through a link: Node's own removal goes
 * by path names, and a directory that becomes a link meanwhile would lead it elsewhere. Mounts inside are not entered: then it rejects. A
 * missing path is fine.
 */
export async function removeUntrustedTree(path: string): Promise<void> {
  await runProgram({ command: "rm", arguments: ["-rf", "--one-file-system", "--", path] });
}

/** Creates a symbolic link, or lets an existing one point elsewhere. At any instant one of the two exists. */
export async function replaceLink(path: string, target: string): Promise<void> {
  const next = `${path}.partial`;
  await rm(next, { force: true });
  await symlink(target, next);
  await rename(next, path);
}
