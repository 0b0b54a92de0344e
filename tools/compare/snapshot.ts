/** Finds a snapshot by name. Names end with an upstream version (openapi-v3-1.36, protobuf-fields-1.36.tsv): the newest is used. */
import { readdirSync } from "node:fs";
import { join } from "node:path";

export function findSnapshot(directory: string, name: string): string {
  const newest = readdirSync(directory)
    .filter((entry) => entry.startsWith(`${name}-`))
    .sort((a, b) => a.localeCompare(b, "en", { numeric: true }))
    .at(-1);
  if (newest === undefined) throw new Error(`Cannot compare: ${directory} has no snapshot called ${name}-VERSION`);
  return join(directory, newest);
}
