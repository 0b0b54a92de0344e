/**
 * What the tests need besides npm packages: looks for each, gets it where that is possible, and notes where it is or why it is
 * not in .cache/tools.json, which src/testing/needs.ts reads. A missing program never fails the set-up: the tests that need it
 * are skipped with the reason. What was missing is looked for again the next time.
 */
import { renameSync, writeFileSync } from "node:fs";
import type { Finding, ToolName } from "../../src/testing/needs.ts";
import { debianPrograms } from "./debian-packages.ts";
import { kubectlAndHelm } from "./kubectl-and-helm.ts";
import { realSurroundings, type Given } from "./surroundings.ts";
import { testRunners } from "./test-runners.ts";
import { tmpfs } from "./tmpfs.ts";

export async function findTools({ findings: file, ...given }: Given & { readonly findings: string }): Promise<void> {
  const surroundings = realSurroundings(given);
  const findings: Record<ToolName, Finding> = {
    ...(await debianPrograms(surroundings)),
    ...(await kubectlAndHelm(surroundings)),
    ...(await testRunners(surroundings)),
    tmpfs: await tmpfs(surroundings),
  };
  const unfinished = `${file}.${process.pid}`;
  writeFileSync(unfinished, `${JSON.stringify(findings, undefined, 2)}\n`);
  renameSync(unfinished, file);
}
