/** What git knows of changes: files that differ between a revision and the work tree, and files that git does not know yet. */
import { spawnSync } from "node:child_process";

/** Paths relative to the root of the clone, or why git cannot list them. */
export function changedFiles(root: string, since: string): readonly string[] | { readonly problem: string } {
  const listings = [
    ["diff", "--name-only", "-z", "--no-renames", "--end-of-options", `${since}^{commit}`, "--"],
    ["ls-files", "--others", "--exclude-standard", "-z"],
  ].map((args) => spawnSync("git", args, { cwd: root, encoding: "utf8" }));
  const failed = listings.find(({ status }) => status !== 0);
  if (failed !== undefined) {
    const reason = failed.error?.message ?? failed.stderr.trim().split("\n")[0] ?? "";
    return { problem: `Cannot list what changed since ${JSON.stringify(since)}: ${reason}` };
  }
  return listings.flatMap(({ stdout }) => stdout.split("\0")).filter((path) => path !== "");
}
