/**
 * Where the numbers of a JSON patch end up, so that decoding the patched object can still see how they were spelt. It does not follow
 * moves, copies and shifted indexes: decoding compares the number that it finds (decode.ts).
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

/** "/spec/containers/0/a~1b": which segments are indexes is not known, but members are hardly called so. */
function segmentsOf(pointer: string): (string | number)[] {
  const segments = pointer.split("/").slice(1);
  return segments.map((segment) => (/^\d+$/.test(segment) ? Number(segment) : segment.replaceAll("~1", "/").replaceAll("~0", "~")));
}
