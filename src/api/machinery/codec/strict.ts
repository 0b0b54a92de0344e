/**
 * Handles unknown and duplicate fields by fieldValidation: Strict yields one error that lists them all, Warn a warning each, Ignore
 * nothing. Messages and order are upstream's, which tools compare.
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
  /** Duplicate fields of JSON. */
  readonly duplicates?: readonly string[];
  /** Duplicate keys of YAML: formatted messages. */
  readonly yamlDuplicates?: readonly string[];
  readonly unknownFields: readonly string[];
}

const NO_SENTENCES: readonly string[] = [];

/**
 * One message per mistake: `unknown field "spec.foo"`, `duplicate field "spec.replicas"`. Duplicate keys of YAML come first, in one message
 * of several lines.
 */
export function mistakeSentences({ body, schema, duplicates, yamlDuplicates = [], unknownFields }: FoundMistakes): readonly string[] {
  if (duplicates !== undefined && (duplicates.length > 0 || mayBeReordered(unknownFields))) {
    // Rare enough to parse the body again: only so both kinds are in document order, and parts that upstream does not inspect (unknown
    // fields, free-form values) are skipped.
    return parseExactly(decodeText(body), schema).mistakes.map(describeMistake);
  }
  if (unknownFields.length + yamlDuplicates.length === 0) return NO_SENTENCES;
  const unknown = unknownFields.map((path) => describeMistake({ what: "unknown", path }));
  return yamlDuplicates.length === 0 ? unknown : [yamlDuplicatesSentence(yamlDuplicates), ...unknown];
}

/** JavaScript moves members named like an index before all others. */
function mayBeReordered(paths: readonly string[]): boolean {
  return paths.length > 1 && paths.some((path) => /(^|\.)\d+($|[.[])/.test(path));
}

export function describeMistake({ what, path }: FieldMistake): string {
  return `${what} field ${quoteGo(path)}`;
}

const YAML_BEGINNING = "yaml: unmarshal errors:";

/** go-yaml's format of several errors. */
export function yamlDuplicatesSentence(duplicates: readonly string[]): string {
  return [YAML_BEGINNING, ...duplicates.map((line) => `  ${line}`)].join("\n");
}

/** The error message; bodies of create and update get a prefix (cannotBeHandled in body-error.ts). */
export function strictDecodingSentence(sentences: readonly string[]): string {
  return `strict decoding error: ${sentences.join(", ")}`;
}

/** Warn: one warning per message, and per line of YAML's. */
export function strictWarnings(sentences: readonly string[]): readonly string[] {
  return sentences.flatMap((sentence) => {
    const [beginning, ...lines] = sentence.split("\n");
    return beginning?.endsWith(YAML_BEGINNING) === true ? lines.map((line) => line.trim()) : [sentence];
  });
}

/** Prefix that distinguishes duplicate or unknown members of JSON patch operations from fields of the object. */
export function jsonPatchSentences(mistakes: readonly FieldMistake[]): readonly string[] {
  return mistakes.map((mistake) => `json patch ${describeMistake(mistake)}`);
}

/**
 * Strict, for JSON patch, merge patch and strategic merge: `sentences` are those of the patch and then those of the patched object; `shown`
 * is what upstream quotes (the patched object as JSON; for strategic merge the patch).
 */
export function strictPatchError(sentences: readonly string[], shown: string): StatusError {
  return patchError(strictDecodingSentence(sentences), shown);
}

/** The patched object cannot be decoded. */
export function patchError(message: string, shown: string): StatusError {
  const { type, field, body }: FieldError = invalid("patch", shown, message);
  // Without kind and name, as upstream.
  return new StatusError("Invalid", ` "" is invalid: ${field}: ${body}`, { details: { causes: [{ reason: type, message: body, field }] } });
}

/** Strict, for server-side apply: duplicate keys only; the merge itself rejects unknown fields. */
export function strictApplyError(yamlDuplicates: readonly string[]): StatusError {
  return badRequest(`error strict decoding YAML: error converting YAML to JSON: ${yamlDuplicatesSentence(yamlDuplicates)}`);
}
