/**
 * `node out/tools/compare/run.js DIRECTORY`: prints how the built-in API differs from yardsticks of upstream (documents that one of its
 * servers wrote, tables of its sources), with the explanation of each difference that has one. Fails if any has none, and if an
 * explanation explains nothing any more. Not a test: the yardsticks are not part of the project.
 */
import { all } from "./all.ts";
import { explanations } from "./explained.ts";
import { type Difference, reportOf } from "./report.ts";

const [directory] = process.argv.slice(2);
if (directory === undefined) throw new Error("Cannot compare: the directory of the yardsticks should be given");

const differences: Difference[] = [];
for (const { name, compare } of all) {
  for (const text of await compare(directory)) differences.push({ comparison: name, text });
}
const { lines, ok } = reportOf(differences, explanations);
console.log(lines.join("\n"));
if (!ok) process.exitCode = 1;
