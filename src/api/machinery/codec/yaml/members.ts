/**
 * The members of a small YAML or JSON map with their lines, for files in which every mistake is reported with its line. A duplicate member
 * is returned twice: the caller decides what that means. Values are scalars or lists of scalars, by the common rules (scalar.ts).
 */
import { isMap, isScalar, isSeq, LineCounter, type Node, parseDocument, type Scalar } from "yaml";
import { resolveScalar, YamlError, type YamlScalar } from "./scalar.ts";

export interface YamlMember {
  readonly name: string;
  /** From 1. */
  readonly line: number;
  /** Undefined: nested deeper than a list of scalars. */
  readonly value: YamlScalar | readonly YamlScalar[] | undefined;
}

export interface YamlMembers {
  readonly members: readonly YamlMember[];
  /** Parts that do not have this form, each with its line. */
  readonly problems: readonly { readonly line: number; readonly problem: string }[];
}

export function readYamlMembers(text: string): YamlMembers {
  const lines = new LineCounter();
  const document = parseDocument(text, {
    schema: "failsafe",
    uniqueKeys: false,
    prettyErrors: false,
    lineCounter: lines,
    logLevel: "error",
  });
  const lineOf = (position: number | undefined): number => lines.linePos(position ?? 0).line;
  const problems = document.errors.map(({ code, message, pos }) => ({
    line: lineOf(pos[0]),
    problem: code === "MULTIPLE_DOCS" ? "It must be one document, and here another begins" : message,
  }));
  const { contents } = document;
  if (problems.length > 0 || contents === null || (isScalar(contents) && contents.value === "")) return { members: [], problems };
  if (!isMap(contents)) return { members: [], problems: [{ line: 1, problem: "It must be a map of names to values" }] };
  const members: YamlMember[] = [];
  for (const { key, value } of contents.items) {
    const line = lineOf((key as Node | null)?.range?.[0]);
    if (!isScalar(key)) problems.push({ line, problem: "A name must be a word" });
    else readMember(textOf(key), line, value);
  }
  return { members, problems };

  function readMember(name: string, line: number, node: unknown): void {
    try {
      members.push({ name, line, value: valueOf(node) });
    } catch (error) {
      if (!(error instanceof YamlError)) throw error;
      problems.push({ line, problem: error.message });
    }
  }
}

function valueOf(node: unknown): YamlMember["value"] {
  if (node === null || node === undefined) return null;
  if (isScalar(node)) return resolveScalar(textOf(node), { tag: node.tag, isPlain: node.type === "PLAIN" });
  if (!isSeq(node)) return undefined;
  const items = node.items.map(valueOf);
  return items.some((item) => Array.isArray(item) || item === undefined) ? undefined : (items as YamlScalar[]);
}

/** Without a schema of types every scalar is text. */
function textOf({ value }: Scalar): string {
  return typeof value === "string" ? value : "";
}
