/**
 * `node out/tools/compare/run.js DIRECTORY`: prints the differences of the built-in API from snapshots of upstream (documents that one of
 * its servers wrote, tables of its sources), with their explanations. Fails if a difference has no explanation, or an explanation is
 * unused. Not a test: the snapshots are not part of the project.
 */
import { all } from "./all.ts";
import { explanations } from "./explained.ts";
import { type Difference, reportOf } from "./report.ts";

const [directory] = process.argv.slice(2);
if (directory === undefined) throw new Error("Cannot compare: the argument with the directory of the snapshots is missing");

const differences: Difference[] = [];
for (const { name, compare } of all) {
  for (const text of await compare(directory)) differences.push({ comparison: name, text });
}
const { lines, ok } = reportOf(differences, explanations);
console.log(lines.join("\n"));
if (!ok) process.exitCode = 1;
