/**
 * Go for the operator of test/envtest, and the modules of that operator. Debian's package is installed where it is new enough to fetch the
 * Go that go.mod asks for. Modules, and that Go, are fetched once into the cache: the test never uses the network, nor the user's own module
 * cache.
 */
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { makeOnce } from "../../src/host/download/make-once.ts";
import { reasonIn } from "../../src/host/processes/program-failure.ts";
import type { Finding } from "../../src/testing/needs.ts";
import { packageDirectory } from "../../src/testing/package-directory.ts";
import { installDebianPackage } from "./debian-packages.ts";
import type { Surroundings } from "./surroundings.ts";

const PACKAGE = "golang-go";

/** The oldest minor version of Go 1 that fetches a newer one if go.mod asks for it. */
const FETCHES_ITSELF = 21;

const ASK_TIMEOUT_MS = 30_000;

/** 220 MB, and 70 MB more for another Go. */
const FETCH_TIMEOUT_MS = 300_000;

const OPERATOR = join(packageDirectory(import.meta.dirname), "test", "envtest");

/** `found`: what is on the PATH, or why that cannot be used. */
export async function goAndModules(
  surroundings: Surroundings,
  found: Finding,
): Promise<{ readonly go: Finding; readonly goModules: Finding }> {
  const isAbsent = surroundings.which("go") === undefined;
  const go = "missing" in found && isAbsent && surroundings.isDebian ? await installed(surroundings) : found;
  return { go, goModules: "missing" in go ? go : await modules(surroundings, go.path) };
}

async function installed(surroundings: Surroundings): Promise<Finding> {
  const { isRoot, run, step, which } = surroundings;
  if (!isRoot) return { missing: `not installed; as root, run apt-get install ${PACKAGE}` };
  const { output } = await run("apt-cache", ["policy", PACKAGE], { timeoutMs: ASK_TIMEOUT_MS });
  const [, version = "", minor] = /Candidate: (?:\d+:)?(1\.(\d+)\S*)/.exec(output) ?? [];
  if (minor !== undefined && Number(minor) < FETCHES_ITSELF) {
    return { missing: `go is not on the PATH, and Debian's package is too old: ${version}; 1.${FETCHES_ITSELF} is needed` };
  }
  const failure = await step(`installing Debian package ${PACKAGE}`, () => installDebianPackage(PACKAGE, surroundings));
  const path = which("go");
  return path === undefined ? { missing: `apt-get could not install ${PACKAGE}: ${failure ?? "it does not provide go"}` } : { path };
}

async function modules({ cache, run, step }: Surroundings, go: string): Promise<Finding> {
  const digest = createHash("sha256");
  for (const file of ["go.mod", "go.sum"]) digest.update(readFileSync(join(OPERATOR, file)));
  const folder = join(cache, `go-modules-${digest.digest("hex").slice(0, 12)}`);
  if (existsSync(folder)) return { path: folder };
  const fetch = async (unfinished: string) => {
    // Without -modcacherw only root could remove the cache.
    const env = { ...process.env, GOMODCACHE: unfinished, GOFLAGS: "-modcacherw", GOTOOLCHAIN: "auto", GOWORK: "off" };
    const { exitCode, output } = await run(go, ["-C", OPERATOR, "mod", "download"], { timeoutMs: FETCH_TIMEOUT_MS, env });
    if (exitCode !== 0) throw new Error(`go mod download failed: ${reasonIn(output)}`);
  };
  const reason = await step("fetching the Go modules of test/envtest", () => makeOnce(folder, fetch));
  return reason === undefined ? { path: folder } : { missing: reason };
}
