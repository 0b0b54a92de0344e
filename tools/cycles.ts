/**
 * Refuses import cycles among the files of the tree, type imports included: two files that import each other are one file that has not
 * been thought through, and neither can be read, moved or tested alone. Cycles are the strongly connected components of the import
 * graph (Tarjan's algorithm); each is reported with its shortest cycle. Not here: which room may import which (layers.ts).
 */
import { posix } from "node:path";
import { importsOf } from "./source/imports.ts";
import type { Source } from "./source/source.ts";

/** The files that each file imports, with the line of the first import. Files that are not among the sources have no entry. */
export type ImportGraph = ReadonlyMap<string, ReadonlyMap<string, number>>;

/** One sentence per group of files that import each other, with the file and line of one of the imports. */
export function cycleViolations(sources: Iterable<Source>): string[] {
  const graph = importGraph([...sources]);
  return cyclesIn(graph).map((files) => describeCycle(graph, files));
}

function describeCycle(graph: ImportGraph, files: readonly string[]): string {
  const cycle = shortestCycle(graph, files);
  const [first = "", second = first] = cycle;
  const others = files.length > cycle.length ? ` (${files.length} files import each other)` : "";
  return `${first}:${graph.get(first)?.get(second)}: is part of an import cycle: ${[...cycle, first].join(" → ")}${others}`;
}

export function importGraph(sources: readonly Source[]): ImportGraph {
  const paths = new Set(sources.map(({ path }) => path));
  return new Map(sources.map((source) => [source.path, importedFiles(source, paths)]));
}

function importedFiles(source: Source, paths: ReadonlySet<string>): ReadonlyMap<string, number> {
  const lines = new Map<string, number>();
  for (const { specifier, line } of importsOf(source)) {
    if (specifier?.startsWith(".") !== true) continue;
    const target = posix.join(posix.dirname(source.path), specifier);
    if (paths.has(target) && !lines.has(target)) lines.set(target, line);
  }
  return lines;
}

/** The strongly connected components with at least one cycle, each sorted, in the order of their first files. */
export function cyclesIn(graph: ImportGraph): string[][] {
  return new Components(graph)
    .all()
    .filter((files) => files.length > 1 || graph.get(files[0] ?? "")?.has(files[0] ?? "") === true)
    .map((files) => files.sort())
    .sort(([a = ""], [b = ""]) => (a < b ? -1 : 1));
}

/** Tarjan's algorithm. Recursive: its depth is the longest chain of imports, a few hundred files. */
class Components {
  readonly #graph: ImportGraph;
  readonly #components: string[][] = [];
  /** Order of the first visit. */
  readonly #index = new Map<string, number>();
  /** The smallest index reachable from a file through files that are still on the stack. */
  readonly #lowest = new Map<string, number>();
  readonly #stack: string[] = [];
  readonly #onStack = new Set<string>();

  constructor(graph: ImportGraph) {
    this.#graph = graph;
  }

  all(): string[][] {
    for (const file of this.#graph.keys()) if (!this.#index.has(file)) this.#visit(file);
    return this.#components;
  }

  #visit(file: string): void {
    const index = this.#index.size;
    this.#index.set(file, index);
    this.#lowest.set(file, index);
    this.#stack.push(file);
    this.#onStack.add(file);
    for (const imported of this.#graph.get(file)?.keys() ?? []) {
      if (!this.#index.has(imported)) {
        this.#visit(imported);
        this.#lower(file, this.#lowest.get(imported) ?? index);
      } else if (this.#onStack.has(imported)) this.#lower(file, this.#index.get(imported) ?? index);
    }
    if (this.#lowest.get(file) === index) this.#components.push(this.#popTo(file));
  }

  #lower(file: string, to: number): void {
    this.#lowest.set(file, Math.min(this.#lowest.get(file) ?? to, to));
  }

  #popTo(file: string): string[] {
    const files = this.#stack.splice(this.#stack.indexOf(file));
    for (const popped of files) this.#onStack.delete(popped);
    return files;
  }
}

/** The files of the shortest cycle inside a component, each importing the next and the last the first. */
function shortestCycle(graph: ImportGraph, component: readonly string[]): string[] {
  const inside = new Set(component);
  let shortest: string[] | undefined;
  for (const file of component) {
    const cycle = shortestCycleThrough(graph, inside, file);
    if (shortest === undefined || cycle.length < shortest.length) shortest = cycle;
  }
  return shortest ?? [];
}

/** Breadth-first search back to the start; every file of a component is on some cycle. */
function shortestCycleThrough(graph: ImportGraph, inside: ReadonlySet<string>, start: string): string[] {
  const paths: string[][] = [[start]];
  const visited = new Set<string>();
  for (let path = paths.shift(); path !== undefined; path = paths.shift()) {
    for (const imported of graph.get(path.at(-1) ?? "")?.keys() ?? []) {
      if (imported === start) return path;
      if (!inside.has(imported) || visited.has(imported)) continue;
      visited.add(imported);
      paths.push([...path, imported]);
    }
  }
  return [start];
}
