/**
 * Edits a YAML document in place: untouched parts keep their spelling, order and comments. For files that several programs share, such as
 * kubeconfigs: a map of members, some of them lists of maps with a name each. Scalars are kept as written; `yes` is not interpreted here.
 * Not here: parsing values (yaml.ts), writing new ones (write.ts).
 */
import { type Document, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument, Scalar, visit, YAMLMap, YAMLSeq } from "yaml";
import { isPlainText, YamlError } from "./scalar.ts";

/** Values that can be set: texts, maps of them, and lists of such maps. */
export interface TextMap {
  readonly [name: string]: string | TextMap | readonly TextMap[];
}

export class YamlDraft {
  readonly #document: Document;
  readonly #indentSeq: boolean;

  /** Throws a YamlError if it is not YAML, has several documents, or is not a map. An empty text is an empty map. */
  constructor(text: string) {
    const lines = new LineCounter();
    // Without a schema of types every scalar is text, and is written unchanged.
    const document: Document = parseDocument(text, {
      ...{ schema: "failsafe", uniqueKeys: false, prettyErrors: false, lineCounter: lines, logLevel: "error" },
    });
    const [error] = document.errors;
    if (error !== undefined) throw new YamlError(`line ${lines.linePos(error.pos[0]).line}: ${error.message}`, { cause: error });
    this.#document = document;
    this.#indentSeq = INDENTED_LIST.test(text);
    if (isNothing(document.contents)) document.contents = new YAMLMap(document.schema);
    else if (!isMap(document.contents)) throw new YamlError("it is not a map of names to values");
  }

  /** Undefined if none exists, or if it is not text. */
  text(member: string): string | undefined {
    return textOf(this.#map.get(member, true));
  }

  setText(member: string, value: string): void {
    this.#map.set(this.#nodeOf(member), this.#nodeOf(value));
  }

  /** Only if it is absent. */
  setTextIfMissing(member: string, value: string): void {
    if (!this.#map.has(member)) this.setText(member, value);
  }

  /** Names of a list's entries, in order. */
  names(list: string): readonly string[] {
    const found = this.#map.get(list, true);
    return isSeq(found) ? found.items.flatMap((item) => nameOf(item) ?? []) : [];
  }

  /** The member `inner` of the named entry of a list. */
  named(list: string, name: string, inner: string): Readonly<Record<string, string>> | undefined {
    const found = this.#entry(list, name)?.get(inner, true);
    if (!isMap(found)) return undefined;
    return Object.fromEntries(
      found.items.flatMap(({ key, value }) => {
        const [member, text] = [textOf(key), textOf(value)];
        return member === undefined || text === undefined ? [] : [[member, text]];
      }),
    );
  }

  /** Everything under `inner` of the named entry, as plain values with every scalar as text. */
  namedValue(list: string, name: string, inner: string): unknown {
    const found = this.#entry(list, name)?.get(inner, true);
    return isMap(found) ? found.toJS(this.#document) : undefined;
  }

  /** Sets `inner` of the named entry; the entry is created if missing. `keep`: members of the old one that stay. */
  putNamed(list: string, name: string, inner: string, value: TextMap, { keep = [] }: { readonly keep?: readonly string[] } = {}): void {
    const entry = this.#entry(list, name);
    if (entry === undefined) {
      this.#listFor(list).items.push(this.#nodeOf({ [inner]: value, name }));
      return;
    }
    const before = entry.get(inner, true);
    const kept = isMap(before) ? before.items.filter(({ key }) => keep.includes(textOf(key) ?? "")) : [];
    const made = this.#nodeOf(value) as YAMLMap;
    made.items.push(...kept);
    entry.set(this.#nodeOf(inner), made);
  }

  /** Returns true if it existed. */
  removeNamed(list: string, name: string): boolean {
    const found = this.#map.get(list, true);
    if (!isSeq(found)) return false;
    const before = found.items.length;
    found.items = found.items.filter((item) => nameOf(item) !== name);
    return found.items.length < before;
  }

  toString(): string {
    return this.#document.toString({ indentSeq: this.#indentSeq, lineWidth: 0, flowCollectionPadding: true });
  }

  get #map(): YAMLMap {
    return this.#document.contents as YAMLMap;
  }

  #entry(list: string, name: string): YAMLMap | undefined {
    const found = this.#map.get(list, true);
    return isSeq(found) ? found.items.filter(isMap).find((item) => nameOf(item) === name) : undefined;
  }

  #listFor(list: string): YAMLSeq {
    const found = this.#map.get(list, true);
    if (isSeq(found)) {
      // An empty list is written as [], and added entries should not stay on that line.
      if (found.items.length === 0 && !this.#isFlow) found.flow = false;
      return found;
    }
    if (found !== undefined && !isNothing(found)) throw new YamlError(`"${list}" is not a list`);
    const made = new YAMLSeq(this.#document.schema);
    this.#map.set(this.#nodeOf(list), made);
    return made;
  }

  /** True if the document is in flow style (JSON). */
  get #isFlow(): boolean {
    return this.#map.flow === true;
  }

  #nodeOf(value: string | TextMap): Node {
    const node = this.#document.createNode(value) as Node;
    visit(node, {
      Scalar: (_key, scalar) => {
        // Quotes texts that another parser could read as a number or a boolean, and every text of a document in flow style.
        if (typeof scalar.value === "string" && (this.#isFlow || !isPlainText(scalar.value))) scalar.type = Scalar.QUOTE_DOUBLE;
      },
    });
    return node;
  }
}

/** A list whose dashes are indented. kubectl does not indent them. */
const INDENTED_LIST = /^[\w-]+:[ \t]*\n[ \t]+- /m;

function isNothing(node: unknown): boolean {
  if (node === null || node === undefined) return true;
  return isScalar(node) && node.type === Scalar.PLAIN && ["", "~", "null"].includes(String(node.value));
}

function nameOf(item: unknown): string | undefined {
  return isMap(item) ? textOf(item.get("name", true)) : undefined;
}

function textOf(node: unknown): string | undefined {
  return isScalar(node) && typeof node.value === "string" ? node.value : undefined;
}
