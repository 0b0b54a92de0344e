/** Where the clone is, for tests and tools: compiled files stand in out/, as deep as their sources, so it is looked for upwards. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

/** The nearest directory at or above `from` that has a package.json. */
export function packageDirectory(from: string): string {
  if (existsSync(join(from, "package.json"))) return from;
  const parent = dirname(from);
  if (parent === from) throw new Error("Cannot find the package: no directory above has a package.json");
  return packageDirectory(parent);
}
