/**
 * Keeps folders small enough to be read as a table of contents: a limited number of source files each, and a README per room of src/
 * that says what the room does and where to start reading. Not here: sizes of files and functions (sizes.ts).
 */
import { posix } from "node:path";
import type { TextFile } from "./source/read-texts.ts";

/** A listing of this length still fits a screen. Tests are not counted: they are beside their files and sort with them. */
const SOURCE_FILES_MAX = 25;

/** Folders with a limit of their own. `main` is the composition root: what has more parts is a room. */
const OTHER_MAX: Readonly<Record<string, number>> = { "src/main": 14 };

/** An introduction that takes longer belongs in docs/. */
const README_LINES_MAX = 40;

/** One sentence per folder with too many source files, and per room of src/ without a short README. */
export function folderViolations(files: Iterable<TextFile>): string[] {
  const all = [...files];
  return [...crowdedFolders(all), ...missingReadmes(all)].sort();
}

function crowdedFolders(files: readonly TextFile[]): string[] {
  const counts = new Map<string, number>();
  for (const { path } of files) {
    if (!path.endsWith(".ts") || path.endsWith(".test.ts")) continue;
    const folder = posix.dirname(path);
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  return [...counts].flatMap(([folder, count]) => {
    const max = OTHER_MAX[folder] ?? SOURCE_FILES_MAX;
    return count <= max ? [] : [`${folder}: holds ${count} source files, at most ${max} are allowed; group them in folders`];
  });
}

function missingReadmes(files: readonly TextFile[]): string[] {
  const texts = new Map(files.map(({ path, text }) => [path, text]));
  const rooms = new Set([...texts.keys()].flatMap((path) => /^src\/[^/]+(?=\/)/.exec(path)?.[0] ?? []));
  return [...rooms].flatMap((room) => {
    const text = texts.get(`${room}/README.md`);
    if (text === undefined) return [`${room}: has no README.md that says what it does and where to start reading`];
    const lines = text.trimEnd().split("\n").length;
    return lines <= README_LINES_MAX ? [] : [`${room}/README.md: has ${lines} lines, at most ${README_LINES_MAX} are allowed`];
  });
}
