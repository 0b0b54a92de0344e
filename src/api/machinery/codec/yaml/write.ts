/** Serializes values as YAML, for clients that accept it. Parsing is in yaml.ts. */
import { Document, visit } from "yaml";
import type { Json } from "../../object.ts";
import { ESCAPED_CHARACTERS, isPlainText } from "./scalar.ts";

/**
 * One document in upstream's style: members sorted by name, lists not indented, long texts on one line, no aliases, and texts quoted that
 * would resolve to another type.
 */
export function writeYaml(value: Json): string {
  return written(value, ESCAPED_CHARACTERS);
}

/**
 * The same for a person who reads it, with escapes for what is invisible: marks of direction could make a value read as another
 * one. Joiners stay: scripts and emoji need them.
 */
export function writeVisibleYaml(value: Json): string {
  return written(value, INVISIBLE);
}

const INVISIBLE = new RegExp(`${ESCAPED_CHARACTERS.source}|[\\u061C\\u200B\\u200E\\u200F\\u202A-\\u202E\\u2066-\\u2069]`, "g");

function written(value: Json, characters: RegExp): string {
  const document = new Document(value, { sortMapEntries: true, aliasDuplicateObjects: false });
  // The package writes YAML 1.2, which resolves fewer words than go-yaml.
  visit(document, {
    Scalar(_key, node) {
      if (typeof node.value === "string" && (!isPlainText(node.value) || node.value.search(characters) !== -1)) node.type = "QUOTE_DOUBLE";
    },
  });
  // They are in double quotes.
  return document.toString({ indentSeq: false, lineWidth: 0 }).replaceAll(characters, escaped);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}`;
}
