/** Secrets of the machine's own randomness, which nobody can guess from others. */
import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { writePrivateText } from "./private-files.ts";

/** 256 bits: more than anybody can try. */
const TOKEN_BYTES = 32;

/** A bearer token, of characters that need no quoting anywhere. */
export function makeToken(): string {
  return randomBytes(TOKEN_BYTES).toString("base64url");
}

const TOKEN = /^[\w-]{43}$/;

/** The token in a file that only its owner can read; it is made if the file is missing or does not hold one. */
export async function keptToken(path: string): Promise<string> {
  const kept = await readIfThere(path);
  if (TOKEN.test(kept)) return kept;
  const token = makeToken();
  await writePrivateText(path, `${token}\n`);
  return token;
}

async function readIfThere(path: string): Promise<string> {
  try {
    return (await readFile(path, "utf8")).trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw error;
  }
}
