/**
 * Time, chance and the outside are arguments: only `host` (and tests, and tools) may reach for the machine's own. This check
 * reads the syntax tree of all other rooms for the globals that would, also through globalThis or under another name. It sees
 * names, not types: what is handed in from outside and only looks like a clock passes, and should.
 */
import type { MemberExpression, Node } from "oxc-parser";
import { isPure, roomOf } from "./layers.ts";
import { isTestCode, type Source } from "./source/source.ts";
import { walk, type Visit } from "./source/walk.ts";

/** What may not be used, and what to use instead. */
const GLOBALS: Readonly<Record<string, string>> = {
  performance: "the Clock",
  setTimeout: "clock.sleep",
  setInterval: "clock.sleep",
  setImmediate: "clock.soon",
  queueMicrotask: "a promise, or clock.soon",
  clearTimeout: "an AbortSignal",
  clearInterval: "an AbortSignal",
  clearImmediate: "an AbortSignal",
  crypto: "the Random, or host for secrets",
  process: "an argument",
  console: "the Logger",
  fetch: "a transport from host",
  WebSocket: "a transport from host",
  require: "import",
  globalThis: "an argument",
  global: "an argument",
  self: "an argument",
  window: "an argument",
};

/** What may not be used only where there is no Node. */
const NODE_GLOBALS: Readonly<Record<string, string>> = { Buffer: "a Uint8Array" };

/** What may not be used of globals that are otherwise harmless. */
const MEMBERS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Date: { now: "clock.now" },
  Math: { random: "the Random" },
  AbortSignal: { timeout: "clock.sleep" },
};

/** `main` speaks to the process; the time and chance that it hands out still come from host. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = { main: ["process"] };

/** Rooms that are the machine's door, or run beside it. */
const EXEMPT = ["host", "testing"];

/** One sentence per use of the machine in a room that must not, with its file and line. */
export function purityViolations(sources: Iterable<Source>): string[] {
  return [...sources].flatMap((source) => {
    const room = roomOf(source.path.replace(/^src\//, "")) ?? "";
    if (EXEMPT.includes(room) || isTestCode(source.path)) return [];
    const allowed = [...(ALLOWED[room] ?? []), ...(isPure(room) ? [] : Object.keys(NODE_GLOBALS))];
    return usesOf(source, allowed).map(({ line, what, instead }) => `${source.path}:${line}: uses ${what}; ${room} takes ${instead}`);
  });
}

interface Use {
  readonly line: number;
  readonly what: string;
  readonly instead: string;
}

function usesOf(source: Source, allowed: readonly string[]): Use[] {
  const uses: Use[] = [];
  const own = declaredIn(source);
  walk(source.program, (visit) => {
    if (isOnlyType(visit)) return "skip";
    const use = useAt(visit);
    if (use !== undefined && !own.has(use.name) && !allowed.includes(use.name)) {
      uses.push({ line: source.lineAt(visit.node.start), what: use.what, instead: use.instead });
    }
    return undefined;
  });
  return uses;
}

function useAt(visit: Visit): (Omit<Use, "line"> & { readonly name: string }) | undefined {
  const { node, parent, field } = visit;
  if (node.type !== "Identifier" || !isReference(visit)) return undefined;
  const { name } = node;
  const globals = { ...GLOBALS, ...NODE_GLOBALS };
  if (Object.hasOwn(globals, name)) return { name, what: name, instead: globals[name] ?? "" };
  if (!Object.hasOwn(MEMBERS, name)) return undefined;
  const members = MEMBERS[name] ?? {};
  if (parent?.type === "MemberExpression" && field === "object") {
    const member = memberName(parent);
    if (member === undefined) return { name, what: `a computed member of ${name}`, instead: "a member by its name" };
    return Object.hasOwn(members, member) ? { name, what: `${name}.${member}`, instead: members[member] ?? "" } : undefined;
  }
  if (isHarmlessAlone(name, parent, field)) return undefined;
  const instead = Object.values(members)[0] ?? "";
  if (name === "Date" && parent?.type === "NewExpression") return { name, what: "new Date() without arguments", instead };
  if (name === "Date" && parent?.type === "CallExpression" && field === "callee") return { name, what: "Date()", instead };
  return { name, what: `${name} as a value, which hides what is used of it`, instead };
}

/** `new Date(ms)` and `x instanceof Date` read no clock. Everything else could be an alias: `const { now } = Date`. */
function isHarmlessAlone(name: string, parent: Node | undefined, field: string): boolean {
  if (parent?.type === "BinaryExpression" && parent.operator === "instanceof" && field === "right") return true;
  return name === "Date" && parent?.type === "NewExpression" && field === "callee" && parent.arguments.length > 0;
}

function memberName({ computed, property }: MemberExpression): string | undefined {
  if (!computed) return property.type === "Identifier" ? property.name : "";
  return property.type === "Literal" && typeof property.value === "string" ? property.value : undefined;
}

/** Whether an identifier stands for a value, and is not the name of a member, a key or a label. */
function isReference({ parent, field }: Visit): boolean {
  switch (parent?.type) {
    case "MemberExpression":
      return field === "object" || parent.computed;
    case "Property":
      // In `{ crypto }` key and value are the same identifier; it is seen as the value.
      return field === "value" || parent.computed;
    case "PropertyDefinition":
    case "MethodDefinition":
    case "AccessorProperty":
      return field === "value" || (field === "key" && parent.computed);
    case "LabeledStatement":
    case "BreakStatement":
    case "ContinueStatement":
    case "ExportSpecifier":
    case "MetaProperty":
      return false;
    default:
      return true;
  }
}

/** Wrappers that have an expression inside; all other nodes of TypeScript are types. */
const WITH_EXPRESSION = ["TSAsExpression", "TSSatisfiesExpression", "TSNonNullExpression", "TSTypeAssertion", "TSInstantiationExpression"];

function isOnlyType({ node }: Visit): boolean {
  return node.type.startsWith("TS") && !WITH_EXPRESSION.includes(node.type);
}

/** Names that the file declares itself and which therefore are not the globals. Hiding Date or Math is not accepted as an excuse. */
function declaredIn(source: Source): ReadonlySet<string> {
  const names = new Set<string>();
  walk(source.program, (visit) => {
    if (isOnlyType(visit)) return "skip";
    for (const pattern of bindingsOf(visit.node)) addNames(pattern, names);
    return undefined;
  });
  for (const name of Object.keys(MEMBERS)) names.delete(name);
  return names;
}

/** The patterns by which a node declares names. */
function bindingsOf(node: Node): readonly (Node | null)[] {
  switch (node.type) {
    case "VariableDeclarator":
    case "ClassDeclaration":
      return [node.id];
    case "FunctionDeclaration":
      return [node.id, ...node.params];
    case "FunctionExpression":
    case "ArrowFunctionExpression":
      return node.params;
    case "CatchClause":
      return [node.param];
    case "ImportSpecifier":
    case "ImportDefaultSpecifier":
    case "ImportNamespaceSpecifier":
      return [node.local];
    default:
      return [];
  }
}

function addNames(pattern: Node | null, names: Set<string>): void {
  switch (pattern?.type) {
    case "Identifier":
      names.add(pattern.name);
      break;
    case "ObjectPattern":
      for (const property of pattern.properties) addNames(property.type === "Property" ? property.value : property, names);
      break;
    case "ArrayPattern":
      for (const element of pattern.elements) addNames(element, names);
      break;
    case "AssignmentPattern":
      addNames(pattern.left, names);
      break;
    case "RestElement":
      addNames(pattern.argument, names);
      break;
    default:
      break;
  }
}
