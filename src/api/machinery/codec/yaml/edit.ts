/**
 * A YAML document that is a person's own, changed in a few places: whatever is not touched keeps its words, its order and its comments.
 * For files that several programs share, such as kubeconfigs: a map of members, some of them lists of maps that have a name each.
 * Scalars are kept as they are written; nothing decides here what `yes` means. Not here: reading values (yaml.ts), writing new ones (write.ts).
 */
import { type Document, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument, Scalar, visit, YAMLMap, YAMLSeq } from "yaml";
import { isPlainText, YamlError } from "./scalar.ts";

/** What can be put in: texts, maps of them, and lists of such maps. */
export interface TextMap {
  readonly [name: string]: string | TextMap | readonly TextMap[];
}

export class YamlDraft {
  readonly #document: Document;
  readonly #indentSeq: boolean;

  /** Throws a YamlError if it is not YAML, holds several documents, or is not a map. A text with nothing in it is an empty map. */
  constructor(text: string) {
    const lines = new LineCounter();
    // Without a schema of types every scalar is text, and is written again as it was.
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

  /** Undefined if there is none, or if it is no text. */
  text(member: string): string | undefined {
    return textOf(this.#map.get(member, true));
  }

  setText(member: string, value: string): void {
    this.#map.set(this.#nodeOf(member), this.#nodeOf(value));
  }

  /** Only if it is not there. */
  setTextIfMissing(member: string, value: string): void {
    if (!this.#map.has(member)) this.setText(member, value);
  }

  /** Of the entries of a list, in their order. */
  names(list: string): readonly string[] {
    const found = this.#map.get(list, true);
    return isSeq(found) ? found.items.flatMap((item) => nameOf(item) ?? []) : [];
  }

  /** The member `inner` of the entry of this name in a list. */
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

  /** All that the entry of this name has under `inner`, as plain values in which every scalar is text. */
  namedValue(list: string, name: string, inner: string): unknown {
    const found = this.#entry(list, name)?.get(inner, true);
    return isMap(found) ? found.toJS(this.#document) : undefined;
  }

  /** Sets what the entry of this name has under `inner`; the entry is made if there is none. `keep`: members of the old one that stay. */
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

  /** Whether there was one. */
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
      // An empty one is written as [], and what is added to it should not stay on that line.
      if (found.items.length === 0 && !this.#isFlow) found.flow = false;
      return found;
    }
    if (found !== undefined && !isNothing(found)) throw new YamlError(`"${list}" is not a list`);
    const made = new YAMLSeq(this.#document.schema);
    this.#map.set(this.#nodeOf(list), made);
    return made;
  }

  /** Whether the whole is written as JSON is. */
  get #isFlow(): boolean {
    return this.#map.flow === true;
  }

  #nodeOf(value: string | TextMap): Node {
    const node = this.#document.createNode(value) as Node;
    visit(node, {
      Scalar: (_key, scalar) => {
        // What another reader could take for a number or a boolean, and every word of a text that is written as JSON.
        if (typeof scalar.value === "string" && (this.#isFlow || !isPlainText(scalar.value))) scalar.type = Scalar.QUOTE_DOUBLE;
      },
    });
    return node;
  }
}

/** A list whose dashes stand to the right of its name. kubectl writes them below it. */
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
