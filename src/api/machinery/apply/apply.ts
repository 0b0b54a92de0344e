/**
 * Server-side apply: the applied object lists the fields that the manager wants, with their values. The manager becomes an owner of them;
 * fields that it owned before and no longer lists are removed, unless another manager owns them; fields that another manager owns with a
 * different value are a conflict, unless the apply is forced.
 *
 * The result is as the applier wrote it: the caller still normalizes zeros and nulls and sets defaults.
 */
import { deepEqual } from "../../../base/deep.ts";
import { isObject, type Json, type JsonObject } from "../object.ts";
import { apiVersionOf, parseApiVersion } from "../object.ts";
import type { ObjectSchema } from "../schema.ts";
import { badRequest, StatusError } from "../status-error.ts";
import { compareObjects } from "./compare.ts";
import { conflictError, type Conflict } from "./conflict.ts";
import { fieldsOf } from "./fields-of.ts";
import type { FieldSet } from "./field-set.ts";
import { withoutIgnored, type IgnoredFields } from "./ignored-fields.ts";
import { fieldsOfLastApplied, KUBECTL, withLastApplied } from "./last-applied.ts";
import { areSameButTimes, ManagedFields, trackUpdate, withoutUnowned, type FieldWriter } from "./managed-fields.ts";
import { mergeObjects } from "./merge.ts";
import { isSameOwner, Owner, type OwnerParts } from "./owner.ts";
import { prune, type Converter } from "./prune.ts";
import { reconciled } from "./remove.ts";
import { blankObject, isList } from "./shape.ts";
import { describeMistakes } from "./validate.ts";
import { changesByVersion, type Versions } from "./versions.ts";

export interface ApplyOptions {
  /** Of `writer.apiVersion`. */
  readonly schema: ObjectSchema;
  /** Undefined: the object does not exist. In the version of the writer, without managedFields. */
  readonly live: JsonObject | undefined;
  readonly liveManaged: ManagedFields;
  /** The body of the request, decoded but neither defaulted nor normalized. */
  readonly applied: JsonObject;
  readonly force: boolean;
  readonly writer: FieldWriter;
  readonly ignore?: IgnoredFields;
  /** For kinds that are served in several versions. */
  readonly versions?: Versions;
}

export interface Applied {
  /** `live` itself if nothing changed. */
  readonly object: JsonObject;
  /** `liveManaged` itself if neither the object nor any owner changed. */
  readonly managed: ManagedFields;
}

/** Throws a Conflict that names every field of another manager, unless `force`. */
export function applyConfiguration(options: ApplyOptions): Applied {
  const steps = applySteps(options);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** The same as a generator, for large configurations: the caller may yield to the event loop between steps. */
export function* applySteps(options: ApplyOptions): Generator<void, Applied> {
  checkApplied(options);
  yield;
  const live = options.live ?? blankObject(options.schema);
  const merged = yield* mergeApplied({ ...options, live });
  yield;
  const owners = takeApplied({ ...options, live }, merged, options.force);
  yield;
  const isChanged = options.live === undefined || !deepEqual(live, merged.object);
  const timed = isChanged
    ? owners.map((owner) => (isSameOwner(owner, merged.applier) ? owner.withTime(options.writer.time) : owner))
    : owners;
  const managed = ManagedFields.of(timed);
  const object = isChanged ? merged.object : live;
  return {
    object: options.writer.manager === KUBECTL ? withLastApplied(object, options.applied) : object,
    managed: !isChanged && areSameButTimes(managed, options.liveManaged) ? options.liveManaged : managed,
  };
}

function checkApplied({ applied, schema, writer }: ApplyOptions): void {
  const { apiVersion, kind, metadata } = applied;
  const isKind = schema.groupVersionKinds?.some((type) => apiVersionOf(type) === apiVersion && type.kind === kind) ?? true;
  if (apiVersion !== writer.apiVersion || !isKind) throw badRequest(`invalid object type: ${describeType(applied)}`);
  if (isObject(metadata) && isList(metadata["managedFields"])) throw badRequest("metadata.managedFields must be nil");
  const mistakes = describeMistakes(schema, applied);
  if (mistakes === undefined) return;
  const { namespace, name } = isObject(metadata) ? metadata : {};
  const what = `${textOr(namespace)}/${textOr(name)}; ${describeType(applied)}`;
  throw new StatusError("Unknown", `failed to create typed patch object (${what}): ${mistakes}`);
}

/** "apps/v1, Kind=Deployment"; the core group has nothing before the slash. */
function describeType({ apiVersion, kind }: JsonObject): string {
  const { group, version } = parseApiVersion(textOr(apiVersion)) ?? { group: "", version: textOr(apiVersion) };
  return `${group}/${version}, Kind=${textOr(kind)}`;
}

function textOr(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}

interface LiveOptions extends ApplyOptions {
  readonly live: JsonObject;
}

interface Merged {
  /** Without the fields that the applier gave up. */
  readonly object: JsonObject;
  /** With the fields that it applies now. */
  readonly applier: Owner;
  /** All other owners, in their order. */
  readonly others: readonly Owner[];
}

function* mergeApplied(options: LiveOptions): Generator<void, Merged> {
  const { schema, live, applied, writer, ignore } = options;
  const converter = converterOf(options);
  const before = ownersBefore(options).flatMap((owner) => {
    const type = converter.schemaFor(owner.apiVersion);
    return type === undefined ? [] : [owner.withFields(reconciled(type, owner.fields))];
  });
  yield;
  const parts = applierOf(writer);
  const last = before.find((owner) => isSameOwner(owner, parts));
  const applier = new Owner({ ...parts, time: last?.time }, withoutIgnored(fieldsOf(schema, applied), ignore));
  const others = before.filter((owner) => owner !== last);
  yield;
  const merged = mergeObjects(schema, live, applied);
  yield;
  return { object: prune({ merged, owners: [...others, applier], applier, last, converter }), applier, others };
}

function applierOf({ manager, apiVersion, subresource = "" }: FieldWriter): OwnerParts {
  return { manager, operation: "Apply", apiVersion, subresource, time: undefined };
}

/** Owner of the existing fields when the first apply meets an object without managedFields. */
const BEFORE_FIRST_APPLY = "before-first-apply";

function ownersBefore({ live, liveManaged, schema, writer, ignore }: LiveOptions): readonly Owner[] {
  if (!liveManaged.isEmpty) return liveManaged.owners();
  const create = { schema, previous: undefined, previousManaged: ManagedFields.none, next: live };
  return trackUpdate({
    ...create,
    writer: { ...writer, manager: BEFORE_FIRST_APPLY },
    ...(ignore === undefined ? {} : { ignore }),
  }).owners();
}

function converterOf({ schema, writer, versions }: ApplyOptions): Converter {
  return {
    schemaFor: (apiVersion) => (apiVersion === writer.apiVersion ? schema : versions?.schemaFor(apiVersion)),
    convert: (object, apiVersion) => versions?.convert(object, apiVersion) ?? object,
  };
}

/**
 * Returns the owners after the apply. Fields that the merged object changes are taken from the other owners, or are a conflict with them.
 */
function takeApplied(options: LiveOptions, { object, applier, others }: Merged, force: boolean): readonly Owner[] {
  const { schema, live } = options;
  const changeIn = changesByVersion(options, { previous: live, next: object, comparison: compareObjects(schema, live, object) });
  const conflicts: Conflict[] = [];
  const owners: Owner[] = [];
  for (const owner of others) {
    const change = changeIn(owner.apiVersion);
    if (change === undefined) continue;
    const taken = owner.fields.intersection(change.changed);
    if (!taken.isEmpty) conflicts.push({ owner, fields: taken });
    const left = owner.fields.difference(taken).difference(change.removed);
    if (!left.isEmpty) owners.push(owner.withFields(left));
  }
  if (!force) refuse(conflicts, options);
  const fields = withoutUnowned(applier.fields);
  return fields.isEmpty ? owners : [...owners, applier.withFields(fields)];
}

/** Throws if there are conflicts, other than those of kubectl with its own client-side apply. */
function refuse(conflicts: readonly Conflict[], { writer, schema, live }: LiveOptions): void {
  if (conflicts.length === 0) return;
  if (writer.manager !== KUBECTL) throw conflictError(conflicts);
  const own: FieldSet = fieldsOfLastApplied(schema, live, writer.apiVersion);
  const foreign = conflicts.map(({ owner, fields }) => ({ owner, fields: fields.difference(own) })).filter(({ fields }) => !fields.isEmpty);
  if (foreign.length > 0) throw conflictError(foreign);
}
