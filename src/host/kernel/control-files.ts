/** Files of the kernel (/sys, /proc) that are commands: never created, and not readable in general. */
import { constants } from "node:fs";
import { open } from "node:fs/promises";

/** Writes the text in one call. Rejects if the file does not exist. */
export async function writeControlFile(path: string, text: string): Promise<void> {
  await using file = await open(path, constants.O_WRONLY);
  await file.write(text);
}
