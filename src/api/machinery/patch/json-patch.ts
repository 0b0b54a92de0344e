/**
 * JSON patch (RFC 6902) with the quirks of the library that upstream uses, since real patches rely on them: an index may be negative and
 * counts from the end, `replace` of a missing member adds it, `add` without a value adds null, `copy` of a missing member copies null, and
 * text before the first slash of a path is ignored.
 *
 * The document is not modified: containers on the path to a change are copied once per patch, everything else is shared.
 */
import { deepClone, deepEqual } from "../../../base/deep.ts";
import { jsonByteLength } from "../../../base/json-size.ts";
import { isObject, type Json, type JsonObject } from "../object.ts";
import { badRequest, tooLarge } from "../status-error.ts";
import { isJsonList, memberOf } from "./edit.ts";
import { doesNotFit, jsonType, wrongGoType } from "./patch-error.ts";

/** Upstream's limit: each operation may copy a whole list. */
export const JSON_PATCH_OPERATIONS_MAX = 10_000;

/** Upstream's limit on the total size of all `copy` of one patch: copies of copies grow exponentially. */
export const JSON_PATCH_COPY_BYTES_MAX = 3 * 1024 * 1024;

/**
 * Maximum number of list items that all operations of one patch may shift, so that operations times length cannot block the event loop:
 * about 30 ms, or 20 items inserted at the front of a list of a million. Upstream has no such limit.
 */
export const JSON_PATCH_MOVED_ITEMS_MAX = 20_000_000;

interface Operation {
  readonly op: string | undefined;
  readonly path: string | undefined;
  readonly from: string | undefined;
  readonly value: Json | undefined;
}

export function applyJsonPatch(document: Json, patch: Json): Json {
  const operations = decodeOperations(patch);
  if (operations.length > JSON_PATCH_OPERATIONS_MAX) {
    throw tooLarge(`The allowed maximum operations in a JSON patch is ${JSON_PATCH_OPERATIONS_MAX}, got ${operations.length}`);
  }
  const draft = new Draft(document);
  for (const operation of operations) applyOperation(draft, operation);
  return draft.root;
}

const OPERATION_FIELDS: readonly string[] = ["op", "path", "from", "value"];

/** Strict field validation: returns one message per unknown field of the operations. */
export function unknownJsonPatchFields(patch: Json): string[] {
  if (!isJsonList(patch)) return [];
  return patch.flatMap((operation, index) => {
    const names = isObject(operation) ? Object.keys(operation) : [];
    return names.filter((name) => !OPERATION_FIELDS.includes(name)).map((name) => `json patch unknown field "[${index}].${name}"`);
  });
}

function decodeOperations(patch: Json): Operation[] {
  if (patch === null) return [];
  if (!isJsonList(patch)) throw badRequest(`error decoding patch: ${wrongGoType(patch, "[]handlers.jsonPatchOp")}`);
  return patch.map(decodeOperation);
}

function decodeOperation(operation: Json): Operation {
  if (operation !== null && !isObject(operation)) {
    throw badRequest(`error decoding patch: ${wrongGoType(operation, "handlers.jsonPatchOp")}`);
  }
  const members = operation ?? {};
  return { op: text(members, "op"), path: text(members, "path"), from: text(members, "from"), value: memberOf(members, "value") };
}

function text(operation: JsonObject, name: "op" | "path" | "from"): string | undefined {
  const value = memberOf(operation, name) ?? undefined;
  if (value === undefined || typeof value === "string") return value;
  throw badRequest(
    `error decoding patch: json: cannot unmarshal ${jsonType(value)} into Go struct field jsonPatchOp.${name} of type string`,
  );
}

function applyOperation(draft: Draft, { op, path, from, value }: Operation): void {
  switch (op) {
    case "add":
      return draft.add(needed(path, op, "path"), value ?? null);
    case "remove":
      return draft.remove(needed(path, op, "path"));
    case "replace":
      return draft.replace(needed(path, op, "path"), value ?? null);
    case "move":
      return draft.move(needed(from, op, "from"), needed(path, op, "path"));
    case "copy":
      return draft.copy(needed(from, op, "from"), needed(path, op, "path"));
    case "test":
      return draft.test(needed(path, op, "path"), value ?? null);
    default:
      throw doesNotFit(`Unexpected kind: ${op ?? "unknown"}`);
  }
}

function needed(pointer: string | undefined, op: string, field: "path" | "from"): string {
  if (pointer === undefined) throw doesNotFit(`${op} operation failed to decode ${field}: missing value`);
  return pointer;
}

type Members = Record<string, Json | undefined>;

/** The target of a path: the list or object that holds its last segment. */
type Place = { readonly list: Json[]; readonly key: string } | { readonly members: Members; readonly key: string };

/** The document while it is patched. */
class Draft {
  root: Json;
  /** Containers that this patch created and that occur once: they may be modified in place. */
  readonly #owned = new Set<Json>();
  #copiedBytes = 0;
  #movedItems = 0;

  constructor(document: Json) {
    this.root = document;
  }

  add(path: string, value: Json): void {
    const place = this.#open(path) ?? fail(`add operation does not apply: doc is missing path: "${path}"`, "missing value");
    this.#moved(addAt(place, value, `error in add for path: '${path}'`));
  }

  remove(path: string): void {
    const place = this.#open(path) ?? fail(`remove operation does not apply: doc is missing path: "${path}"`, "missing value");
    this.#moved(removeAt(place, `error in remove for path: '${path}'`));
  }

  replace(path: string, value: Json): void {
    if (path === "") {
      if (!isJsonList(value) && !isObject(value)) throw doesNotFit("replace operation value must be object or array");
      this.root = value;
      return;
    }
    const place = this.#open(path) ?? fail(`replace operation does not apply: doc is missing path: ${path}`, "missing value");
    if ("members" in place) return setMember(place.members, place.key, value);
    const index = indexIn(place.key, place.list.length);
    if (index === undefined) fail(`replace operation does not apply: doc is missing key: ${path}`, "missing value");
    place.list[index] = value;
  }

  move(from: string, path: string): void {
    const source = this.#open(from) ?? fail(`move operation does not apply: doc is missing from path: ${from}`, "missing value");
    const value = readAt(source, `error in move for path: '${source.key}'`);
    this.#moved(removeAt(source, `error in move for path: '${source.key}'`));
    const target = this.#open(path) ?? fail(`move operation does not apply: doc is missing destination path: ${path}`, "missing value");
    this.#moved(addAt(target, value ?? null, `error in move for path: '${path}'`));
  }

  copy(from: string, path: string): void {
    const source = this.#find(from) ?? fail(`copy operation does not apply: doc is missing from path: ${from}`, "missing value");
    const value = readAt(source, `error in copy for from: '${from}'`) ?? null;
    const target = this.#open(path) ?? fail(`copy operation does not apply: doc is missing destination path: ${path}`, "missing value");
    this.#copiedBytes += jsonByteLength(value);
    if (this.#copiedBytes > JSON_PATCH_COPY_BYTES_MAX) {
      fail(
        "Unable to complete the copy, the accumulated size increase of copy is " +
          `${this.#copiedBytes}, exceeding the limit ${JSON_PATCH_COPY_BYTES_MAX}`,
      );
    }
    // A deep copy, within the limit: a shared value could not be modified in place any more.
    this.#moved(addAt(target, deepClone(value), "error while adding value during copy"));
  }

  test(path: string, expected: Json): void {
    const actual = path === "" ? this.root : this.#valueToTest(path);
    if (!deepEqual(actual ?? null, expected)) fail(`testing value ${path} failed`, "test failed");
  }

  #moved(items: number): void {
    this.#movedItems += items;
    if (this.#movedItems > JSON_PATCH_MOVED_ITEMS_MAX) {
      throw tooLarge(`The allowed maximum of list items that a JSON patch moves is ${JSON_PATCH_MOVED_ITEMS_MAX}, got ${this.#movedItems}`);
    }
  }

  #valueToTest(path: string): Json | undefined {
    const place = this.#find(path) ?? fail(`test operation does not apply: is missing path: ${path}`, "missing value");
    return readAt(place, `error in test for path: '${path}'`);
  }

  /** For reading only. */
  #find(path: string): Place | undefined {
    const steps = stepsOf(path);
    if (steps === undefined) return undefined;
    const [parents, key] = steps;
    let container: Json | undefined = this.root;
    for (const step of parents) container = childOf(container, step);
    return placeIn(container, key);
  }

  /** For writing: all containers on the path are the draft's own afterwards. */
  #open(path: string): Place | undefined {
    const steps = stepsOf(path);
    if (steps === undefined) return undefined;
    const [parents, key] = steps;
    let container = (this.root = this.#own(this.root));
    for (const step of parents) {
      const child = childOf(container, step);
      if (child === undefined) return undefined;
      const owned = this.#own(child);
      if (owned !== child) setChild(container, step, owned);
      container = owned;
    }
    return placeIn(container, key);
  }

  #own(value: Json): Json {
    if (typeof value !== "object" || value === null || this.#owned.has(value)) return value;
    const copy = isJsonList(value) ? [...value] : { ...value };
    this.#owned.add(copy);
    return copy;
  }
}

/** "/a~1b/0" → ["a/b"] and "0". Undefined if there is no slash at all. */
function stepsOf(path: string): [parents: string[], key: string] | undefined {
  const [, ...steps] = path.split("/").map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
  const key = steps.pop();
  return key === undefined ? undefined : [steps, key];
}

function childOf(container: Json | undefined, step: string): Json | undefined {
  if (isObject(container)) return memberOf(container, step);
  if (!isJsonList(container)) return undefined;
  const index = indexIn(step, container.length);
  return index === undefined ? undefined : container[index];
}

/** Requires an existing segment and a container that is the draft's own. */
function setChild(container: Json, step: string, child: Json): void {
  if (isJsonList(container)) (container as Json[])[indexIn(step, container.length) ?? 0] = child;
  else setMember(container as Members, step, child);
}

function placeIn(container: Json | undefined, key: string): Place | undefined {
  if (isJsonList(container)) return { list: container as Json[], key };
  return isObject(container) ? { members: container, key } : undefined;
}

function readAt(place: Place, context: string): Json | undefined {
  if ("members" in place) return memberOf(place.members, place.key);
  return place.list[indexIn(place.key, place.list.length) ?? failAtIndex(place.key, context)];
}

/** Returns how many list items were shifted. */
function addAt(place: Place, value: Json, context: string): number {
  if ("members" in place) {
    setMember(place.members, place.key, value);
    return 0;
  }
  const length = place.list.length;
  // One more position than there are items: after the last.
  const index = (place.key === "-" ? length : indexIn(place.key, length + 1)) ?? failAtIndex(place.key, context);
  place.list.splice(index, 0, value);
  return length - index;
}

/** Returns how many list items were shifted. */
function removeAt(place: Place, context: string): number {
  if ("list" in place) {
    const index = indexIn(place.key, place.list.length) ?? failAtIndex(place.key, context);
    place.list.splice(index, 1);
    return place.list.length - index;
  }
  if (memberOf(place.members, place.key) === undefined) {
    fail(`${context}: Unable to remove nonexistent key: ${place.key}`, "missing value");
  }
  delete place.members[place.key];
  return 0;
}

function setMember(members: Members, name: string, value: Json): void {
  // A plain assignment to "__proto__" would set the prototype.
  Object.defineProperty(members, name, { value, enumerable: true, configurable: true, writable: true });
}

/** The index that a segment names in a list of this length. Negative ones count from the end. */
function indexIn(step: string, length: number): number | undefined {
  if (!/^[+-]?\d+$/.test(step)) return undefined;
  const given = Number(step);
  const index = given < 0 ? given + length : given;
  return index >= 0 && index < length ? index : undefined;
}

function failAtIndex(key: string, context: string): never {
  return fail(`${context}: Unable to access invalid index: ${key}`, "invalid index referenced");
}

function fail(...sentence: readonly string[]): never {
  throw doesNotFit(sentence.join(": "));
}
