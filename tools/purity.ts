/**
 * Time, randomness and I/O are arguments: only `host` (and tests, and tools) may use the machine's own. This check searches the syntax
 * trees of all other rooms for such globals, also through globalThis or an alias. It checks names, not types: an argument that looks like a
 * clock is allowed.
 */
import type { MemberExpression, Node } from "oxc-parser";
import { isIn, isPure, roomOf } from "./layers.ts";
import { declarationsIn, isOnlyType, isReference } from "./source/names.ts";
import { isTestCode, type Source } from "./source/source.ts";
import { walk, type Visit } from "./source/walk.ts";

/** Forbidden globals, and the replacement of each. */
const GLOBALS: Readonly<Record<string, string>> = {
  performance: "the Clock",
  PerformanceMark: "the Clock",
  PerformanceObserver: "the Clock",
  // Their constructors read the clock.
  Event: "the Clock",
  CustomEvent: "the Clock",
  File: "the Clock",
  // Formats the current time by default, and depends on the machine's locale and time zone.
  Intl: "a format that follows from its arguments",
  setTimeout: "clock.sleep",
  setInterval: "clock.sleep",
  setImmediate: "clock.soon",
  queueMicrotask: "a promise, or clock.soon",
  MessageChannel: "clock.soon",
  clearTimeout: "an AbortSignal",
  clearInterval: "an AbortSignal",
  clearImmediate: "an AbortSignal",
  crypto: "the Random, or host for secrets",
  process: "an argument",
  console: "the Logger",
  fetch: "a transport from host",
  WebSocket: "a transport from host",
  EventSource: "a transport from host",
  BroadcastChannel: "a transport from host",
  Worker: "host",
  navigator: "an argument",
  localStorage: "an argument",
  sessionStorage: "an argument",
  require: "import",
  eval: "code that can be checked",
  Function: "code that can be checked",
  globalThis: "an argument",
  global: "an argument",
  self: "an argument",
  window: "an argument",
};

/** Forbidden only in rooms that must run without Node. */
const NODE_GLOBALS: Readonly<Record<string, string>> = {
  Buffer: "a Uint8Array",
  "import.meta": "an argument",
  __dirname: "an argument",
  __filename: "an argument",
};

/** Forbidden members of globals that are otherwise allowed. */
const MEMBERS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Date: { now: "clock.now" },
  Math: { random: "the Random" },
  AbortSignal: { timeout: "clock.sleep" },
  Atomics: { wait: "clock.sleep", waitAsync: "clock.sleep" },
};

/** Rooms that speak to this process (its user, its arguments); the time and randomness that they pass on still come from host. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  processes: ["process"],
  "cluster/home": ["process"],
  components: ["process"],
  cluster: ["process"],
  cli: ["process"],
  main: ["process"],
};

/** Rooms that are the door to the machine or the browser, or run beside it. */
const EXEMPT = ["host", "testing", "dashboard/web/page", "browser/host", "browser/web/page"];

/** One sentence per forbidden global, with its file and line. */
export function purityViolations(sources: Iterable<Source>): string[] {
  return [...sources].flatMap((source) => {
    const room = roomOf(source.path.replace(/^src\//, "")) ?? "";
    if (EXEMPT.some((exempt) => room === exempt || isIn(exempt, room)) || isTestCode(source.path)) return [];
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
  const isDeclared = declarationsIn(source);
  walk(source.program, (visit) => {
    const { node } = visit;
    if (isOnlyType(node)) return "skip";
    const name = nameOf(visit);
    if (name === undefined || allowed.includes(name)) return undefined;
    // Shadowing Date or Math is no excuse.
    const use = memberUse(name, visit) ?? (isDeclared(name, node.start) ? undefined : globalUse(name));
    if (use !== undefined) uses.push({ line: source.lineAt(node.start), ...use });
    return undefined;
  });
  return uses;
}

/** The name of a global value that a node refers to. */
function nameOf(visit: Visit): string | undefined {
  const { node } = visit;
  if (node.type === "MetaProperty") return `${node.meta.name}.${node.property.name}`;
  return node.type === "Identifier" && isReference(visit) ? node.name : undefined;
}

function globalUse(name: string): Omit<Use, "line"> | undefined {
  const globals = { ...GLOBALS, ...NODE_GLOBALS };
  return Object.hasOwn(globals, name) ? { what: name, instead: globals[name] ?? "" } : undefined;
}

function memberUse(name: string, { parent, field }: Visit): Omit<Use, "line"> | undefined {
  if (!Object.hasOwn(MEMBERS, name)) return undefined;
  const members = MEMBERS[name] ?? {};
  if (parent?.type === "MemberExpression" && field === "object") {
    const member = memberName(parent);
    if (member === undefined) return { what: `a computed member of ${name}`, instead: "a member by its name" };
    return Object.hasOwn(members, member) ? { what: `${name}.${member}`, instead: members[member] ?? "" } : undefined;
  }
  if (isHarmlessAlone(name, parent, field)) return undefined;
  const instead = Object.values(members)[0] ?? "";
  if (name === "Date" && parent?.type === "NewExpression") return { what: "new Date() without a plain argument", instead };
  if (name === "Date" && parent?.type === "CallExpression" && field === "callee") return { what: "Date()", instead };
  return { what: `${name} as a value, which hides the members in use`, instead };
}

/** `new Date(ms)` and `x instanceof Date` read no clock. Everything else could be an alias: `const { now } = Date`. */
function isHarmlessAlone(name: string, parent: Node | undefined, field: string): boolean {
  if (parent?.type === "BinaryExpression" && parent.operator === "instanceof" && field === "right") return true;
  if (name !== "Date" || parent?.type !== "NewExpression" || field !== "callee") return false;
  // `new Date(...[])` has an argument that may be empty.
  const first = parent.arguments[0];
  return first !== undefined && first.type !== "SpreadElement";
}

function memberName({ computed, property }: MemberExpression): string | undefined {
  if (!computed) return property.type === "Identifier" ? property.name : "";
  return property.type === "Literal" && typeof property.value === "string" ? property.value : undefined;
}
