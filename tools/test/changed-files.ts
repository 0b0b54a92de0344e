/** Lists the files that git reports as changed: those that differ between a revision and the work tree, and untracked ones. */
import { spawnSync } from "node:child_process";

/** Paths relative to the root of the clone, or git's reason for not listing them. */
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
