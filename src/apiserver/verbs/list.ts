/**
 * Lists a resource at one revision, in pages if requested. All pages of one list show the same revision; when it is compacted the client
 * gets 410 and a token to continue at the newest revision.
 */
import { expired, StatusError } from "../../api/machinery/status-error.ts";
import { orderOf } from "../../store/key.ts";
import { isStoreError } from "../../store/store-error.ts";
import type { Endpoint } from "../framework/endpoints.ts";
import type { ObjectList } from "../framework/outcome.ts";
import type { ApiRequest } from "../framework/request.ts";
import type { ObjectName } from "../framework/storage/object-key.ts";
import { statusOfFailure, translated } from "../framework/storage/store-failure.ts";
import { prepareObjects } from "../framework/storage/prepared-objects.ts";
import { selectionOf, type Selection } from "../watch/selection.ts";
import { readContinueToken, writeContinueToken, type ContinueToken } from "./continue-token.ts";
import { checkListOptions, revisionOf, tooLargeRevision } from "./list-options.ts";
import type { ResourceStorage, Snapshot, StoredObject } from "../framework/storage/storage.ts";

/** Upstream's message, which clients and users know. */
const PAGE_EXPIRED =
  "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.";

export async function listObjects(endpoint: Endpoint, request: ApiRequest): Promise<ObjectList> {
  const { options } = request;
  checkListOptions(options, { isWatch: false });
  const selection = selectionOf(endpoint, request);
  const token = options.continue === undefined || options.continue === "" ? undefined : readContinueToken(options.continue);
  if (token !== undefined && (options.resourceVersion ?? "") !== "" && options.resourceVersion !== "0") {
    throw new StatusError("BadRequest", "specifying resource version is not allowed when using continue");
  }
  const snapshot = await snapshotOf(endpoint, request, { token, one: oneObject(endpoint, selection) });
  // Selectors apply to the objects in the version of the request, so all of them are converted.
  const preparing = prepareObjects(endpoint, objectsIn(endpoint, snapshot, request));
  if (preparing !== undefined) await preparing;
  return pageOf(endpoint.storage, selection, { snapshot, token, limit: limitOf(options, token) });
}

/** Those of the namespace; none for kinds that need no conversion. */
function* objectsIn({ resource, storage }: Endpoint, { objects }: ListSnapshot, { namespace }: ApiRequest): Iterable<StoredObject> {
  if (resource.conversion === undefined) return;
  for (const [, object] of objects.entries(storage.rangeOf(namespace))) yield object;
}

/** The objects at one revision. */
interface ListSnapshot {
  readonly revision: number;
  readonly objects: Snapshot;
  /** True if it is the cache's current state, so that its indexes can be used. */
  readonly isNow: boolean;
}

/** What is read of the snapshot. */
interface Wanted {
  readonly token: ContinueToken | undefined;
  /** The only object that can be selected, if the request names one. */
  readonly one: ObjectName | undefined;
}

function oneObject({ resource }: Endpoint, { scope: { namespace, name } }: Selection): ObjectName | undefined {
  if (name === undefined || (resource.scope === "Namespaced") !== (namespace !== "")) return undefined;
  return { namespace, name };
}

async function snapshotOf({ storage }: Endpoint, { options }: ApiRequest, of: Wanted): Promise<ListSnapshot> {
  const { token } = of;
  if (!storage.cache.isLoaded) await storage.cache.load();
  if (token?.revision !== undefined) return snapshotAt(storage, token.revision, of);
  const wanted = revisionOf(options);
  if (wanted !== undefined && wanted !== 0 && (options.resourceVersionMatch === "Exact" || isExactByLimit(options))) {
    return snapshotAt(storage, wanted, of);
  }
  if (wanted === 0) return currentSnapshot(storage, storage.cache.knownRevision());
  const fresh = await storage.cache.freshRevision();
  if (wanted !== undefined && fresh !== undefined && wanted > fresh) throw tooLargeRevision(wanted, fresh);
  return fresh === undefined ? translated(() => snapshotInStore(storage, undefined)) : currentSnapshot(storage, fresh);
}

/** resourceVersion 0 is served from the cache and complete, as upstream's. */
function limitOf({ limit = 0, resourceVersion, resourceVersionMatch }: ApiRequest["options"], token: ContinueToken | undefined): number {
  return token === undefined && resourceVersion === "0" && resourceVersionMatch !== "Exact" ? 0 : limit;
}

/** A limit with a resourceVersion and without a match means Exact, as before resourceVersionMatch existed. */
function isExactByLimit({ resourceVersionMatch = "", limit = 0 }: ApiRequest["options"]): boolean {
  return resourceVersionMatch === "" && limit > 0;
}

/** The cache's current state, at least as new as `revision`. */
export function currentSnapshot({ cache }: ResourceStorage, revision: number): ListSnapshot {
  return { revision: Math.max(revision, cache.lastChange), objects: cache.snapshot(), isNow: true };
}

/**
 * The objects at an old revision. Even where this process still holds them, the store decides whether the revision is kept: a client must
 * not depend on this process's memory, since another API server, or this one after a restart, answers the next page.
 */
async function snapshotAt(storage: ResourceStorage, revision: number, { token, one }: Wanted): Promise<ListSnapshot> {
  const { cache } = storage;
  try {
    const held = snapshotInMemory(storage, revision);
    if (held === undefined && one !== undefined) return await oneInStore(storage, revision, one);
    if (held === undefined) return await snapshotInStore(storage, revision);
    await storage.checkKept(revision);
    return held;
  } catch (error) {
    if (isStoreError(error, "FutureRevision")) throw tooLargeRevision(revision, cache.knownRevision());
    if (!isStoreError(error, "Compacted")) throw statusOfFailure(error);
    if (token === undefined) throw expired("The resourceVersion for the provided list is too old.");
    throw expired(PAGE_EXPIRED, writeContinueToken({ revision: undefined, startAfter: token.startAfter }));
  }
}

/** The objects at `revision` without reading them from the store; undefined if this process does not hold them. */
function snapshotInMemory({ cache, pagedSnapshots }: ResourceStorage, revision: number): ListSnapshot | undefined {
  // No change since `revision`: the current objects are the same.
  if (revision >= cache.lastChange && revision <= cache.knownRevision()) return { revision, objects: cache.snapshot(), isNow: true };
  const kept = pagedSnapshots.get(revision);
  return kept === undefined ? undefined : { revision, objects: kept, isNow: false };
}

/** Reads one object at a revision: the others of a large kind would be read and dropped. */
async function oneInStore(storage: ResourceStorage, revision: number, one: ObjectName): Promise<ListSnapshot> {
  const entry = await storage.store.get(storage.keyOf(one), { revision });
  const objects = storage.emptySnapshot();
  if (entry !== undefined) objects.set(orderOf(entry.key), storage.fromEntry(entry));
  return { revision, objects, isNow: false };
}

/** Reads the store at a revision, or the newest. */
export async function snapshotInStore(storage: ResourceStorage, revision: number | undefined): Promise<ListSnapshot> {
  const found = await storage.store.list(storage.prefix, { ...(revision === undefined ? {} : { revision }), countRemaining: false });
  const objects = storage.emptySnapshot();
  for (const entry of found.entries) objects.set(orderOf(entry.key), storage.fromEntry(entry));
  storage.pagedSnapshots.set(found.revision, objects);
  return { revision: found.revision, objects, isNow: false };
}

interface Page {
  readonly snapshot: ListSnapshot;
  readonly token: ContinueToken | undefined;
  /** 0: unlimited. */
  readonly limit: number;
}

function pageOf(storage: ResourceStorage, selection: Selection, { snapshot, token, limit }: Page): ObjectList {
  const range = rangeAfter(storage, selection, token);
  const candidates = snapshot.isNow && token === undefined ? indexed(storage, selection) : undefined;
  if (candidates !== undefined)
    return wholeList(
      snapshot,
      candidates.filter((object) => selection.matches(object)),
      limit,
      storage,
    );
  const objects: StoredObject[] = [];
  let isCut = false;
  let lastOrder = "";
  snapshot.objects.forEach((order, object) => {
    if (selection.isFiltered && !selection.matches(object)) return;
    if (limit > 0 && objects.length === limit) {
      isCut = true;
      return false;
    }
    objects.push(object);
    lastOrder = order;
    return;
  }, range);
  if (!isCut) return { objects, revision: snapshot.revision };
  storage.pagedSnapshots.set(snapshot.revision, snapshot.objects);
  const before = range.before === undefined ? {} : { before: range.before };
  return {
    objects,
    revision: snapshot.revision,
    continue: writeContinueToken({ revision: snapshot.revision, startAfter: relativeName(objects.at(-1) as StoredObject) }),
    ...(selection.isFiltered ? {} : { remainingItemCount: snapshot.objects.count({ after: lastOrder, ...before }) }),
  };
}

/** The objects found by an index, if they fit into one page; otherwise pages are built without it. */
function wholeList(snapshot: ListSnapshot, objects: readonly StoredObject[], limit: number, storage: ResourceStorage): ObjectList {
  if (limit === 0 || objects.length <= limit) return { objects, revision: snapshot.revision };
  storage.pagedSnapshots.set(snapshot.revision, snapshot.objects);
  const page = objects.slice(0, limit);
  const startAfter = relativeName(page.at(-1) as StoredObject);
  return { objects: page, revision: snapshot.revision, continue: writeContinueToken({ revision: snapshot.revision, startAfter }) };
}

function indexed({ cache, prefix }: ResourceStorage, { scope }: Selection): StoredObject[] | undefined {
  if (scope.name !== undefined && scope.namespace !== "") {
    const one = cache.get(`${prefix}${scope.namespace}/${scope.name}`);
    return one === undefined ? [] : [one];
  }
  if (scope.field === undefined) return undefined;
  const found = cache.withField(scope.field.path, scope.field.value);
  if (found === undefined) return undefined;
  return Array.from(found, ([, object]) => object).filter(
    ({ object }) => scope.namespace === "" || object.metadata.namespace === scope.namespace,
  );
}

function rangeAfter(
  storage: ResourceStorage,
  { scope }: Selection,
  token: ContinueToken | undefined,
): { readonly from?: string; readonly after?: string; readonly before?: string } {
  const range = storage.rangeOf(scope.namespace);
  if (token === undefined) return range;
  const after = orderOf(storage.prefix + token.startAfter);
  // A token of another namespace must not escape this one.
  if (after < range.from) return range;
  return { after, ...(range.before === undefined ? {} : { before: range.before }) };
}

function relativeName({ object }: StoredObject): string {
  const { namespace = "", name } = object.metadata;
  return namespace === "" ? name : `${namespace}/${name}`;
}
