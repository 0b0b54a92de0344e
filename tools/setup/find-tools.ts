/**
 * Finds the programs that the tests need besides npm packages, installs them where possible, and records their paths, or the reasons for
 * their absence, in .cache/tools.json, which src/testing/needs.ts reads. A missing program never fails the set-up: tests that need it are
 * skipped with the reason. Missing programs are searched again on the next run.
 */
import { renameSync, writeFileSync } from "node:fs";
import type { Finding, ToolName } from "../../src/testing/needs.ts";
import { debianPrograms } from "./debian-packages.ts";
import { goAndModules } from "./go.ts";
import { kubectlAndHelm } from "./kubectl-and-helm.ts";
import { languages } from "./languages.ts";
import { loop } from "./loop.ts";
import { nodeVersions } from "./node-versions.ts";
import { realSurroundings, type Given } from "./surroundings.ts";
import { testRunners } from "./test-runners.ts";
import { tmpfs } from "./tmpfs.ts";

export async function findTools({ findings: file, ...given }: Given & { readonly findings: string }): Promise<void> {
  const surroundings = realSurroundings(given);
  const found = await languages(surroundings);
  const findings: Record<ToolName, Finding> = {
    ...(await debianPrograms(surroundings)),
    ...(await kubectlAndHelm(surroundings)),
    ...(await testRunners(surroundings)),
    ...(await nodeVersions(surroundings)),
    ...found,
    ...(await goAndModules(surroundings, found.go)),
    tmpfs: await tmpfs(surroundings),
    loop: await loop(surroundings),
  };
  const unfinished = `${file}.${process.pid}`;
  writeFileSync(unfinished, `${JSON.stringify(findings, undefined, 2)}\n`);
  renameSync(unfinished, file);
}
