/**
 * What becomes of fields that are unknown or given twice: under fieldValidation=Strict one refusal that names them all, under Warn a
 * warning each, under Ignore nothing. Sentences and order are upstream's, which tools compare.
 */
import { type FieldError, invalid } from "../field-error.ts";
import { badRequest, StatusError } from "../status-error.ts";
import type { ObjectSchema } from "../schema.ts";
import { quoteGo } from "./go-text.ts";
import { decodeText } from "./json.ts";
import { type FieldMistake, parseExactly } from "./json-parser.ts";

export type FieldValidation = "Strict" | "Warn" | "Ignore";

/** What parsing (json.ts, yaml.ts) and decoding (decode.ts) found in one body. */
export interface FoundMistakes {
  readonly body: Uint8Array;
  readonly schema: ObjectSchema;
  /** Of JSON. */
  readonly duplicates?: readonly string[];
  /** Of YAML: sentences already. */
  readonly yamlDuplicates?: readonly string[];
  readonly unknownFields: readonly string[];
}

const NO_SENTENCES: readonly string[] = [];

/**
 * One sentence per mistake: `unknown field "spec.foo"`, `duplicate field "spec.replicas"`. Repeated keys of YAML come first, in one
 * sentence of several lines.
 */
export function mistakeSentences({ body, schema, duplicates, yamlDuplicates = [], unknownFields }: FoundMistakes): readonly string[] {
  if (duplicates !== undefined && (duplicates.length > 0 || mayBeReordered(unknownFields))) {
    // Rare enough to read the body once more: only this way both kinds are in the order of the document, and what upstream
    // does not look into (unknown fields, values of any shape) is left out.
    return parseExactly(decodeText(body), schema).mistakes.map(describeMistake);
  }
  if (unknownFields.length + yamlDuplicates.length === 0) return NO_SENTENCES;
  const unknown = unknownFields.map((path) => describeMistake({ what: "unknown", path }));
  return yamlDuplicates.length === 0 ? unknown : [yamlDuplicatesSentence(yamlDuplicates), ...unknown];
}

/** JavaScript puts members that are called like an index before all others, wherever they stood in the document. */
function mayBeReordered(paths: readonly string[]): boolean {
  return paths.length > 1 && paths.some((path) => /(^|\.)\d+($|[.[])/.test(path));
}

export function describeMistake({ what, path }: FieldMistake): string {
  return `${what} field ${quoteGo(path)}`;
}

const YAML_BEGINNING = "yaml: unmarshal errors:";

/** As go-yaml puts its complaints together. */
export function yamlDuplicatesSentence(duplicates: readonly string[]): string {
  return [YAML_BEGINNING, ...duplicates.map((line) => `  ${line}`)].join("\n");
}

/** The sentence of a refusal; bodies of create and update get a beginning (cannotBeHandled in body-error.ts). */
export function strictDecodingSentence(sentences: readonly string[]): string {
  return `strict decoding error: ${sentences.join(", ")}`;
}

/** Warn: one warning per sentence, and per line of YAML's. */
export function strictWarnings(sentences: readonly string[]): readonly string[] {
  return sentences.flatMap((sentence) => {
    const [beginning, ...lines] = sentence.split("\n");
    return beginning?.endsWith(YAML_BEGINNING) === true ? lines.map((line) => line.trim()) : [sentence];
  });
}

/** Members of JSON patch operations that are repeated or unknown are told apart from the object's fields by two words. */
export function jsonPatchSentences(mistakes: readonly FieldMistake[]): readonly string[] {
  return mistakes.map((mistake) => `json patch ${describeMistake(mistake)}`);
}

/**
 * Strict, for JSON patch, merge patch and strategic merge: `sentences` are those of the patch and then those of the patched object;
 * `shown` is what upstream repeats (the patched object as JSON; for strategic merge the patch).
 */
export function strictPatchError(sentences: readonly string[], shown: string): StatusError {
  return patchError(strictDecodingSentence(sentences), shown);
}

/** The patched object cannot be decoded at all. */
export function patchError(message: string, shown: string): StatusError {
  const { type, field, body }: FieldError = invalid("patch", shown, message);
  // Of no kind and no name, as upstream has it.
  return new StatusError("Invalid", ` "" is invalid: ${field}: ${body}`, { details: { causes: [{ reason: type, message: body, field }] } });
}

/** Strict, for server-side apply: repeated keys only; unknown fields are refused by the merge itself. */
export function strictApplyError(yamlDuplicates: readonly string[]): StatusError {
  return badRequest(`error strict decoding YAML: error converting YAML to JSON: ${yamlDuplicatesSentence(yamlDuplicates)}`);
}
