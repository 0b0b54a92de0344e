/**
 * The file by which a directory says that it is a cluster's, and of which format. Whoever opens a data directory asks here first, be it the
 * whole home or only the store in it: what a newer version has written is not touched, for nobody here knows what else it holds.
 */
import { dirname } from "node:path";
import { NotRegularFileError, openRegularFile } from "../../host/files/regular-file.ts";
import { writePrivateText } from "../../host/files/private-files.ts";
import { homePaths } from "./home-paths.ts";

/** The version of how a home is laid out. One more with every change that an older k8ts could not live with. */
const FORMAT = 1;

export interface HomeMarker {
  readonly name: string;
}

/** Undefined if there is none. Rejects if it is of a newer version, or damaged. */
export async function readHomeMarker(directory: string): Promise<HomeMarker | undefined> {
  const { marker } = homePaths(directory);
  const text = await markerText(marker);
  if (text === undefined) return undefined;
  const { format, name } = parsedMarker(text, marker);
  // What else is in a newer one is not known here.
  if (typeof format === "number" && format > FORMAT)
    throw new Error(
      `Cannot use ${directory}: it was written by a newer version of k8ts (format ${format}, this version supports up to ${FORMAT}); ` +
        `use that version, or another directory with --data-dir`,
    );
  if (typeof format !== "number" || typeof name !== "string")
    throw new Error(`Cannot use ${directory}: ${marker} is corrupt; use another directory with --data-dir, or remove that file`);
  return { name };
}

/** The directory may be of another user, who could have put a FIFO there: reading it would never end. */
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

/** For who wants only the store in it, which may be there without a home around it. Who may not look into it is told so by the store. */
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
