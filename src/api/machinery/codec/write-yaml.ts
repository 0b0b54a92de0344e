/** Values as YAML, for clients that ask for it. What reads YAML is in yaml.ts. */
import { stringify } from "yaml";
import type { Json } from "../object.ts";

/**
 * One document, as upstream writes it: members in the order of their names, lists not indented, long texts on one line, no aliases, and
 * texts quoted that YAML 1.1 would take for something else.
 */
export function writeYaml(value: Json): string {
  return stringify(value, { version: "1.1", sortMapEntries: true, indentSeq: false, lineWidth: 0, aliasDuplicateObjects: false });
}
