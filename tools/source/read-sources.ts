/** The TypeScript files under folders of the clone, parsed. Generated ones are left out: nobody writes them. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, sep } from "node:path";
import { parseSource, type Source } from "./source.ts";

export function readSources(root: string, ...folders: readonly string[]): Source[] {
  return folders
    .filter((folder) => existsSync(join(root, folder)))
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map((path) => join(folder, path).split(sep).join("/")),
    )
    .filter((path) => path.endsWith(".ts") && !path.includes("/generated/"))
    .sort()
    .map((path) => parseSource(path, readFileSync(join(root, path), "utf8")));
}
