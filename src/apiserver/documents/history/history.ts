/**
 * /debug/k8ts/history: objects as they were at a revision or time that the store still has, the versions of one object, and what changed
 * between two of them, with the writer of each field. Besides the permission for the path it requires the permission to read the object.
 */
import { badRequest } from "../../../api/machinery/status-error.ts";
import { formatMicroTime } from "../../../api/machinery/time.ts";
import { DIFF_PATH, EXPLAIN_API_VERSION, HISTORY_PATH, REVISIONS_PATH, TIMELINE_PATH } from "../../../explain/explain-api.ts";
import type { HistoricalList, HistoricalObject, ObjectDiff, RevisionItem, RevisionList } from "../../../explain/explain-api.ts";
import { fieldChanges, type ObjectContent } from "../../../explain/field-changes.ts";
import { namespacePrefix } from "../../framework/storage/object-key.ts";
import type { Document, DocumentDependencies } from "../../framework/document.ts";
import type { RequestContext } from "../../framework/request.ts";
import { causeItem } from "../../shared/explain/cause-item.ts";
import { jsonAnswer, mustAcceptJson } from "../../shared/explain/json-document.ts";
import { historySubject, kept, revisionOf, type HistoryDependencies, type HistorySubject } from "./history-request.ts";
import { objectVersions, type ObjectVersion } from "./object-versions.ts";
import { readEntries } from "./read-entries.ts";
import { readTimeline } from "./timeline.ts";

type Reader = (dependencies: HistoryDependencies, parameters: URLSearchParams, context: RequestContext) => Promise<object>;

const READERS: Readonly<Record<string, Reader>> = {
  [HISTORY_PATH]: readPast,
  [REVISIONS_PATH]: readRevisions,
  [DIFF_PATH]: readDiff,
  [TIMELINE_PATH]: readTimeline,
};

export function historyDocument(dependencies: DocumentDependencies): Document {
  return {
    name: "history",
    answers: (path) => path in READERS,
    async answer(request, path, context) {
      mustAcceptJson(request);
      const read = READERS[path] ?? readPast;
      return jsonAnswer(await read(dependencies, new URLSearchParams(request.query), context));
    },
  };
}

async function readPast(
  dependencies: HistoryDependencies,
  parameters: URLSearchParams,
  context: RequestContext,
): Promise<HistoricalObject | HistoricalList> {
  const subject = historySubject(dependencies, parameters, context);
  const revision = await revisionOf(dependencies, parameters, "at");
  if (subject.name === "") return readList(dependencies, subject, parameters, revision);
  const { storage } = subject.endpoint;
  const entry = await kept(() => dependencies.server.store.get(storage.keyOf(subject), { revision }));
  return {
    kind: "HistoricalObject",
    apiVersion: EXPLAIN_API_VERSION,
    revision: String(revision),
    ...(entry === undefined ? {} : { object: storage.read(entry).object }),
  };
}

/** The writes of one object below the limit of versions. */
function withoutRecord({ revision, object }: ObjectVersion): ObjectVersion {
  return { revision, ...(object === undefined ? {} : { object }) };
}

/** The continue token is the last key of a page, which is at the revision of the first. */
async function readList(
  { server }: HistoryDependencies,
  { endpoint: { storage }, namespace }: HistorySubject,
  parameters: URLSearchParams,
  revision: number,
): Promise<HistoricalList> {
  const limit = Number(parameters.get("limit") ?? "0");
  if (!Number.isSafeInteger(limit) || limit < 0) throw badRequest(`The parameter "limit" must be a non-negative integer`);
  const startAfter = parameters.get("continue") ?? "";
  const { entries, isLast } = await kept(() =>
    readEntries(server.store, namespacePrefix(storage.prefix, namespace), {
      revision,
      limit: limit === 0 ? Infinity : limit,
      ...(startAfter === "" ? {} : { startAfter: `${storage.prefix}${startAfter}` }),
    }),
  );
  const last = entries.at(-1)?.key.slice(storage.prefix.length);
  return {
    kind: "HistoricalList",
    apiVersion: EXPLAIN_API_VERSION,
    metadata: { revision: String(revision), ...(isLast || last === undefined ? {} : { continue: last }) },
    items: entries.map((entry) => storage.read(entry).object),
  };
}

async function readRevisions(
  dependencies: HistoryDependencies,
  parameters: URLSearchParams,
  context: RequestContext,
): Promise<RevisionList> {
  const subject = oneObject(dependencies, parameters, context);
  const newest = await dependencies.server.store.currentRevision();
  const { versions, isComplete } = await objectVersions(dependencies, subject, { newest });
  const { compactedRevision } = await dependencies.server.store.statistics();
  return {
    kind: "RevisionList",
    apiVersion: EXPLAIN_API_VERSION,
    metadata: { oldest: String(compactedRevision), newest: String(newest), ...(isComplete ? {} : { truncated: true }) },
    items: versions.map(revisionItem).reverse(),
  };
}

function revisionItem({ revision, object, record }: ObjectVersion): RevisionItem {
  return {
    revision: String(revision),
    ...(record === undefined ? {} : { time: formatMicroTime(record.timeMs) }),
    ...(object === undefined ? { deleted: true } : {}),
    ...(record === undefined ? {} : { write: causeItem(record) }),
  };
}

async function readDiff(dependencies: HistoryDependencies, parameters: URLSearchParams, context: RequestContext): Promise<ObjectDiff> {
  const subject = oneObject(dependencies, parameters, context);
  const from = await revisionOf(dependencies, parameters, "from");
  const to = await revisionOf(dependencies, parameters, "to");
  if (from > to) throw badRequest(`The parameter "from" (revision ${from}) must not be after "to" (revision ${to})`);
  const { storage } = subject.endpoint;
  const first = await kept(() => dependencies.server.store.get(storage.keyOf(subject), { revision: from }));
  const { versions: read, isComplete } = await objectVersions(dependencies, subject, { newest: to, oldest: from });
  const versions = read
    .filter(({ revision }) => revision > from)
    .map((version, index, all) => {
      // The version before the oldest one that was read is unknown, and so is what the oldest one's write changed.
      return isComplete || index < all.length - 1 ? version : withoutRecord(version);
    });
  const before: ObjectVersion = { revision: from, ...(first === undefined ? {} : { object: storage.read(first) }) };
  const after = versions[0] ?? before;
  return {
    kind: "ObjectDiff",
    apiVersion: EXPLAIN_API_VERSION,
    from: { revision: String(from), exists: before.object !== undefined },
    to: { revision: String(to), exists: after.object !== undefined },
    changes: fieldChanges([...versions, before].map(contentOf)),
  };
}

function contentOf({ object, record }: ObjectVersion): ObjectContent {
  return {
    ...(object === undefined ? {} : { content: object.object }),
    managedFields: () => object?.managed().entries() ?? [],
    write: () => (record === undefined ? undefined : causeItem(record)),
  };
}

function oneObject(dependencies: HistoryDependencies, parameters: URLSearchParams, context: RequestContext): HistorySubject {
  const subject = historySubject(dependencies, parameters, context);
  if (subject.name === "") throw badRequest(`The parameter "name" is required`);
  return subject;
}
