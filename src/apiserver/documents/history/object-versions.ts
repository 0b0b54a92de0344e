/** The versions of one object that the store still has, newest first, by reading it backwards from one revision to the one before. */
import { isStoreError } from "../../../store/store-error.ts";
import type { CauseRecord } from "../../framework/recording/causes.ts";
import type { StoredObject } from "../../framework/storage/storage.ts";
import { kept, type HistoryDependencies, type HistorySubject } from "./history-request.ts";

/** Maximum versions that one request reads: each is a read of the store. */
const VERSIONS_MAX = 1_000;
/** Maximum bytes of the versions that one request reads: they are in memory together. A single one may be 1.5 MB. */
const VERSIONS_BYTES_MAX = 32 * 1024 * 1024;

export interface ObjectVersion {
  readonly revision: number;
  /** Absent: this revision deleted it. */
  readonly object?: StoredObject;
  readonly record?: CauseRecord;
}

export interface ObjectVersions {
  /** Newest first. */
  readonly versions: readonly ObjectVersion[];
  /** False if there are older ones that were not read, because of a limit. */
  readonly isComplete: boolean;
}

/** From `newest` back to `oldest`; the version that existed at `oldest` already is the last. */
export async function objectVersions(
  { server, causes }: HistoryDependencies,
  { endpoint, namespace, name }: HistorySubject,
  { newest, oldest = 0 }: { readonly newest: number; readonly oldest?: number },
): Promise<ObjectVersions> {
  const { storage } = endpoint;
  const key = storage.keyOf({ namespace, name });
  const { group, plural } = storage.name;
  const own = causes
    .list()
    .filter((record) => record.plural === plural && record.group === group && record.namespace === namespace && record.name === name);
  const byRevision = new Map(own.filter(({ revision }) => revision !== 0).map((record) => [record.revision, record]));
  const versions: ObjectVersion[] = [];
  let revision = newest;
  let bytes = 0;
  while (revision > 0) {
    if (versions.length >= VERSIONS_MAX || bytes >= VERSIONS_BYTES_MAX) return { versions, isComplete: false };
    const entry = await readOrUndefined(() => server.store.get(key, { revision }));
    if (entry === "compacted") break;
    if (entry === undefined) {
      const deletion = own.findLast((record) => record.deleted === true && record.revision <= revision);
      if (deletion === undefined || deletion.revision <= oldest) break;
      versions.push({ revision: deletion.revision, record: deletion });
      revision = deletion.revision - 1;
      continue;
    }
    bytes += entry.value.sizeBytes();
    const record = byRevision.get(entry.revision);
    versions.push({ revision: entry.revision, object: storage.read(entry), ...(record === undefined ? {} : { record }) });
    if (entry.revision <= oldest) break;
    revision = entry.revision - 1;
  }
  return { versions, isComplete: true };
}

async function readOrUndefined<T>(read: () => Promise<T>): Promise<T | "compacted"> {
  try {
    return await read();
  } catch (error) {
    if (isStoreError(error, "Compacted")) return "compacted";
    return kept(() => Promise.reject(error as Error));
  }
}
