/**
 * The real kubectl 1.36 and Helm 4, for the tests against real clients: downloaded once into the cache, where both appear atomically after
 * verification. The download is in src/cli/kubectl/client-tools.ts, which `k8ts kubectl` uses, too.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { makeOnce } from "../../src/host/download/make-once.ts";
import { CLIENT_TOOLS_FOLDER, clientToolsProblem, fetchClientTools, type ClientTool } from "../../src/cli/kubectl/client-tools.ts";
import type { Finding } from "../../src/testing/needs.ts";
import type { Surroundings } from "./surroundings.ts";

export async function kubectlAndHelm(surroundings: Surroundings): Promise<Record<ClientTool, Finding>> {
  const { cache, step } = surroundings;
  const folder = join(cache, CLIENT_TOOLS_FOLDER);
  if (!existsSync(folder)) {
    const reason =
      clientToolsProblem(surroundings) ??
      (await step("fetching kubectl 1.36 and Helm 4", () => makeOnce(folder, (unfinished) => fetchClientTools(unfinished, surroundings))));
    if (reason !== undefined) return { kubectl: { missing: reason }, helm: { missing: reason } };
  }
  return { kubectl: { path: join(folder, "kubectl") }, helm: { path: join(folder, "helm") } };
}
