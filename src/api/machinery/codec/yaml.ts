/**
 * YAML to JSON values, as upstream's sigs.k8s.io/yaml reads it: the first document counts (or each, if they are asked for), merge keys are merged, keys become text,
 * and keys that repeat are reported with their line and the last one wins. A body that is JSON, which is what kubectl sends as YAML,
 * takes JSON's way. The npm package `yaml` takes the text apart; what words mean is decided here and in yaml-scalar.ts.
 * Not here: writing (write-yaml.ts).
 *
 * Nothing grows beyond the input: aliased values are shared, not copied, and refused by the same measure as upstream's once they
 * would make a document much larger than it is written. What is wrong is a YamlError; its place is exact, its words are the package's.
 */
import { Composer, type CST, isAlias, isMap, isScalar, isSeq, Lexer, LineCounter, type Node, Parser, type YAMLMap } from "yaml";
import type { Json } from "../object.ts";
import { quoteGo } from "./go-text.ts";
import { decodeText, isJsonSyntaxError, parseJson } from "./json.ts";
import { resolveScalar, YamlError, type YamlScalar } from "./yaml-scalar.ts";

export interface ParsedYaml {
  readonly value: Json;
  /** `line 9: key "foo" already set in map`. */
  readonly duplicates: readonly string[];
}

const OPEN_BRACE = 0x7b;

/** Throws a YamlError. */
export function parseYaml(bytes: Uint8Array): ParsedYaml {
  return parseAsJson(bytes) ?? parseText(decodeText(bytes));
}

/** Every document of a text, in order; of one that has nothing in it the value is null. Throws a YamlError at the first that is wrong. */
export function* parseYamlDocuments(bytes: Uint8Array): Generator<ParsedYaml, void> {
  const json = parseAsJson(bytes);
  if (json !== undefined) return yield json;
  const text = decodeText(bytes);
  const lines = new LineCounter();
  for (const document of compose(text, lines)) yield jsonIn(document, text) ?? convert(document, lines);
}

/** One that is written as JSON takes JSON's way here, too. */
function jsonIn({ contents, errors }: Composed, text: string): ParsedYaml | undefined {
  if (!isMap(contents) || !contents.range || errors.length > 0) return undefined;
  return parseAsJson(new TextEncoder().encode(text.slice(contents.range[0], contents.range[1])));
}

/** Undefined if it is not JSON, or if a key repeats: then its line must be told. */
function parseAsJson(bytes: Uint8Array): ParsedYaml | undefined {
  if (bytes[0] !== OPEN_BRACE) return undefined;
  try {
    const parsed = parseJson(bytes);
    return parsed.duplicates.length === 0 ? parsed : undefined;
  } catch (error) {
    if (isJsonSyntaxError(error)) return undefined;
    throw error;
  }
}

function parseText(text: string): ParsedYaml {
  const lines = new LineCounter();
  for (const document of compose(text, lines)) return convert(document, lines);
  return { value: null, duplicates: [] };
}

function convert(document: Composed, lines: LineCounter): ParsedYaml {
  const [error] = document.errors;
  if (error !== undefined) {
    const { line } = lines.linePos(error.pos[0]);
    throw new YamlError(`yaml: line ${line}: ${error.message}`, { cause: error });
  }
  const converter = new Converter(lines);
  const value = document.contents === null ? null : converter.node(document.contents, 0).value;
  return { value, duplicates: converter.duplicates };
}

function* compose(text: string, lines: LineCounter): Generator<Composed, void> {
  // Without a schema of types every scalar is text: what it means is decided here.
  const composer = new Composer({ schema: "failsafe", version: "1.1", uniqueKeys: false, prettyErrors: false, logLevel: "error" });
  try {
    yield* composer.compose(tokensOf(text, lines), true, text.length);
  } catch (error) {
    // The package composes recursively, and deep documents that pass the check below might still be too much for it.
    if (error instanceof RangeError) throw new YamlError(TOO_DEEP, { cause: error });
    throw error;
  }
}

type Composed = ReturnType<Composer["compose"]> extends Generator<infer Document> ? Document : never;

/** Half of what JSON may have (DEPTH_MAX): the package composes recursively, and needs more of the stack for each level. */
const YAML_DEPTH_MAX = 500;
const TOO_DEEP = `yaml: exceeded max depth of ${YAML_DEPTH_MAX}`;
/** What stands on the parser's stack besides collections: the document and a scalar. */
const STACK_EXTRA = 2;

/**
 * Words, marks and spaces between them. The package takes microseconds and hundreds of bytes for each, so without a limit a body that
 * is allowed by its size could hold up the server. The largest manifests known, definitions of 1 MB, have about 150,000.
 */
const WORDS_MAX = 200_000;
/** Each one costs as much as a word, but the first hundreds already are more than any manifest has. */
const ALIASES_MAX = 1_000;
/** Tags and anchors that stand in a row. A value has one of each, and so has the first key in it; the package looks at each with all others. */
const PROPERTIES_IN_A_ROW_MAX = 8;
const TOO_MANY_ALIASES = "yaml: document contains excessive aliasing";

/** Looks at what was read after every word, so that what is hostile is refused before much has been done for it. Limits are of a document. */
function* tokensOf(text: string, lines: LineCounter): Generator<CST.Token, void> {
  lines.addNewLine(0);
  const parser = new Parser(lines.addNewLine);
  let words = 0;
  let aliases = 0;
  let properties = 0;
  for (const word of new Lexer().lex(text)) {
    for (const token of parser.next(word)) {
      yield token;
      if (token.type === "document") words = aliases = 0;
    }
    if (parser.stack.length > YAML_DEPTH_MAX + STACK_EXTRA) throw new YamlError(TOO_DEEP);
    if (++words > WORDS_MAX) throw new YamlError(`yaml: exceeded max of ${WORDS_MAX} words`);
    if (word.startsWith("*") && ++aliases > ALIASES_MAX) throw new YamlError(TOO_MANY_ALIASES);
    if (isProperty(word)) properties++;
    else if (!isSpace(word)) properties = 0;
    if (properties > PROPERTIES_IN_A_ROW_MAX) throw new YamlError("yaml: too many tags and anchors in a row");
  }
  yield* parser.end();
}

/** Words that are scalars begin with a mark of the package's own, so these are no text. */
function isProperty(word: string): boolean {
  return word.startsWith("!") || word.startsWith("&");
}

function isSpace(word: string): boolean {
  return word.trim() === "" || word.startsWith("#");
}

interface Converted {
  readonly value: Json;
  /** Nodes in it, aliases counted as what they stand for. */
  readonly size: number;
  readonly depth: number;
}

type Key = YamlScalar;

class Converter {
  readonly duplicates: string[] = [];
  readonly #lines: LineCounter;
  readonly #anchors = new Map<string, Converted | "unfinished">();
  #nodes = 0;
  #nodesFromAliases = 0;

  constructor(lines: LineCounter) {
    this.#lines = lines;
  }

  node(node: Node, depth: number): Converted {
    if (isAlias(node)) return this.#alias(node.source, depth);
    const anchor = (node as { readonly anchor?: string }).anchor;
    if (anchor !== undefined) this.#anchors.set(anchor, "unfinished");
    this.#nodes++;
    const converted = this.#unaliased(node, depth);
    if (anchor !== undefined) this.#anchors.set(anchor, converted);
    return converted;
  }

  #unaliased(node: Node, depth: number): Converted {
    if (depth > YAML_DEPTH_MAX) throw new YamlError(TOO_DEEP);
    if (isMap(node)) return this.#map(node, depth);
    if (isSeq(node)) {
      const items = node.items.map((item) => this.#nodeOrNull(item, depth + 1));
      return collect(
        items.map(({ value }) => value),
        items,
      );
    }
    return { value: scalarOf(node), size: 1, depth: 0 };
  }

  #nodeOrNull(node: unknown, depth: number): Converted {
    return node === null || node === undefined ? { value: null, size: 1, depth: 0 } : this.node(node as Node, depth);
  }

  #alias(name: string, depth: number): Converted {
    const target = this.#anchors.get(name);
    if (target === undefined) throw new YamlError(`yaml: unknown anchor '${name}' referenced`);
    if (target === "unfinished") throw new YamlError(`yaml: anchor '${name}' value contains itself`);
    if (depth + target.depth > YAML_DEPTH_MAX) throw new YamlError(TOO_DEEP);
    this.#nodes += target.size;
    this.#nodesFromAliases += target.size;
    if (isExcessive(this.#nodesFromAliases, this.#nodes)) throw new YamlError(TOO_MANY_ALIASES);
    return target;
  }

  #map(map: YAMLMap, depth: number): Converted {
    const members = new Map<string, Json>();
    const seen = new Set<Key>();
    const parts: Converted[] = [];
    for (const { key: keyNode, value: valueNode } of map.items) {
      const value = this.#nodeOrNull(valueNode, depth + 1);
      parts.push(value);
      const line = this.#lineOf(valueNode) ?? this.#lineOf(keyNode) ?? 0;
      const put = (key: Key, member: Json) => this.#put(members, { seen, key, line }, member);
      if (isMergeKey(keyNode)) for (const [name, member] of mergedMembers(value.value)) put(name, member);
      else put(this.#key(keyNode), value.value);
    }
    return collect(Object.fromEntries(members), parts);
  }

  #put(
    members: Map<string, Json>,
    { seen, key, line }: { readonly seen: Set<Key>; readonly key: Key; readonly line: number },
    value: Json,
  ): void {
    if (seen.has(key)) this.duplicates.push(`line ${line}: key ${typeof key === "string" ? quoteGo(key) : String(key)} already set in map`);
    seen.add(key);
    members.set(String(key), value);
  }

  #key(node: unknown): Key {
    const { value } = this.#nodeOrNull(node, 0);
    if (value === null) throw new YamlError("unsupported map key of type: %!s(<nil>), key: <nil>");
    if (typeof value === "object") throw new YamlError("yaml: invalid map key: it must be a text, a number or a boolean");
    return value;
  }

  #lineOf(node: unknown): number | undefined {
    const offset = (node as Node | null)?.range?.[0];
    return offset === undefined ? undefined : this.#lines.linePos(offset).line;
  }
}

function collect(value: Json, parts: readonly Converted[]): Converted {
  let size = 1;
  let depth = 0;
  for (const part of parts) {
    size += part.size;
    if (part.depth >= depth) depth = part.depth + 1;
  }
  return { value, size, depth };
}

function scalarOf(node: Node): YamlScalar {
  if (!isScalar(node)) return null;
  const text = typeof node.value === "string" ? node.value : "";
  return resolveScalar(text, { tag: node.tag, isPlain: node.type === "PLAIN" || node.type === undefined });
}

function isMergeKey(node: unknown): boolean {
  return isScalar(node) && node.value === "<<" && node.type === "PLAIN";
}

/** Of a list of maps the earlier ones win, so they come last. */
function mergedMembers(value: Json): readonly (readonly [string, Json])[] {
  if (Array.isArray(value)) return (value as readonly Json[]).toReversed().flatMap(membersOf);
  return membersOf(value);
}

function membersOf(value: Json): readonly (readonly [string, Json])[] {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new YamlError("yaml: map merge requires map or sequence of maps as the value");
  }
  return Object.entries(value) as [string, Json][];
}

// How much of a document may come from aliases: nearly all of a small one, a tenth of a large one. The figures are go-yaml's.
const ALIASES_ALWAYS_ALLOWED = 100;
const NODES_ALWAYS_ALLOWED = 1_000;
const NODES_OF_SMALL = 400_000;
const NODES_OF_LARGE = 4_000_000;

function isExcessive(fromAliases: number, nodes: number): boolean {
  if (fromAliases <= ALIASES_ALWAYS_ALLOWED || nodes <= NODES_ALWAYS_ALLOWED) return false;
  const between = Math.min(1, Math.max(0, (nodes - NODES_OF_SMALL) / (NODES_OF_LARGE - NODES_OF_SMALL)));
  return fromAliases / nodes > 0.99 - 0.89 * between;
}
