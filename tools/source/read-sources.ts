/**
 * Reads and parses all code under folders of the clone, with any extension and in any folder, generated code included, so that no file name
 * hides it from the checks.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, sep } from "node:path";
import { parseSource, type Source } from "./source.ts";

/** TypeScript and JavaScript, also with JSX. */
const CODE = /\.[cm]?[jt]sx?$/;

export function readSources(root: string, ...folders: readonly string[]): Source[] {
  return folders
    .filter((folder) => existsSync(join(root, folder)))
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map((path) => join(folder, path).split(sep).join("/")),
    )
    .filter((path) => CODE.test(path))
    .sort()
    .map((path) => parseSource(path, readFileSync(join(root, path), "utf8")));
}
