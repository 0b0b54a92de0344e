/**
 * The marker file that identifies a directory as a cluster's home, with its format version. Every user of a data directory checks it first,
 * for the whole home or only the store in it: a home with a newer format is not modified.
 */
import { dirname } from "node:path";
import { NotRegularFileError, openRegularFile } from "../../host/files/regular-file.ts";
import { writePrivateText } from "../../host/files/private-files.ts";
import { homePaths } from "./home-paths.ts";

/** Format version of a home. Incremented by every change that older versions of k8ts do not support. */
const FORMAT = 1;

export interface HomeMarker {
  readonly name: string;
}

/** Undefined if missing. Rejects if it has a newer format or is corrupt. */
export async function readHomeMarker(directory: string): Promise<HomeMarker | undefined> {
  const { marker } = homePaths(directory);
  const text = await markerText(marker);
  if (text === undefined) return undefined;
  const { format, name } = parsedMarker(text, marker);
  // Other fields of a newer format are unknown.
  if (typeof format === "number" && format > FORMAT)
    throw new Error(
      `Cannot use ${directory}: it was written by a newer version of k8ts (format ${format}, this version supports up to ${FORMAT}); ` +
        `use that version, or another directory with --data-dir`,
    );
  if (typeof format !== "number" || typeof name !== "string")
    throw new Error(`Cannot use ${directory}: ${marker} is corrupt; use another directory with --data-dir, or remove that file`);
  return { name };
}

/** The directory may belong to another user, who could have created a FIFO there: reading it would block forever. */
async function markerText(marker: string): Promise<string | undefined> {
  try {
    await using file = await openRegularFile(marker);
    return await file.readFile("utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    if (!(error instanceof NotRegularFileError)) throw error;
    throw new Error(`Cannot use ${dirname(marker)}: ${error.message}; use another directory with --data-dir, or remove it`, {
      cause: error,
    });
  }
}

export async function writeHomeMarker(directory: string, { name }: HomeMarker): Promise<void> {
  await writePrivateText(homePaths(directory).marker, `${JSON.stringify({ format: FORMAT, name })}\n`);
}

/** For callers that use only the store, which can exist without a home. Missing permissions are reported by the store. */
export async function checkHomeFormat(directory: string): Promise<void> {
  await readHomeMarker(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EACCES" && error.code !== "EPERM") throw error;
  });
}

function parsedMarker(text: string, path: string): { readonly format?: unknown; readonly name?: unknown } {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : {};
  } catch (error) {
    throw new Error(`Cannot read ${path}: ${(error as Error).message}; use another directory with --data-dir, or remove that file`, {
      cause: error,
    });
  }
}
