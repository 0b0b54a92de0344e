/**
 * Maps the number literals of a JSON patch to their paths in the patched object, so that decoding still knows their spelling. It does not
 * follow moves, copies and shifted indexes: decoding compares the number at the path (decode.ts).
 */
import { pathText, type NumberLiterals } from "../codec/json-parser.ts";
import type { Json, JsonObject } from "../object.ts";

/** "[3].value.spec.replicas" */
const IN_VALUE = /^\[(\d+)\]\.value(?:\.(.*)|(\[.*))?$/;

export function jsonPatchLiterals(patch: Json, literals: NumberLiterals): NumberLiterals {
  const operations: readonly Json[] = Array.isArray(patch) ? (patch as readonly Json[]) : [];
  const moved = new Map<string, string>();
  for (const [path, literal] of literals) {
    const [, index, member, item = ""] = IN_VALUE.exec(path) ?? [];
    const pointer = index === undefined ? undefined : (operations[Number(index)] as JsonObject | null)?.["path"];
    if (typeof pointer !== "string") continue;
    const target = pathText(segmentsOf(pointer));
    moved.set(member === undefined ? target + item : `${target}.${member}`, literal);
  }
  return moved;
}

/** "/spec/containers/0/a~1b": numeric segments are taken as indexes, since members rarely have such names. */
function segmentsOf(pointer: string): (string | number)[] {
  const segments = pointer.split("/").slice(1);
  return segments.map((segment) => (/^\d+$/.test(segment) ? Number(segment) : segment.replaceAll("~1", "/").replaceAll("~0", "~")));
}
