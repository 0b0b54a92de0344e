/** Finds a yardstick by its name. Theirs end in a version of upstream (openapi-v3-1.36, protobuf-fields-1.36.tsv): the newest counts. */
import { readdirSync } from "node:fs";
import { join } from "node:path";

export function yardstickCalled(directory: string, name: string): string {
  const newest = readdirSync(directory)
    .filter((entry) => entry.startsWith(`${name}-`))
    .sort((a, b) => a.localeCompare(b, "en", { numeric: true }))
    .at(-1);
  if (newest === undefined) throw new Error(`Cannot compare: ${directory} has no yardstick called ${name}-VERSION`);
  return join(directory, newest);
}
