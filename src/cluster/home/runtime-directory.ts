/**
 * Directory of a cluster's sockets: paths of sockets are limited to about 100 characters, and a home can have a long path. So sockets have
 * a short directory, named after a hash of the home: below /run if this user may write there, otherwise in the user's runtime directory or
 * a temporary one. A file in it refers to the home. It is accessible only by its owner, and one that another user could have created is not
 * used.
 */
import { createHash } from "node:crypto";
import { readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { fileExists, joinPath, makePrivateDirectory } from "../../host/files/files.ts";
import { writePrivateText } from "../../host/files/private-files.ts";
import { checkTrustedPath, readTrustedText } from "../../host/files/trusted-path.ts";
import type { Environment } from "../../cli/framework/command.ts";

/** Long enough to avoid collisions on one machine. */
const ID_LENGTH = 8;

/** Refers to the home of a runtime directory. */
const OWNER_FILE = "home";

/** Also used for other short names: of links, of namespaces. */
export function homeId(directory: string): string {
  return createHash("sha256").update(directory).digest("hex").slice(0, ID_LENGTH);
}

/** In order of preference. */
function places(environment: Environment): readonly string[] {
  const own = environment["XDG_RUNTIME_DIR"];
  return [
    "/run/k8ts",
    ...(own?.startsWith("/") === true ? [joinPath(own, "k8ts")] : []),
    joinPath(tmpdir(), `k8ts-run-${process.getuid?.() ?? 0}`),
  ];
}

/** Makes it, or finds the one that was made before. */
export async function makeRuntimeDirectory(directory: string, environment: Environment): Promise<string> {
  const found = await findRuntimeDirectory(directory, environment);
  if (found !== undefined) return found;
  const problems: string[] = [];
  for (const place of places(environment)) {
    const path = joinPath(place, homeId(directory));
    try {
      // In a world-writable directory another user may have created it first: nothing is created in it before it is checked.
      await makePrivateDirectory(place);
      await checkTrustedPath(place);
      await makePrivateDirectory(path);
      await checkTrustedPath(path);
      await writePrivateText(joinPath(path, OWNER_FILE), directory);
      return path;
    } catch (error) {
      problems.push((error as Error).message);
    }
  }
  throw new Error(
    `Cannot create a directory for sockets: ${problems.join("; ")}; set XDG_RUNTIME_DIR to a directory that only this user can write to`,
  );
}

/** Undefined if none exists. One that another user could have made is none. */
export async function findRuntimeDirectory(directory: string, environment: Environment): Promise<string | undefined> {
  for (const place of places(environment)) {
    const path = joinPath(place, homeId(directory));
    if ((await fileExists(joinPath(path, OWNER_FILE))) && (await isTrusted(path))) return path;
  }
  return undefined;
}

/** The homes that have such a directory on this machine. Rejections of what another user could have made go to `onUntrusted`. */
export async function homesWithRuntime(
  environment: Environment,
  onUntrusted: (error: unknown) => void = () => {},
): Promise<readonly string[]> {
  const homes: string[] = [];
  for (const place of places(environment)) {
    try {
      for (const id of await namesInPlace(place)) {
        const home = await readTrustedText(joinPath(place, id, OWNER_FILE)).catch(onUntrusted);
        if (home?.startsWith("/") === true) homes.push(home);
      }
    } catch (error) {
      onUntrusted(error);
    }
  }
  return homes;
}

/** None if there is no such place, or this user may not look into it. */
async function namesInPlace(place: string): Promise<readonly string[]> {
  if (!(await fileExists(place))) return [];
  await checkTrustedPath(place);
  return readdir(place).catch(() => []);
}

export async function removeRuntimeDirectory(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true });
}

async function isTrusted(path: string): Promise<boolean> {
  return checkTrustedPath(path).then(
    () => true,
    () => false,
  );
}
