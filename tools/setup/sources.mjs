/**
 * Detects whether a build is up to date. A stamp is a file with a digest of the sources' names, sizes and modification times; a build
 * removes its stamp first and writes it last, so that a partial result is never taken for a complete one.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { root } from "./step.mjs";

/** Inputs of a build besides the folders that are compiled. */
const FILES = ["package.json", "package-lock.json", "tsconfig.json"];

/** Generated files follow from the other sources and would invalidate the stamp of the build that wrote them. */
const GENERATED = /(^|\/)generated(\/|$)/;

/**
 * Runs `make` unless `stamp` matches the sources. A "faulty" result is rebuilt the next time.
 * @param {{ stamp: string, folders: readonly string[], clone?: string }} from
 * @param {() => Promise<"whole" | "faulty">} make
 */
export async function unlessFresh({ stamp, folders, clone = root }, make) {
  const digest = digestOf(clone, folders);
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === digest) return;
  rmSync(stamp, { force: true });
  if ((await make()) === "faulty") return;
  mkdirSync(dirname(stamp), { recursive: true });
  writeFileSync(stamp, digest);
}

/**
 * @param {string} clone
 * @param {readonly string[]} folders
 */
function digestOf(clone, folders) {
  const hash = createHash("sha256").update(process.versions.node);
  for (const path of [...FILES, ...folders.flatMap((folder) => filesUnder(clone, folder))]) {
    const { size, mtimeMs } = statSync(join(clone, path));
    hash.update(`${path} ${size} ${mtimeMs}\n`);
  }
  return hash.digest("hex");
}

/**
 * @param {string} clone
 * @param {string} folder
 * @returns {string[]}
 */
function filesUnder(clone, folder) {
  if (!existsSync(join(clone, folder))) return [];
  return readdirSync(join(clone, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (GENERATED.test(path)) return [];
    return entry.isDirectory() ? filesUnder(clone, path) : [path];
  });
}
