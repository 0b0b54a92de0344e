/**
 * All texts under folders and files of the clone that are written by hand: code, scripts, manifests and documents. Not here: what a
 * package manager, a compiler or a generator wrote.
 */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

export interface TextFile {
  /** From the root of the clone, with forward slashes. */
  readonly path: string;
  readonly text: string;
}

const TEXT = /\.(?:[cm]?[jt]sx?|sh|ya?ml|md)$/;
const WRITTEN_BY_PROGRAMS = ["node_modules", "generated", "dist", "out"];

export function readTexts(root: string, ...paths: readonly string[]): TextFile[] {
  return paths
    .flatMap((path) => textFilesIn(root, path))
    .sort()
    .map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }));
}

function textFilesIn(root: string, path: string): string[] {
  if (!existsSync(join(root, path))) return [];
  if (!statSync(join(root, path)).isDirectory()) return TEXT.test(path) ? [path] : [];
  return readdirSync(join(root, path))
    .filter((name) => !WRITTEN_BY_PROGRAMS.includes(name))
    .flatMap((name) => textFilesIn(root, path === "." ? name : `${path}/${name}`));
}
