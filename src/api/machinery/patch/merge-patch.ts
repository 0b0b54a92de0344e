/**
 * JSON merge patch (RFC 7386): members of the patch replace members of the document, null removes, objects merge, lists are replaced. As
 * upstream's library does, and beyond the RFC, null members are also dropped from objects inside of lists. Upstream keeps them in one odd
 * case, a list that replaces an object; here they are dropped there too, so that a patch is idempotent.
 */
import { isObject, type Json, type JsonObject } from "../object.ts";
import { badRequest } from "../status-error.ts";
import { membersOf, ObjectEdit, withoutNulls } from "./edit.ts";
import { wrongGoType } from "./patch-error.ts";

/** Any JSON on both sides, as in the RFC. Requests are restricted: see `mergePatchOf`. */
export function applyMergePatch(document: Json, patch: Json): Json {
  if (!isObject(document) || !isObject(patch)) return withoutNulls(patch);
  const edit = new ObjectEdit(document);
  for (const [name, value] of membersOf(patch)) {
    if (value === null) edit.delete(name);
    else edit.set(name, applyMergePatch(edit.get(name) ?? null, value));
  }
  return edit.result();
}

/** Validates the body of a request as a merge patch: an object, or upstream's error. */
export function mergePatchOf(body: Json): JsonObject {
  if (isObject(body)) return body;
  throw badRequest(body === null ? "Invalid JSON Patch" : `error decoding patch: ${wrongGoType(body, "map[string]interface {}")}`);
}
