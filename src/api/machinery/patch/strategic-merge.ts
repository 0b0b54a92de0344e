/**
 * Strategic merge patch: a merge patch that knows the type, so that lists can merge by key. The directives: `$patch` (replace or delete the
 * enclosing object), `$retainKeys` (all other members are removed), `$setElementOrder/<list>`, `$deleteFromPrimitiveList/<list>`. Upstream:
 * apimachinery's strategicpatch, as its API server calls it.
 *
 * Untouched parts are shared with the document, and added ones with the patch. Unknown fields are kept, also directives in parts that are
 * new as a whole: decoding drops or rejects them later.
 */
import { isObject, type Json, type JsonObject } from "../object.ts";
import type { ObjectSchema, Schema } from "../schema.ts";
import { badRequest } from "../status-error.ts";
import { isJsonList, memberOf, membersOf, ObjectEdit, sameOr, withoutNulls } from "./edit.ts";
import { checkWantedOrder, ORDER_DIRECTIVE, orderedListName, orderElements, splitOnce } from "./element-order.ts";
import { deleteScalars, hasObjects, mergeLists, type MergedList } from "./list-merge.ts";
import { unknownDirective, wrongArgument, wrongGoType } from "./patch-error.ts";
import { listRule, objectRule, type ListRule } from "./patch-schema.ts";

const RETAIN_KEYS_DIRECTIVE = "$retainKeys";
const DELETE_DIRECTIVE = "$deleteFromPrimitiveList";
const BAD_RETAIN_KEYS = "invalid patch format of retainKeys";

export function applyStrategicMergePatch(document: JsonObject, patch: JsonObject, schema: ObjectSchema): JsonObject {
  return mergeObjects(document, patch, schema);
}

/** Validates the body of a request as a strategic merge patch: an object, or upstream's error. Null changes nothing. */
export function strategicMergePatchOf(body: Json): JsonObject {
  if (body === null) return {};
  if (isObject(body)) return body;
  throw badRequest(wrongGoType(body, "map[string]interface {}"));
}

function mergeObjects(original: JsonObject, patch: JsonObject, schema: Schema): JsonObject {
  if (memberOf(patch, "$patch") !== undefined) return followPatchDirective(patch);
  const edit = new ObjectEdit(original);
  retainKeys(edit, patch);
  const ordered = setElementOrders(edit, patch, schema);
  for (const [name, value] of membersOf(patch)) {
    if (name === RETAIN_KEYS_DIRECTIVE || name.startsWith(ORDER_DIRECTIVE) || ordered.has(name)) continue;
    mergeMember(edit, { name, value }, schema);
  }
  return edit.result();
}

function followPatchDirective(patch: JsonObject): JsonObject {
  const { $patch: directive = null, ...others } = patch;
  if (directive === "replace") return others;
  if (directive === "delete") return {};
  throw unknownDirective(directive, patch);
}

/** Members that the directive does not list are removed; the patch may have no others itself. */
function retainKeys(edit: ObjectEdit, patch: JsonObject): void {
  const directive = memberOf(patch, RETAIN_KEYS_DIRECTIVE);
  if (directive === undefined) return;
  if (!isJsonList(directive)) throw badRequest(BAD_RETAIN_KEYS);
  const retained = new Set(directive);
  for (const [name, value] of membersOf(patch)) {
    if (value !== null && !isListDirective(name) && name !== RETAIN_KEYS_DIRECTIVE && !retained.has(name))
      throw badRequest(BAD_RETAIN_KEYS);
  }
  for (const name of edit.names()) if (!retained.has(name)) edit.delete(name);
}

function isListDirective(name: string): boolean {
  return name.startsWith(ORDER_DIRECTIVE) || name.startsWith(DELETE_DIRECTIVE);
}

/** Merges and orders all lists with a `$setElementOrder` in the patch; returns their names. */
function setElementOrders(edit: ObjectEdit, patch: JsonObject, schema: Schema): ReadonlySet<string> {
  const done = new Set<string>();
  for (const [directive, wanted] of membersOf(patch)) {
    if (!directive.startsWith(ORDER_DIRECTIVE)) continue;
    if (!isJsonList(wanted)) throw wrongArgument("list", wanted);
    const name = orderedListName(directive);
    const original = listOrFail(edit.get(name));
    const added = listOrFail(memberOf(patch, name));
    const rule = listRule(schema, name);
    checkWantedOrder(added ?? [], wanted, rule.mergeKey);
    if (original === undefined && added === undefined) continue;
    const merged = mergeForOrder(original, added, rule);
    const list = orderElements({ ...merged, original: original ?? [], patch: added ?? [], wanted }, rule);
    edit.set(name, sameOr(original ?? list, list));
    done.add(name);
  }
  return done;
}

function listOrFail(value: Json | undefined): readonly Json[] | undefined {
  if (value !== undefined && !isJsonList(value)) throw wrongArgument("list", value);
  return value;
}

function mergeForOrder(original: readonly Json[] | undefined, added: readonly Json[] | undefined, rule: ListRule): MergedList {
  if (original === undefined) return { list: listWithoutDirectives(added ?? []), serverOrder: [] };
  if (added === undefined) return { list: original, serverOrder: original };
  return rule.isMerged ? mergeListsBy(rule, original, added) : { list: added, serverOrder: original };
}

interface Member {
  readonly name: string;
  readonly value: Json;
}

function mergeMember(edit: ObjectEdit, { name, value }: Member, schema: Schema): void {
  if (name.startsWith(DELETE_DIRECTIVE)) return deleteFromList(edit, { name, value }, schema);
  const original = edit.get(name);
  if (value === null) edit.delete(name);
  else if (isObject(original) && isObject(value)) edit.set(name, mergeObjectMember(original, value, objectRule(schema, name)));
  else if (isJsonList(original) && isJsonList(value)) edit.set(name, mergeListMember(original, value, listRule(schema, name)));
  else setNew(edit, name, value);
}

function mergeObjectMember(original: JsonObject, patch: JsonObject, rule: ReturnType<typeof objectRule>): JsonObject {
  return rule.isReplaced ? patch : mergeObjects(original, patch, rule.schema);
}

function mergeListMember(original: readonly Json[], patch: readonly Json[], rule: ListRule): readonly Json[] {
  return rule.isMerged ? mergeListsBy(rule, original, patch).list : patch;
}

function mergeListsBy(rule: ListRule, original: readonly Json[], patch: readonly Json[]): MergedList {
  return mergeLists(original, patch, rule, (item, itemPatch) => mergeObjects(item, itemPatch, rule.items));
}

/** A new member, or one of another type. */
function setNew(edit: ObjectEdit, name: string, value: Json): void {
  const added = withoutDirectives(withoutNulls(value));
  if (added === undefined) edit.delete(name);
  else edit.set(name, added);
}

/** Applies to lists of any strategy. On null it removes the list, as upstream does. */
function deleteFromList(edit: ObjectEdit, { name: directive, value }: Member, schema: Schema): void {
  const [prefix, name] = splitOnce(directive);
  if (prefix !== DELETE_DIRECTIVE || name === undefined) throw badRequest("invalid patch format of primitive list");
  const original = edit.get(name);
  if (value === null) return edit.delete(name);
  if (!isJsonList(original) || !isJsonList(value) || original.length + value.length === 0) return;
  const rule = listRule(schema, name);
  edit.set(name, hasObjects(original, value) ? mergeListsBy(rule, original, value).list : deleteScalars(original, value));
}

/**
 * New values are taken unchanged, except that objects with a `$patch` are dropped, at any depth. Undefined: the value is such an object
 * itself.
 */
function withoutDirectives(value: Json): Json | undefined {
  if (isJsonList(value)) return listWithoutDirectives(value);
  if (!isObject(value)) return value;
  if (memberOf(value, "$patch") !== undefined) return undefined;
  const edit = new ObjectEdit(value);
  for (const [name, member] of membersOf(value)) {
    const kept = withoutDirectives(member);
    if (kept === undefined) edit.delete(name);
    else edit.set(name, kept);
  }
  return edit.result();
}

function listWithoutDirectives(list: readonly Json[]): readonly Json[] {
  return sameOr(
    list,
    list.map(withoutDirectives).filter((item) => item !== undefined),
  );
}
