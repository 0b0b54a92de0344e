/**
 * Files that containers have mounted: written in place, because readers keep them open or mounted, with the exact mode, in directories that
 * only this user can enter.
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
  // Regardless of the umask.
  await chmod(path, mode);
}
