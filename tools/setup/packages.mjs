/**
 * Installs the npm packages. npm records what it installed in node_modules/.package-lock.json, and writes it last: if it agrees with
 * package-lock.json nothing is to be done, and after an interrupted install it does not exist.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { npm, root, StepFailed, step } from "./step.mjs";

/** @typedef {{ version?: string, integrity?: string, optional?: boolean }} LockedPackage */
/** @typedef {{ packages?: Record<string, LockedPackage> }} Lockfile */

export async function installPackages() {
  const installed = join(root, "node_modules/.package-lock.json");
  if (existsSync(installed) && areInstalled(readLockfile(join(root, "package-lock.json")), readLockfile(installed))) return;
  await step("installing npm packages", async () => {
    const { exitCode, output } = await npm(["ci"]);
    if (exitCode !== 0) throw new StepFailed(`Cannot install the npm packages: npm ci failed\n${output}`);
  });
}

/**
 * True if every locked package is installed as locked. Optional ones may be absent: most are for other systems.
 * @param {Lockfile} locked
 * @param {Lockfile} installed
 */
export function areInstalled(locked, installed) {
  return Object.entries(locked.packages ?? {}).every(([path, { version, integrity, optional }]) => {
    if (path === "") return true;
    const found = installed.packages?.[path];
    if (found === undefined) return optional === true;
    return found.version === version && found.integrity === integrity;
  });
}

/**
 * @param {string} file
 * @returns {Lockfile}
 */
function readLockfile(file) {
  return JSON.parse(readFileSync(file, "utf8"));
}
