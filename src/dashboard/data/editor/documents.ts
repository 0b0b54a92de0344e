/** The documents of a YAML text as values with the line of each member, and its mistakes by line. Pure. */
import { pathKey, yamlLines, type DocumentLines } from "../../../api/machinery/codec/yaml/lines.ts";
import { YamlError } from "../../../api/machinery/codec/yaml/scalar.ts";
import { parseYamlDocuments } from "../../../api/machinery/codec/yaml/yaml.ts";
import { isObject, type JsonObject } from "../../../api/machinery/object.ts";

export interface LineProblem {
  /** From 1. */
  readonly line: number;
  readonly message: string;
}

export interface EditedDocument {
  readonly value: JsonObject;
  /** The line of the member at the path, or of the nearest one around it. */
  lineOf(path: readonly (string | number)[]): number;
}

export interface EditedText {
  readonly documents: readonly EditedDocument[];
  readonly problems: readonly LineProblem[];
}

/** Documents without content are left out. */
export function readDocuments(text: string): EditedText {
  const problems: LineProblem[] = [];
  const documents: EditedDocument[] = [];
  const lines = yamlLines(text);
  try {
    for (const { value, duplicates } of parseYamlDocuments(new TextEncoder().encode(text))) {
      if (value === null) continue;
      problems.push(...duplicates.map((message) => problemOf(message)));
      const own = lines[documents.length];
      if (isObject(value)) documents.push({ value, lineOf: (path) => lineOf(own, path) });
      else problems.push({ line: own?.line ?? 1, message: "A document must be a map" });
    }
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    problems.push(problemOf(error.message));
  }
  return { documents, problems };
}

/** Of messages such as "yaml: line 3: mapping values are not allowed in this context". */
function problemOf(message: string): LineProblem {
  const found = /^(?:yaml: )?line (\d+): (.*)$/s.exec(message);
  return { line: Number(found?.[1] ?? 1), message: found?.[2] ?? message };
}

function lineOf(document: DocumentLines | undefined, path: readonly (string | number)[]): number {
  for (let length = path.length; length > 0; length--) {
    const line = document?.lines.get(pathKey(path.slice(0, length)));
    if (line !== undefined) return line;
  }
  return document?.line ?? 1;
}
