/** Finds the package directory for tests and tools: compiled files are in out/, as deep as their sources, so it is searched upwards. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

/** Returns the nearest directory at or above `from` that contains a package.json. */
export function packageDirectory(from: string): string {
  if (existsSync(join(from, "package.json"))) return from;
  const parent = dirname(from);
  if (parent === from) throw new Error("Cannot find the package: no directory above has a package.json");
  return packageDirectory(parent);
}
