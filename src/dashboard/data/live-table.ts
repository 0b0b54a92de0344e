/** The objects of one kind as rows of the server's Table, kept current by a watch. Not here: filters and order (row-order.ts). */
import type { Clock } from "../../base/clock.ts";
import type { ClusterApi } from "./cluster-api.ts";
import { runLiveList, type LiveFormat, type LiveState } from "./live-list.ts";

export interface Column {
  readonly name: string;
  /** 0 is shown always; larger ones only where there is space. */
  readonly priority: number;
}

export interface Row {
  /** NAMESPACE/NAME. */
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  readonly createdMs: number;
  readonly isTerminating: boolean;
  readonly cells: readonly (string | number | boolean | null)[];
  readonly labels: Readonly<Record<string, string>>;
  /** Its controller. */
  readonly owner?: OwnerReference;
}

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
}

export interface TableState extends LiveState<Row> {
  readonly columns: readonly Column[];
}

export interface LiveTableOptions {
  readonly api: ClusterApi;
  readonly clock: Clock;
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  changed(state: TableState): void;
}

interface WireTable {
  readonly metadata?: { readonly resourceVersion?: string; readonly continue?: string };
  readonly columnDefinitions?: readonly Column[] | null;
  readonly rows?: readonly WireRow[] | null;
}

interface WireRow {
  readonly cells: Row["cells"];
  readonly object?: {
    readonly metadata?: {
      readonly name?: string;
      readonly namespace?: string;
      readonly creationTimestamp?: string;
      readonly deletionTimestamp?: string;
      readonly labels?: Readonly<Record<string, string>>;
      readonly resourceVersion?: string;
      readonly ownerReferences?: readonly OwnerReference[];
    };
  };
}

/** Nine tenths of a row otherwise. An extension of this API server; others ignore it. */
const WITHOUT_MANAGED_FIELDS = { omitManagedFields: "true" };

/** Runs until the signal is aborted. */
export function runLiveTable({ changed, ...options }: LiveTableOptions): Promise<void> {
  let columns: readonly Column[] = [];
  const query = { ...options.query, ...WITHOUT_MANAGED_FIELDS };
  const format: LiveFormat<WireTable, WireTable, Row> = {
    accept: "application/json;as=Table;v=v1;g=meta.k8s.io",
    itemsOf(table) {
      const { columnDefinitions, rows } = table;
      // Later pages and the changes of a watch have none.
      if (columnDefinitions !== undefined && columnDefinitions !== null && columnDefinitions.length > 0) columns = columnDefinitions;
      return (rows ?? []).map(rowOf);
    },
    itemOf: ({ rows }) => (rows?.[0] === undefined ? undefined : rowOf(rows[0])),
    revisionOf: ({ rows }) => rows?.[0]?.object?.metadata?.resourceVersion,
  };
  return runLiveList(format, { ...options, query, changed: (state) => changed({ ...state, columns }) });
}

function rowOf({ cells, object }: WireRow): readonly [string, Row] {
  const { namespace = "", name = "", creationTimestamp, deletionTimestamp, labels = {}, ownerReferences = [] } = object?.metadata ?? {};
  const createdMs = creationTimestamp === undefined ? Number.NaN : Date.parse(creationTimestamp);
  const key = `${namespace}/${name}`;
  const row = { key, namespace, name, createdMs, isTerminating: deletionTimestamp !== undefined, cells, labels };
  const owner = ownerReferences.find(({ controller }) => controller === true);
  return [key, owner === undefined ? row : { ...row, owner }];
}
