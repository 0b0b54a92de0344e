/**
 * JSON merge patch (RFC 7386): members of the patch replace members of the document, null removes, objects merge, lists are
 * taken whole. As upstream's library does, and beyond the RFC, members that are null are also dropped from objects inside of lists.
 * Upstream keeps them in one odd case, a list that takes the place of an object; here they go there too, so that applying a patch
 * twice is applying it once.
 */
import type { Json, JsonObject } from "../object.ts";
import { badRequest } from "../status-error.ts";
import { isJsonObject, membersOf, ObjectEdit, withoutNulls } from "./edit.ts";
import { wrongGoType } from "./patch-error.ts";

/** Any JSON on both sides, as in the RFC. What a request may send is narrower: see `mergePatchOf`. */
export function applyMergePatch(document: Json, patch: Json): Json {
  if (!isJsonObject(document) || !isJsonObject(patch)) return withoutNulls(patch);
  const edit = new ObjectEdit(document);
  for (const [name, value] of membersOf(patch)) {
    if (value === null) edit.delete(name);
    else edit.set(name, applyMergePatch(edit.get(name) ?? null, value));
  }
  return edit.result();
}

/** The body of a request as a merge patch: an object, or upstream's refusal. */
export function mergePatchOf(body: Json): JsonObject {
  if (isJsonObject(body)) return body;
  throw badRequest(body === null ? "Invalid JSON Patch" : `error decoding patch: ${wrongGoType(body, "map[string]interface {}")}`);
}
