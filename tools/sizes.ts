/** Reports the sizes of files and functions at the end of every test run, with the names of the largest. It fails nothing. */
import { isTestCode, type Source } from "./source/source.ts";
import { walk } from "./source/walk.ts";

const FILE_LINES_MAX = 500;
const TEST_FILE_LINES_MAX = 800;
const FUNCTION_LINES_MAX = 70;

/** Number of the largest that are always listed. */
const NAMED = 3;

interface Size {
  readonly name: string;
  readonly lines: number;
}

export function sizeReport(sources: readonly Source[]): string[] {
  // Sizes of generated files do not matter.
  const production = sources.filter(({ path }) => !isTestCode(path) && !path.includes("/generated/"));
  const tests = sources.filter(({ path }) => isTestCode(path));
  return [
    ...describeSizes("files", production.map(fileSize), FILE_LINES_MAX),
    ...describeSizes("functions", production.flatMap(functionSizes), FUNCTION_LINES_MAX),
    ...describeSizes("test files", tests.map(fileSize), TEST_FILE_LINES_MAX),
  ];
}

function describeSizes(what: string, sizes: readonly Size[], maxLines: number): string[] {
  if (sizes.length === 0) return [];
  const sorted = sizes.toSorted((a, b) => b.lines - a.lines);
  const largest = sorted.slice(0, NAMED).map(({ name, lines }) => `${name} ${lines}`);
  const tooLarge = sorted.filter(({ lines }) => lines > maxLines);
  return [
    `Lines of ${sizes.length} ${what}: median ${quantile(sorted, 0.5)}, 90th percentile ${quantile(sorted, 0.9)}; largest: ${largest.join(", ")}`,
    ...tooLarge.map(({ name, lines }) => `  over ${maxLines} lines: ${name} ${lines}`),
  ];
}

/** Quantile of sorted sizes. */
function quantile(sortedDown: readonly Size[], share: number): number {
  return sortedDown[sortedDown.length - Math.max(1, Math.ceil(sortedDown.length * share))]?.lines ?? 0;
}

function fileSize({ path, text }: Source): Size {
  return { name: path, lines: text.split("\n").length - (text.endsWith("\n") ? 1 : 0) };
}

export function functionSizes(source: Source): Size[] {
  const sizes: Size[] = [];
  walk(source.program, ({ node, parent }) => {
    if (node.type !== "FunctionDeclaration" && node.type !== "FunctionExpression" && node.type !== "ArrowFunctionExpression") return;
    const line = source.lineAt(node.start);
    const named =
      (node.type !== "ArrowFunctionExpression" ? node.id : null) ?? (parent !== undefined && "key" in parent ? parent.key : undefined);
    const name = named?.type === "Identifier" ? ` ${named.name}` : "";
    sizes.push({ name: `${source.path}:${line}${name}`, lines: source.lineAt(node.end) - line + 1 });
  });
  return sizes;
}
