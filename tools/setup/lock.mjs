/**
 * Serializes set-ups in one clone. The lock is a file with the process id; it is created atomically with its content (a hard link), so that
 * no process reads a partial one. A stale lock, whose process has ended, is removed.
 */
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** File deletion by another process has no portable event; at this interval neither the delay nor the cost of polling matters. */
const POLL_INTERVAL_MS = 200;

/**
 * @template T
 * @param {string} file
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function withLock(file, work) {
  let hasLogged = false;
  while (!tryAcquire(file)) {
    const holder = holderOf(file);
    if (holder === undefined) continue;
    if (!isAlive(holder)) {
      removeStale(file, holder);
      continue;
    }
    if (!hasLogged) console.log(`set-up: waiting for another set-up, process ${holder} (if it does not exist, delete ${file})`);
    hasLogged = true;
    await sleep(POLL_INTERVAL_MS);
  }
  try {
    return await work();
  } finally {
    rmSync(file, { force: true });
  }
}

/** @param {string} file */
function tryAcquire(file) {
  const own = `${file}.${process.pid}`;
  writeFileSync(own, String(process.pid));
  try {
    linkSync(own, file);
    return true;
  } catch (error) {
    if (isCode(error, "EEXIST")) return false;
    throw error;
  } finally {
    rmSync(own, { force: true });
  }
}

/** @param {string} file */
function holderOf(file) {
  try {
    return Number(readFileSync(file, "utf8"));
  } catch (error) {
    if (isCode(error, "ENOENT")) return undefined;
    throw error;
  }
}

/** @param {number} pid */
function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: alive, and owned by another user.
    return isCode(error, "EPERM");
  }
}

/**
 * Removes a stale lock. Of several waiting processes, one wins the rename. If the lock has changed hands meanwhile, it is restored.
 * @param {string} file
 * @param {number} holder
 */
function removeStale(file, holder) {
  const stale = `${file}.dead.${process.pid}`;
  try {
    renameSync(file, stale);
    if (holderOf(stale) !== holder) linkSync(stale, file);
  } catch (error) {
    if (!isCode(error, "ENOENT") && !isCode(error, "EEXIST")) throw error;
  } finally {
    rmSync(stale, { force: true });
  }
}

/**
 * @param {unknown} error
 * @param {string} code
 */
function isCode(error, code) {
  return error instanceof Error && "code" in error && error.code === code;
}
