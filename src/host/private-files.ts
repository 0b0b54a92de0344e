/** Small files that hold secrets: written whole, readable by their owner only. */
import { mkdtemp, rm } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { makePrivateDirectory, writeFileWhole } from "./files.ts";

/** Makes the directory, too, if it is missing. */
export async function writePrivateText(path: string, text: string): Promise<void> {
  await makePrivateDirectory(dirname(path));
  await writeFileWhole(
    path,
    (async function* () {
      yield Buffer.from(text);
    })(),
  );
}

export interface TemporaryDirectory extends AsyncDisposable {
  readonly path: string;
}

/** A new directory that only this user can look into; gone, with all in it, when it is disposed of. */
export async function makeTemporaryDirectory(prefix: string): Promise<TemporaryDirectory> {
  const path = await mkdtemp(join(tmpdir(), prefix));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

export function absolutePath(path: string): string {
  return resolve(path);
}

/** What this machine calls itself. */
export function machineName(): string {
  return hostname();
}
