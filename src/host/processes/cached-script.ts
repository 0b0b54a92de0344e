/**
 * Runs a CommonJS script with V8's code cache, a file beside the script: functions that an earlier process compiled are read instead of
 * compiled again. Compiling is most of the processor time of a program that has just started, and the cache of Node itself
 * (module.enableCompileCache) does not exist in Node 20. The cache is optional: a missing, foreign or damaged one is ignored, and a folder
 * that cannot be written gets none. Synchronous, because it is how a program starts.
 */
import { createHash } from "node:crypto";
import { closeSync, fstatSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeSync } from "node:fs";
import { createRequire } from "node:module";
import { cachedDataVersionTag } from "node:v8";
import { Script } from "node:vm";

/** A SHA-256 digest at the start of the file: V8 checks the length of the source, but neither its content nor the cached data. */
const DIGEST_BYTES = 32;
/** Separates the digest's inputs, and the names from the code. */
const END_OF_NAMES = "\n";
const CACHE_FILE_MODE = 0o644;

export interface CachedScript {
  /** What the script has assigned to `module.exports`. */
  readonly exports: unknown;
  /**
   * Writes what is compiled now, for the next process, unless the cache was written by a process that used the same parts of the program, or
   * more. To be called when the program has started: V8 drops functions that were not called for a while.
   */
  save(parts: readonly string[]): void;
}

/** The script is one function of exports, require and module, in ASCII. Undefined if there is no such file. */
export function runCachedScript(file: string): CachedScript | undefined {
  const found = readScript(file);
  if (found === undefined) return undefined;
  const { source, identity } = found;
  const cacheFile = `${file}.${cachedDataVersionTag()}.cache`;
  const cache = readCache(cacheFile, identity);
  const script = new Script(source, { filename: file, ...(cache === undefined ? {} : { cachedData: cache.code }) });
  const parts = script.cachedDataRejected === false ? (cache?.parts ?? []) : [];
  const module = { exports: {} as unknown };
  const run = script.runInThisContext() as (...names: readonly unknown[]) => void;
  run(module.exports, createRequire(file), module);
  return {
    exports: module.exports,
    save(used) {
      if (used.every((part) => parts.includes(part))) return;
      const all = [...new Set([...parts, ...used])].join();
      writeCache(cacheFile, identity, () => Buffer.concat([Buffer.from(all + END_OF_NAMES), script.createCachedData()]));
    },
  };
}

interface FoundScript {
  readonly source: string;
  /**
   * Changes when the script is replaced. Cheaper than its content, of which V8 checks the length. Unpacking a package may give a new version
   * the size, the modification time and even the inode of the old one, but not its change time.
   */
  readonly identity: string;
}

/** Both of the same file, even if another one takes its place meanwhile. */
function readScript(file: string): FoundScript | undefined {
  try {
    const descriptor = openSync(file, "r");
    try {
      const { size, mtimeMs, ctimeMs, ino } = fstatSync(descriptor);
      // An ASCII text. As "latin1" it is outside of V8's heap, without a copy.
      return { source: readFileSync(descriptor, "latin1"), identity: [size, mtimeMs, ctimeMs, ino].join() };
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return undefined;
  }
}

interface Cache {
  /** Parts of the program that have run when it was written. */
  readonly parts: readonly string[];
  readonly code: Buffer;
}

function readCache(file: string, identity: string): Cache | undefined {
  const content = readIfPossible(file);
  if (content === undefined) return undefined;
  const body = content.subarray(DIGEST_BYTES);
  const end = body.indexOf(END_OF_NAMES);
  if (end === -1 || !digestOf(identity, body).equals(content.subarray(0, DIGEST_BYTES))) return undefined;
  return { parts: body.toString("utf8", 0, end).split(","), code: body.subarray(end + END_OF_NAMES.length) };
}

/**
 * Complete or not at all, also after a power failure. Failures are ignored: the next start compiles. Whatever the umask, only its owner can
 * write the file, since it is code; and `makeBody`, which takes long, is not called for a folder that cannot be written.
 */
function writeCache(file: string, identity: string, makeBody: () => Buffer): void {
  const partial = `${file}.${process.pid}.partial`;
  rmIfPossible(partial);
  try {
    const descriptor = openSync(partial, "wx", CACHE_FILE_MODE);
    try {
      const body = makeBody();
      writeAll(descriptor, digestOf(identity, body));
      writeAll(descriptor, body);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(partial, file);
  } catch {
    rmIfPossible(partial);
  }
}

function writeAll(descriptor: number, bytes: Buffer): void {
  for (let written = 0; written < bytes.length;) written += writeSync(descriptor, bytes, written);
}

function digestOf(identity: string, body: Buffer): Buffer {
  return createHash("sha256").update(identity).update(END_OF_NAMES).update(body).digest();
}

function readIfPossible(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch {
    return undefined;
  }
}

function rmIfPossible(file: string): void {
  try {
    rmSync(file, { force: true });
  } catch {
    // A folder that cannot be written.
  }
}
