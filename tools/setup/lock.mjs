/**
 * One set-up at a time in one clone. The lock is a file that holds the process id; it appears with its content at once (a hard
 * link), so nobody reads half of it. The lock of a process that is no more is taken away.
 */
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** There is no event for "a file of another process is gone" on all systems; at this pace nobody notices the wait or its cost. */
const LOOK_AGAIN_MS = 200;

/**
 * @template T
 * @param {string} file
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function withLock(file, work) {
  let told = false;
  while (!tryToTake(file)) {
    const holder = holderOf(file);
    if (holder === undefined) continue;
    if (!isAlive(holder)) {
      takeAway(file, holder);
      continue;
    }
    if (!told) console.log(`set-up: waiting for another one, process ${holder} (if there is none, delete ${file})`);
    told = true;
    await sleep(LOOK_AGAIN_MS);
  }
  try {
    return await work();
  } finally {
    rmSync(file, { force: true });
  }
}

/** @param {string} file */
function tryToTake(file) {
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
    // EPERM: it is alive and somebody else's.
    return isCode(error, "EPERM");
  }
}

/**
 * Of several that wait, one gets to rename the file. If it was not the dead holder's any more, it is put back.
 * @param {string} file
 * @param {number} holder
 */
function takeAway(file, holder) {
  const grave = `${file}.dead.${process.pid}`;
  try {
    renameSync(file, grave);
    if (holderOf(grave) !== holder) linkSync(grave, file);
  } catch (error) {
    if (!isCode(error, "ENOENT") && !isCode(error, "EEXIST")) throw error;
  } finally {
    rmSync(grave, { force: true });
  }
}

/**
 * @param {unknown} error
 * @param {string} code
 */
function isCode(error, code) {
  return error instanceof Error && "code" in error && error.code === code;
}
