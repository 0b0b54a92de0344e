/**
 * Records a range of a cluster's history: the objects of every kind at its start, each version that a recorded write made up to its end,
 * and the causes. Everything is read through the ordinary API, so a recording has nothing that its user may not see. Secrets are left out
 * unless they are wanted, since recordings are made to be passed on.
 */
import { isReason, StatusError } from "../../../api/machinery/status-error.ts";
import type { KubeObject } from "../../../api/machinery/object.ts";
import { CAUSES_PATH, type CauseItem, type CauseList } from "../../../explain/explain-api.ts";
import { ClusterApi } from "../cluster-api.ts";
import { kindId, pathOf, type Kind } from "../kinds.ts";
import type { Column, Row } from "../live-table.ts";
import { pastConnection, type Instant } from "../time/past-connection.ts";
import {
  RECORDING_BYTES_MAX,
  RECORDING_KIND,
  RECORDING_VERSION,
  type RecordedItem,
  type RecordedKind,
  type RecordedInstant,
  type RecordedVersion,
  type Recording,
} from "./recording.ts";

export interface RecordRangeOptions {
  readonly api: ClusterApi;
  readonly kinds: readonly Kind[];
  readonly from: Instant;
  readonly to: Instant;
  readonly hasSecrets: boolean;
  readonly signal: AbortSignal;
  /** Between 0 and 1. */
  progress(part: number): void;
}

/** Requests at a time: browsers have six connections per server with HTTP/1.1. */
const CONCURRENT = 4;
const PAGE = 500;
const TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io";
/** Their writes are not recorded: their versions at the end are added. */
const UNRECORDED = ["events", "leases.coordination.k8s.io"];
/** The same objects as those of another kind. */
const DUPLICATE = ["events.events.k8s.io"];

/** Rejects with a StatusError, or with the signal's reason. */
export async function recordRange(options: RecordRangeOptions): Promise<Recording> {
  return new RangeRecorder(options).record();
}

interface ObjectTable {
  readonly metadata?: { readonly continue?: string };
  readonly columnDefinitions?: readonly Column[] | null;
  readonly rows?: readonly { readonly cells: Row["cells"]; readonly object: KubeObject }[] | null;
}

class RangeRecorder {
  readonly #options: RecordRangeOptions;
  readonly #missing: string[] = [];
  #bytes = 0;
  #done = 0;
  #all = 1;

  constructor(options: RecordRangeOptions) {
    this.#options = options;
  }

  async record(): Promise<Recording> {
    const { api, from, to, signal } = this.#options;
    const { items } = await api.get<CauseList>(CAUSES_PATH, signal);
    const causes = items.filter((item) => isWithin(item, from, to));
    const kinds = this.#recordedKinds();
    const writes = distinctWrites(causes, kinds);
    this.#all = kinds.length + writes.length;
    const recorded = await this.#each(kinds, (kind) => this.#kindAt(kind, from));
    const made = await this.#each(writes, (write) => this.#versionOf(write));
    const unrecorded = kinds.filter((kind) => UNRECORDED.includes(kindId(kind)));
    const later = await this.#each(unrecorded, (kind) => this.#newerThan(kind));
    const versions = [...made, ...later].flat().sort((a, b) => Number(a.revision) - Number(b.revision));
    return {
      ...{ kind: RECORDING_KIND, apiVersion: RECORDING_VERSION, from: recordedInstant(from), to: recordedInstant(to) },
      ...{ kinds: recorded.flat(), versions, causes, missing: this.#missing },
    };
  }

  #recordedKinds(): readonly Kind[] {
    const { kinds, hasSecrets } = this.#options;
    if (!hasSecrets) this.#missing.push("Secrets were left out.");
    return kinds.filter(
      (kind) =>
        kind.verbs.includes("list") &&
        kind.verbs.includes("watch") &&
        !DUPLICATE.includes(kindId(kind)) &&
        (hasSecrets || kindId(kind) !== "secrets"),
    );
  }

  async #each<Item, Result>(items: readonly Item[], work: (item: Item) => Promise<Result>): Promise<readonly Result[]> {
    const results: Result[] = [];
    let next = 0;
    const run = async (): Promise<void> => {
      for (let index = next++; index < items.length; index = next++) {
        this.#options.signal.throwIfAborted();
        results[index] = await work(items[index] as Item);
        this.#options.progress(Math.min(1, (this.#done += 1) / this.#all));
      }
    };
    await Promise.all(Array.from({ length: CONCURRENT }, run));
    return results;
  }

  /** A kind that the user must not list is missing from the recording, which says so. */
  async #kindAt(kind: Kind, instant: Instant): Promise<readonly RecordedKind[]> {
    try {
      return [{ ...kind, ...(await this.#read(pathOf(kind), instant)) }];
    } catch (error) {
      const isKinds = error instanceof StatusError && error.reason !== "RequestEntityTooLarge";
      if (!isKinds || this.#options.signal.aborted) throw error;
      this.#missing.push(`${kindId(kind)}: ${error.message}`);
      return [];
    }
  }

  async #read(
    path: string,
    instant: Pick<Instant, "revision">,
    query: Readonly<Record<string, string>> = {},
  ): Promise<Pick<RecordedKind, "columns" | "items">> {
    const past = new ClusterApi(pastConnection(this.#options.api.connection, instant));
    const items: RecordedItem[] = [];
    let columns: readonly Column[] = [];
    let next = "";
    do {
      const page = await this.#page(past, path, { ...query, ...(next === "" ? {} : { continue: next }) });
      if ((page.columnDefinitions ?? []).length > 0)
        columns = (page.columnDefinitions ?? []).map(({ name, priority }) => ({ name, priority }));
      for (const { cells, object } of page.rows ?? []) items.push({ object, cells });
      next = page.metadata?.continue ?? "";
    } while (next !== "");
    return { columns, items };
  }

  async #page(past: ClusterApi, path: string, query: Readonly<Record<string, string>>): Promise<ObjectTable> {
    const parameters = new URLSearchParams({ includeObject: "Object", limit: String(PAGE), ...query });
    const response = await past.send({ path: `${path}?${parameters.toString()}`, accept: TABLE, signal: this.#options.signal });
    const bytes = await response.bytes();
    this.#bytes += bytes.length;
    if (this.#bytes > RECORDING_BYTES_MAX)
      throw new StatusError(
        "RequestEntityTooLarge",
        "The range has more than 128 MB of objects: choose a shorter one, or a smaller cluster",
      );
    return JSON.parse(new TextDecoder().decode(bytes)) as ObjectTable;
  }

  async #versionOf({ kind, item }: Write): Promise<readonly RecordedVersion[]> {
    const { namespace = "", name = "", resourceVersion = "" } = item;
    const version = { resource: kindId(kind), namespace, name, revision: resourceVersion };
    if (item.deleted === true) return [version];
    try {
      const path = pathOf(kind, kind.isNamespaced ? { namespace } : {});
      const { items } = await this.#read(path, { revision: resourceVersion }, { fieldSelector: `metadata.name=${name}` });
      return items[0] === undefined ? [] : [{ ...version, item: items[0] }];
    } catch (error) {
      if (!isReason(error, "Expired") && !isReason(error, "Forbidden")) throw error;
      this.#missing.push(`${version.resource} ${namespace}/${name} at revision ${resourceVersion}: ${(error as Error).message}`);
      return [];
    }
  }

  async #newerThan(kind: Kind): Promise<readonly RecordedVersion[]> {
    const { from, to } = this.#options;
    const [last] = await this.#kindAt(kind, to);
    return (last?.items ?? []).flatMap((item): readonly RecordedVersion[] => {
      const { name, namespace = "", resourceVersion = "0" } = item.object.metadata;
      if (Number(resourceVersion) <= Number(from.revision)) return [];
      return [{ resource: kindId(kind), namespace, name, revision: resourceVersion, item }];
    });
  }
}

interface Write {
  readonly kind: Kind;
  readonly item: CauseItem;
}

/** Refused requests have no revision: they belong to the range by their time. */
function isWithin({ resourceVersion, time }: CauseItem, from: Instant, to: Instant): boolean {
  if (resourceVersion === undefined) return Date.parse(time) >= from.timeMs && Date.parse(time) <= to.timeMs;
  return Number(resourceVersion) > Number(from.revision) && Number(resourceVersion) <= Number(to.revision);
}

/** One request may commit several objects, and each has a revision of its own. */
function distinctWrites(causes: readonly CauseItem[], kinds: readonly Kind[]): readonly Write[] {
  const byId = new Map(kinds.map((kind) => [kindId(kind), kind]));
  const writes = new Map<string, Write>();
  for (const item of causes) {
    const kind = byId.get(item.resource);
    if (kind === undefined || item.resourceVersion === undefined) continue;
    writes.set(`${item.resource} ${item.namespace ?? ""}/${item.name ?? ""} ${item.resourceVersion}`, { kind, item });
  }
  return [...writes.values()];
}

function recordedInstant({ revision, timeMs }: Instant): RecordedInstant {
  return { revision, time: new Date(timeMs).toISOString() };
}

/** The text of the file. */
export function recordingText(recording: Recording): string {
  return JSON.stringify(recording);
}
