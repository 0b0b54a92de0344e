/**
 * Finds controllers without a test that interrupts them after each of their calls: those in whose folder no test calls
 * everyStepMayBeTheLast with a scenario whose `controllers` include the controller of that folder. Determined from the syntax tree, so that
 * neither a comment nor an import nor an unrelated call counts. Whether the test passes is not checked here.
 */
import type { Node } from "oxc-parser";
import { isReference } from "./source/names.ts";
import type { Source } from "./source/source.ts";
import { walk } from "./source/walk.ts";

const TOOL = "everyStepMayBeTheLast";
/** Shared code, one of whose files is named like a controller. */
const RUNTIME = "runtime";
const CONTROLLER = /^src\/controllers\/([^/]+)\/[^/]+-controller\.ts$/;
const TEST = /^src\/controllers\/([^/]+)\/[^/]+\.test\.ts$/;

/** Names of folders, sorted. */
export function controllersWithoutCrashTest(sources: readonly Source[]): string[] {
  const folders = new Set(sources.flatMap(({ path }) => CONTROLLER.exec(path)?.[1] ?? []));
  for (const source of sources) {
    const folder = TEST.exec(source.path)?.[1];
    if (folder !== undefined && testsItsController(source)) folders.delete(folder);
  }
  folders.delete(RUNTIME);
  return [...folders].toSorted();
}

function testsItsController(source: Source): boolean {
  const own = ownControllers(source);
  const declared = declarations(source);
  const scenarios = nodesIn([source.program]).flatMap((node) =>
    node.type === "CallExpression" && node.callee.type === "Identifier" && node.callee.name === TOOL ? node.arguments.slice(0, 1) : [],
  );
  const controllers = reached(scenarios, declared).flatMap((node) => (isMember(node, "controllers") ? [node.value] : []));
  return reached(controllers, declared).some((node) => node.type === "Identifier" && own.has(node.name));
}

/** Local names of the exports of the controller under test. */
function ownControllers({ module }: Source): ReadonlySet<string> {
  const imports = module.staticImports.filter(({ moduleRequest }) => /^\.\/[^/]+-controller\.ts$/.test(moduleRequest.value));
  return new Set(imports.flatMap(({ entries }) => entries.filter(({ isType }) => !isType).map(({ localName }) => localName.value)));
}

/** All initializers of each name in the file. */
function declarations({ program }: Source): ReadonlyMap<string, readonly Node[]> {
  const found = new Map<string, Node[]>();
  const add = (name: string, node: Node): void => void found.set(name, [...(found.get(name) ?? []), node]);
  for (const node of nodesIn([program])) {
    if (node.type === "VariableDeclarator" && node.id.type === "Identifier" && node.init !== null) add(node.id.name, node.init);
    if (node.type === "FunctionDeclaration" && node.id !== null && node.body !== null) add(node.id.name, node.body);
  }
  return found;
}

/** All nodes in these, and in the initializers of the names in them. */
function reached(roots: readonly Node[], declared: ReadonlyMap<string, readonly Node[]>): readonly Node[] {
  const seen = new Set<Node>();
  const pending = [...roots];
  for (let root = pending.pop(); root !== undefined; root = pending.pop()) {
    if (seen.has(root)) continue;
    for (const node of nodesIn([root])) {
      seen.add(node);
      if (node.type === "Identifier") pending.push(...(declared.get(node.name) ?? []));
    }
  }
  return [...seen];
}

/** Excludes names of members. */
function nodesIn(roots: readonly Node[]): readonly Node[] {
  const nodes: Node[] = [];
  for (const root of roots) {
    walk(root, (visit) => {
      if (visit.node.type !== "Identifier" || isReference(visit)) nodes.push(visit.node);
    });
  }
  return nodes;
}

function isMember(node: Node, name: string): node is Extract<Node, { type: "Property" }> {
  return node.type === "Property" && node.key.type === "Identifier" && node.key.name === name;
}
