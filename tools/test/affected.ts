/**
 * Computes which test files a change can affect. An edge of the graph is an import (types and `import()` included) or the name of a program
 * that a file starts ("launcher.js"). Tests in tools/ check the tree as a whole and always run. Where the graph is inconclusive, every test
 * is affected: a run may be larger than needed, never smaller. Pure.
 */
import { posix } from "node:path";
import { importsOf } from "../source/imports.ts";
import type { Source } from "../source/source.ts";

/** Files that decide what is installed, generated, compiled or built: a change affects every test. */
const EVERYTHING = [
  /^package(-lock)?\.json$/,
  /^\.npmrc$/,
  /(^|\/)tsconfig[^/]*\.json$/,
  /^tools\/(setup|generate|test)(\/|\.mjs$)/,
  /^tools\/build\.mjs$/,
];

/** Read by people and by the tests in tools/ only. */
const DOCUMENTS = /(\.md|^LICENSE|^\.gitignore|^\.ox[^/]*|^\.ci\/.*)$/;

const CODE = /\.[cm]?[jt]s$/;

/** Names of compiled programs in strings: "crash-child.js". Imports are written with ".ts". */
const PROGRAM_NAME = /([\w.-]+)\.m?js\b/g;

/** The names of the affected test files, or "all". Paths are relative to the root of the clone. */
export function affectedTests(sources: readonly Source[], changed: readonly string[]): ReadonlySet<string> | "all" {
  const relevant = changed.filter((path) => !DOCUMENTS.test(path));
  if (relevant.some((path) => EVERYTHING.some((pattern) => pattern.test(path)))) return "all";
  const starts = relevant.map((path) => (CODE.test(path) ? [path] : readersOf(sources, path)));
  if (starts.some((files) => files.length === 0)) return "all";
  const reached = reach(importersOf(sources), starts.flat());
  const tests = sources.map(({ path }) => path).filter((path) => path.endsWith(".test.ts"));
  return new Set(tests.filter((path) => path.startsWith("tools/") || reached.has(path)));
}

/** Code that may read a data file: in the same directory, or mentioning the suffix of its name (".golden.yaml"). */
function readersOf(sources: readonly Source[], file: string): readonly string[] {
  const directory = posix.dirname(file);
  const ending = /\..*$/.exec(posix.basename(file))?.[0];
  return sources
    .filter(({ path, text }) => posix.dirname(path) === directory || (ending !== undefined && text.includes(ending)))
    .map(({ path }) => path);
}

function importersOf(sources: readonly Source[]): ReadonlyMap<string, readonly string[]> {
  const programs = new Map<string, string[]>();
  for (const { path } of sources) append(programs, posix.basename(path).replace(CODE, ""), path);
  const importers = new Map<string, string[]>();
  for (const source of sources) {
    for (const { specifier } of importsOf(source)) {
      if (specifier?.startsWith(".") === true) append(importers, posix.join(posix.dirname(source.path), specifier), source.path);
    }
    for (const [, name = ""] of source.text.matchAll(PROGRAM_NAME)) {
      for (const program of programs.get(name) ?? []) append(importers, program, source.path);
    }
  }
  return importers;
}

function append(map: Map<string, string[]>, key: string, value: string): void {
  const values = map.get(key);
  if (values === undefined) map.set(key, [value]);
  else values.push(value);
}

function reach(importers: ReadonlyMap<string, readonly string[]>, starts: readonly string[]): ReadonlySet<string> {
  const reached = new Set(starts);
  for (const path of reached) for (const importer of importers.get(path) ?? []) reached.add(importer);
  return reached;
}
