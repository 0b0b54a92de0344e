/**
 * The line of every member of YAML documents, for messages about parts of a value. Values are parsed by yaml.ts; here only positions count,
 * so a document that does not parse has those before the mistake.
 */
import { isMap, isScalar, isSeq, LineCounter, parseAllDocuments, type Node } from "yaml";

export interface DocumentLines {
  /** First line of the document's content, from 1. */
  readonly line: number;
  /** By path, as `pathKey` writes it: the line of the member's name, or of a list's item. */
  readonly lines: ReadonlyMap<string, number>;
}

/** ["spec", "containers", "0"] as one text. */
export function pathKey(path: readonly (string | number)[]): string {
  return JSON.stringify(path.map(String));
}

/** Documents without content are left out, as in parseYamlDocuments their value is null. */
export function yamlLines(text: string): readonly DocumentLines[] {
  const counter = new LineCounter();
  const documents = parseAllDocuments(text, {
    ...{ schema: "failsafe", uniqueKeys: false, prettyErrors: false, lineCounter: counter, logLevel: "error" },
  });
  const lineOf = (node: unknown) => counter.linePos((node as Node | null)?.range?.[0] ?? 0).line;
  return [...documents].flatMap(({ contents }) => {
    if (contents === null || (isScalar(contents) && contents.source === "")) return [];
    const lines = new Map<string, number>();
    note(contents, [], lines, lineOf);
    return [{ line: lineOf(contents), lines }];
  });
}

function note(node: unknown, path: readonly string[], lines: Map<string, number>, lineOf: (node: unknown) => number): void {
  if (isMap(node))
    for (const { key, value } of node.items) {
      const name = isScalar(key) ? String(key.source ?? key.value) : "";
      lines.set(pathKey([...path, name]), lineOf(key));
      note(value, [...path, name], lines, lineOf);
    }
  else if (isSeq(node))
    for (const [index, item] of node.items.entries()) {
      lines.set(pathKey([...path, index]), lineOf(item));
      note(item, [...path, String(index)], lines, lineOf);
    }
}
