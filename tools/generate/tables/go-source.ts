/**
 * Reads what the tables need from the Go sources of an API package: struct types with their tags and marker comments, other named types,
 * string constants. Line by line, since such files are always formatted by gofmt. Not a Go parser: it ignores everything else, and fails on
 * anything unknown in a struct.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export interface GoPackage {
  readonly path: string;
  readonly types: ReadonlyMap<string, GoType>;
  readonly textConstants: ReadonlyMap<string, string>;
  /** The constant GroupName of its register.go. */
  readonly group: string;
}

export interface GoType {
  readonly name: string;
  readonly markers: Markers;
  /** Absent: an alias of `underlying`. */
  readonly fields?: readonly GoField[];
  readonly underlying?: string;
  /** Import paths by local name. */
  readonly imports: ReadonlyMap<string, string>;
}

export interface GoField {
  readonly goType: string;
  readonly embedded: boolean;
  readonly markers: Markers;
  readonly tags: ReadonlyMap<string, string>;
}

/** `// +listType=map` is listType: ["map"]; a marker without a value has the value "". */
export type Markers = ReadonlyMap<string, readonly string[]>;

const NOT_WRITTEN_BY_HAND = /(_test|generated.*|\.pb)\.go$/;

export function readGoPackage(directory: string, path: string): GoPackage {
  const types = new Map<string, GoType>();
  const textConstants = new Map<string, string>();
  let group = "";
  for (const file of readdirSync(directory).sort()) {
    if (!file.endsWith(".go") || NOT_WRITTEN_BY_HAND.test(file)) continue;
    const text = readFileSync(join(directory, file), "utf8");
    for (const type of typesOf(text)) types.set(type.name, type);
    for (const [, name = "", value = ""] of text.matchAll(/^\t(\w+)(?:\s+\w+)?\s*=\s*"([^"]*)"/gm)) textConstants.set(name, value);
    group = /^const GroupName = "(.*)"/m.exec(text)?.[1] ?? group;
  }
  return { path, types, textConstants, group };
}

/** Exported for its test. */
export function typesOf(text: string): GoType[] {
  const imports = importsOf(text);
  const found: GoType[] = [];
  const lines = text.replace(/\/\*[^]*?\*\//g, "").split("\n");
  let comment: string[] = [];
  for (let index = 0; index < lines.length; index += 1) {
    const line = lines[index] ?? "";
    const [, name = "", underlying = ""] = /^type (\w+) =? ?(.+)$/.exec(line) ?? [];
    if (line.startsWith("//")) comment.push(line);
    else if (underlying === "struct {") {
      const end = lines.indexOf("}", index);
      found.push({ name, imports, markers: markersOf(comment), fields: fieldsOf(lines.slice(index + 1, end)) });
      index = end;
    } else if (underlying === "struct{}") {
      found.push({ name, imports, markers: markersOf(comment), fields: [] });
    } else if (name !== "") {
      found.push({ name, imports, markers: markersOf(comment), underlying: underlying.replace(/\s*(\/\/.*)?$/, "") });
    }
    // A marker may be in a comment that an empty line separates from the one above the type.
    if (line !== "" && !line.startsWith("//")) comment = [];
  }
  return found;
}

function importsOf(text: string): Map<string, string> {
  const block = /^import \(\n([^]*?)^\)/m.exec(text)?.[1] ?? /^import (.*)$/m.exec(text)?.[1] ?? "";
  const entries = [...block.matchAll(/^\s*(\w+ )?"([^"]+)"/gm)];
  return new Map(entries.map(([, alias, path = ""]) => [alias?.trim() ?? path.slice(path.lastIndexOf("/") + 1), path]));
}

function fieldsOf(lines: readonly string[]): GoField[] {
  const fields: GoField[] = [];
  let comment: string[] = [];
  for (const line of lines.map((text) => text.trim())) {
    if (line === "") comment = [];
    else if (line.startsWith("//")) comment.push(line);
    else {
      // Fields without tags are not serialized.
      if (line.includes("`")) fields.push(fieldOf(line, comment));
      comment = [];
    }
  }
  return fields;
}

function fieldOf(line: string, comment: readonly string[]): GoField {
  const [, declaration = "", tagText = ""] = /^([^`]*?)\s*(?:`([^`]*)`)?\s*(?:\/\/.*)?$/.exec(line) ?? [];
  const [first = "", second, ...more] = declaration.split(/\s+/);
  if (first === "" || more.length > 0)
    throw new Error(`Cannot read the Go field ${JSON.stringify(line)}: it should be a name, a type and tags`);
  const tags = new Map([...tagText.matchAll(/(\w+):"([^"]*)"/g)].map(([, key = "", value = ""]) => [key, value]));
  return { goType: second ?? first, embedded: second === undefined, markers: markersOf(comment), tags };
}

function markersOf(comment: readonly string[]): Markers {
  const markers = new Map<string, string[]>();
  for (const line of comment) {
    const [, name = "", value = ""] = /^\/\/\s*\+([\w:.-]+)=?(.*)$/.exec(line) ?? [];
    if (name !== "") markers.set(name, [...(markers.get(name) ?? []), value.trim()]);
  }
  return markers;
}
