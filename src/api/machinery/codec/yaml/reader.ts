/**
 * Parses YAML tokens to JSON values, by go-yaml's grammar and with its error messages. It has an explicit stack and builds the values
 * directly, so it can pause after any token (yaml.ts parses large documents in slices), needs no memory beyond the value, and runs in
 * linear time. Aliased values are shared, not copied, and rejected by go-yaml's measure once they would make a document much larger than it
 * is.
 */
import type { Json } from "../../object.ts";
import { setMember } from "../set-member.ts";
import { quoteGo } from "../go-text.ts";
import { MISTAKES_MAX } from "../json-parser.ts";
import { resolveScalar, YamlError, type YamlScalar } from "./scalar.ts";
import { YamlScanner, type Token, type TokenKind } from "./scanner.ts";

export interface ParsedYaml {
  readonly value: Json;
  /** `line 9: key "foo" already set in map`, at most MISTAKES_MAX. */
  readonly duplicates: readonly string[];
}

/** Half of JSON's limit (DEPTH_MAX): aliases share values, and later walks over them are recursive. */
const YAML_DEPTH_MAX = 500;
const TOO_DEEP = `yaml: exceeded max depth of ${YAML_DEPTH_MAX}`;

/**
 * Maximum tokens of one document. Each costs about a microsecond and may become a value, so this bounds both time and memory. The largest
 * known manifests, definitions of 1 MB, have about 100,000.
 */
export const WORDS_MAX = 200_000;
/** More than any manifest has. */
const ALIASES_MAX = 1_000;
const TOO_MANY_ALIASES = "yaml: document contains excessive aliasing";

/** Maximum members that merge keys copy: with aliases a small document could demand millions. */
const MERGED_MAX = 20_000;

const DEFAULT_TAGS: ReadonlyMap<string, string> = new Map([
  ["!", "!"],
  ["!!", "tag:yaml.org,2002:"],
]);

/** A complete value. */
interface Node {
  readonly value: Json;
  /** Nodes in it, with aliases expanded. */
  readonly size: number;
  /** Nesting of its collections. */
  readonly depth: number;
  readonly line: number;
  /** It is the key `<<`. */
  readonly merges?: boolean;
}

interface Collection {
  readonly kind: "block sequence" | "indentless sequence" | "[" | "block mapping" | "{" | "pair";
  /** Its start. */
  readonly line: number;
  readonly anchor: string | undefined;
  readonly items: Json[];
  readonly members: Record<string, Json>;
  /** Keys so far: 1 and "1" are different. */
  readonly seen: Set<YamlScalar>;
  key: Node | undefined;
  expects: "key" | "value";
  isEmpty: boolean;
  size: number;
  depth: number;
}

export interface YamlReaderOptions {
  /** go-yaml reports the line before the one where its parser stops; false: the line itself. */
  readonly goLines: boolean;
}

export class YamlReader {
  readonly #scanner: YamlScanner;
  readonly #options: YamlReaderOptions;
  readonly #stack: Collection[] = [];
  #anchors = new Map<string, Node | "unfinished">();
  #tags = new Map(DEFAULT_TAGS);
  #duplicates: string[] = [];
  #place: "before a document" | "in a document" | "after a document" = "before a document";
  #isFirst = true;
  #result: Node | undefined;
  #words = 0;
  #aliases = 0;
  #nodes = 0;
  #nodesFromAliases = 0;
  #merged = 0;

  constructor(text: string, options: YamlReaderOptions) {
    this.#scanner = new YamlScanner(text);
    this.#options = options;
  }

  /** Parses at most about this many tokens. Returns true if a document is complete or the text has ended. Throws a YamlError. */
  advance(tokensMax: number): boolean {
    const end = this.#words + tokensMax;
    if (this.#place !== "in a document" && !this.#startDocument()) return true;
    while (this.#words < end) {
      const collection = this.#stack.at(-1);
      if (collection !== undefined) this.#step(collection);
      else if (this.#result === undefined) this.#startContent();
      else return this.#endDocument();
    }
    return false;
  }

  /** The completed document; undefined: there is no other. Resets the state of one document. */
  take(): ParsedYaml | undefined {
    if (this.#result === undefined) return undefined;
    const { value } = this.#result;
    const duplicates = this.#duplicates;
    this.#result = undefined;
    this.#duplicates = [];
    this.#anchors = new Map();
    this.#words = this.#aliases = this.#nodes = this.#nodesFromAliases = this.#merged = 0;
    return { value, duplicates };
  }

  // ── documents ──

  /** False: none exists. */
  #startDocument(): boolean {
    if (!this.#isFirst) while (this.#peek() === "document end") this.#take();
    this.#tags = new Map(DEFAULT_TAGS);
    const isExplicit = !this.#isFirst || this.#peek() === "directive" || this.#peek() === "document start";
    if (this.#peek() === "end of stream") return false;
    while (this.#peek() === "directive") this.#readDirective(this.#take());
    if (isExplicit) {
      if (this.#peek() !== "document start") throw this.#fail("did not find expected <document start>");
      this.#take();
    }
    this.#place = "in a document";
    this.#isFirst = false;
    return true;
  }

  #readDirective({ text, line }: Token): void {
    const [name, handle = "", prefix = ""] = text.split(/[ \t]+/);
    if (name === "%TAG") this.#tags.set(handle, prefix);
    else if (name !== "%YAML") throw new YamlError(`yaml: ${line === 0 ? "" : `line ${line + 1}: `}found unknown directive name`);
  }

  #startContent(): void {
    const kind = this.#peek();
    const isNone = kind === "directive" || kind === "document start" || kind === "document end" || kind === "end of stream";
    if (isNone) this.#complete(this.#nothing());
    else this.#node({ isBlock: true });
  }

  #endDocument(): true {
    if (this.#peek() === "document end") this.#take();
    this.#place = "after a document";
    return true;
  }

  // ── collections ──

  #step(collection: Collection): void {
    switch (collection.kind) {
      case "block sequence":
      case "indentless sequence":
        return this.#blockSequence(collection);
      case "[":
        return this.#flowSequence(collection);
      case "block mapping":
        return collection.expects === "key" ? this.#blockKey(collection) : this.#blockValue();
      case "{":
        return collection.expects === "key" ? this.#flowKey(collection) : this.#flowValue("}");
      case "pair":
        return this.#pair(collection);
    }
  }

  #blockSequence({ kind, line }: Collection): void {
    const isIndentless = kind === "indentless sequence";
    if (this.#peek() === "-") {
      this.#take();
      const next = this.#peek();
      const isAbsent = next === "-" || next === "block end" || (isIndentless && (next === "key" || next === "value"));
      return isAbsent ? this.#complete(this.#nothing()) : this.#node({ isBlock: true });
    }
    if (isIndentless) return this.#close();
    if (this.#peek() !== "block end") throw this.#fail("did not find expected '-' indicator", line);
    this.#take();
    this.#close();
  }

  #blockKey({ line }: Collection): void {
    if (this.#peek() === "block end") {
      this.#take();
      return this.#close();
    }
    if (this.#peek() !== "key") throw this.#fail("did not find expected key", line);
    this.#take();
    this.#blockNodeOrNothing();
  }

  #blockValue(): void {
    if (this.#peek() !== "value") return this.#complete(this.#nothing());
    this.#take();
    this.#blockNodeOrNothing();
  }

  #blockNodeOrNothing(): void {
    const next = this.#peek();
    if (next === "key" || next === "value" || next === "block end") this.#complete(this.#nothing());
    else this.#node({ isBlock: true, mayBeIndentless: true });
  }

  #flowSequence(collection: Collection): void {
    if (!this.#nextOfFlow(collection, "]")) return this.#close();
    if (this.#peek() !== "key") return this.#node({ isBlock: false });
    const { line } = this.#take();
    this.#open("pair", { line, anchor: undefined });
  }

  #flowKey(collection: Collection): void {
    if (!this.#nextOfFlow(collection, "}")) return this.#close();
    if (this.#peek() !== "key") return this.#node({ isBlock: false });
    this.#take();
    const next = this.#peek();
    if (next === "value" || next === "," || next === "}") this.#complete(this.#nothing());
    else this.#node({ isBlock: false });
  }

  /** Consumes the comma before an entry, or the closing bracket: then it returns false. */
  #nextOfFlow(collection: Collection, end: "]" | "}"): boolean {
    if (this.#peek() !== end && !collection.isEmpty) {
      if (this.#peek() !== ",") throw this.#fail(`did not find expected ',' or '${end}'`, collection.line);
      this.#take();
    }
    collection.isEmpty = false;
    if (this.#peek() !== end) return true;
    this.#take();
    return false;
  }

  #flowValue(end: "]" | "}"): void {
    if (this.#peek() !== "value") return this.#complete(this.#nothing());
    this.#take();
    const next = this.#peek();
    if (next === "," || next === end) this.#complete(this.#nothing());
    else this.#node({ isBlock: false });
  }

  /** `[a: b]` is a list of a map. */
  #pair(collection: Collection): void {
    if (collection.expects === "value") return this.#flowValue("]");
    if (!collection.isEmpty) return this.#close();
    collection.isEmpty = false;
    const next = this.#peek();
    if (next === "value" || next === "," || next === "]") this.#complete(this.#nothing());
    else this.#node({ isBlock: false });
  }

  #open(kind: Collection["kind"], { line, anchor }: { readonly line: number; readonly anchor: string | undefined }): void {
    if (this.#stack.length >= YAML_DEPTH_MAX) throw new YamlError(TOO_DEEP);
    if (anchor !== undefined) this.#anchors.set(anchor, "unfinished");
    this.#nodes++;
    const none = { key: undefined, expects: "key", isEmpty: true, size: 1, depth: 0 } as const;
    this.#stack.push({ kind, line, anchor, items: [], members: {}, seen: new Set(), ...none });
  }

  #close(): void {
    const { kind, items, members, size, depth, line, anchor } = this.#stack.pop() as Collection;
    const isMap = kind === "block mapping" || kind === "{" || kind === "pair";
    const node = { value: isMap ? members : items, size, depth: depth + 1, line };
    if (anchor !== undefined) this.#anchors.set(anchor, node);
    this.#complete(node);
  }

  /** Adds a complete node to its parent. */
  #complete(node: Node): void {
    const parent = this.#stack.at(-1);
    if (parent === undefined) {
      this.#result = node;
      return;
    }
    parent.size += node.size;
    if (node.depth > parent.depth) parent.depth = node.depth;
    if (parent.kind === "block sequence" || parent.kind === "indentless sequence" || parent.kind === "[") {
      parent.items.push(node.value);
    } else if (parent.expects === "key") {
      parent.key = node;
      parent.expects = "value";
    } else {
      this.#put(parent, parent.key as Node, node);
      parent.expects = "key";
    }
  }

  #put(parent: Collection, key: Node, { value, line }: Node): void {
    if (key.merges === true) {
      const merged = mergedMembers(value);
      this.#merged += merged.length;
      if (this.#merged > MERGED_MAX) throw new YamlError(`yaml: exceeded max of ${MERGED_MAX} merged keys`);
      for (const [name, member] of merged) this.#putMember(parent, name, { value: member, line });
    } else {
      this.#putMember(parent, keyOf(key.value), { value, line });
    }
  }

  #putMember({ seen, members }: Collection, key: YamlScalar, { value, line }: { readonly value: Json; readonly line: number }): void {
    if (seen.has(key) && this.#duplicates.length < MISTAKES_MAX) {
      const shown = typeof key === "string" ? quoteGo(key) : String(key);
      this.#duplicates.push(`line ${line + 1}: key ${shown} already set in map`);
    }
    seen.add(key);
    setMember(members, String(key), value);
  }

  // ── nodes ──

  #node({ isBlock, mayBeIndentless = false }: { readonly isBlock: boolean; readonly mayBeIndentless?: boolean }): void {
    if (this.#peek() === "alias") return this.#alias(this.#take());
    const { line } = this.#scanner.peek();
    const { anchor, tag } = this.#properties(line);
    const kind = this.#peek();
    if (mayBeIndentless && kind === "-") return this.#open("indentless sequence", { line, anchor });
    if (kind === "scalar") return this.#scalar(this.#take(), { line, anchor, tag });
    if (kind === "[" || kind === "{" || (isBlock && (kind === "block sequence" || kind === "block mapping"))) {
      this.#take();
      return this.#open(kind, { line, anchor });
    }
    if (anchor === undefined && tag === undefined) throw this.#fail("did not find expected node content", line);
    this.#scalar({ kind: "scalar", line, text: "", isPlain: true }, { line, anchor, tag });
  }

  /** An anchor and a tag, in either order. */
  #properties(line: number): { readonly anchor: string | undefined; readonly tag: string | undefined } {
    let anchor: string | undefined;
    let tag: string | undefined;
    for (let property = 0; property < 2; property++) {
      if (this.#peek() === "anchor" && anchor === undefined) anchor = this.#take().text;
      else if (this.#peek() === "tag" && tag === undefined) tag = this.#tagOf(this.#take(), line);
      else break;
    }
    return { anchor, tag };
  }

  #tagOf({ text: handle, suffix = "", line }: Token, contextLine: number): string {
    if (handle === "") return suffix;
    const prefix = this.#tags.get(handle);
    if (prefix === undefined) throw this.#failAt(line, "found undefined tag handle", contextLine);
    return prefix + suffix;
  }

  #scalar(
    { text, isPlain = false }: Token,
    { line, anchor, tag }: { readonly line: number; readonly anchor: string | undefined; readonly tag: string | undefined },
  ): void {
    this.#nodes++;
    const merges = isPlain && tag === undefined && text === "<<";
    const node = { value: resolveScalar(text, { tag, isPlain }), size: 1, depth: 0, line, ...(merges ? { merges } : {}) };
    if (anchor !== undefined) this.#anchors.set(anchor, node);
    this.#complete(node);
  }

  #alias({ text: name, line }: Token): void {
    const target = this.#anchors.get(name);
    if (target === undefined) throw new YamlError(`yaml: unknown anchor '${name}' referenced`);
    if (target === "unfinished") throw new YamlError(`yaml: anchor '${name}' value contains itself`);
    if (this.#stack.length + target.depth > YAML_DEPTH_MAX) throw new YamlError(TOO_DEEP);
    this.#aliases++;
    this.#nodes += target.size;
    this.#nodesFromAliases += target.size;
    if (this.#aliases > ALIASES_MAX || isExcessive(this.#nodesFromAliases, this.#nodes)) throw new YamlError(TOO_MANY_ALIASES);
    const { value, size, depth } = target;
    this.#complete({ value, size, depth, line });
  }

  #nothing(): Node {
    this.#nodes++;
    return { value: null, size: 1, depth: 0, line: this.#lastLine };
  }

  // ── tokens ──

  /** Position of the last consumed token. */
  #lastLine = 0;

  #peek(): TokenKind {
    return this.#scanner.peek().kind;
  }

  #take(): Token {
    if (++this.#words > WORDS_MAX) throw new YamlError(`yaml: exceeded max of ${WORDS_MAX} words`);
    const token = this.#scanner.take();
    this.#lastLine = token.line;
    return token;
  }

  #fail(problem: string, contextLine = 0): YamlError {
    const { kind, line } = this.#scanner.peek();
    // The end of the text is at the beginning of the line after the last.
    return this.#failAt(kind === "end of stream" && !this.#options.goLines ? line - 1 : line, problem, contextLine);
  }

  #failAt(tokenLine: number, problem: string, contextLine: number): YamlError {
    const line = this.#options.goLines ? tokenLine || contextLine : tokenLine + 1;
    return new YamlError(line === 0 ? `yaml: ${problem}` : `yaml: line ${line}: ${problem}`);
  }
}

function keyOf(value: Json): YamlScalar {
  if (value === null) throw new YamlError("unsupported map key of type: %!s(<nil>), key: <nil>");
  if (typeof value === "object") throw new YamlError("yaml: invalid map key: it must be a text, a number or a boolean");
  return value;
}

/** In a list of maps the earlier ones win, so they are merged last. */
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

// Maximum share of aliases in a document: nearly all of a small one, a tenth of a large one. The numbers are go-yaml's.
const ALIASES_ALWAYS_ALLOWED = 100;
const NODES_ALWAYS_ALLOWED = 1_000;
const NODES_OF_SMALL = 400_000;
const NODES_OF_LARGE = 4_000_000;

function isExcessive(fromAliases: number, nodes: number): boolean {
  if (fromAliases <= ALIASES_ALWAYS_ALLOWED || nodes <= NODES_ALWAYS_ALLOWED) return false;
  const between = Math.min(1, Math.max(0, (nodes - NODES_OF_SMALL) / (NODES_OF_LARGE - NODES_OF_SMALL)));
  return fromAliases / nodes > 0.99 - 0.89 * between;
}
