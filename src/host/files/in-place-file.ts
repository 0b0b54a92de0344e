/**
 * Files that containers have mounted: written in place, since whoever has one open or mounted must not lose it, with exactly the mode that
 * was asked for, in directories that only this user enters.
 */
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";

export interface PlacedFile {
  readonly path: string;
  readonly mode: number;
  readonly text: string;
}

const DIRECTORY_MODE = 0o750;

export async function placeFile({ path, mode, text }: PlacedFile): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: DIRECTORY_MODE });
  await writeFile(path, text, { mode });
  // Whatever the umask took away.
  await chmod(path, mode);
}
