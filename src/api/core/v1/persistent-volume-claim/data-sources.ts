/**
 * Initial contents of a new volume. `dataSource` is the older field and knows claims and snapshots only; `dataSourceRef` knows everything.
 * Both are kept equal where possible, so that a client of either sees what it wrote.
 */
import { withChanges } from "../../../changes.ts";
import type { PersistentVolumeClaimSpec, TypedLocalObjectReference, TypedObjectReference } from "../../../generated/core/v1.ts";
import { defined, without } from "../../../members.ts";

const SNAPSHOT_GROUP = "snapshot.storage.k8s.io";

/** The normalized spec: without disabled fields, and with both data sources. */
export function withBothDataSources(spec: PersistentVolumeClaimSpec, previous: PersistentVolumeClaimSpec = {}): PersistentVolumeClaimSpec {
  return completed(withoutUnknownSource(withoutForeignSource(spec, previous), previous));
}

/** Data sources in another namespace are behind a feature gate that is off upstream. */
function withoutForeignSource(spec: PersistentVolumeClaimSpec, previous: PersistentVolumeClaimSpec): PersistentVolumeClaimSpec {
  return spec.dataSourceRef?.namespace && previous.dataSourceRef === undefined ? without(spec, "dataSourceRef") : spec;
}

/** The older field was always ignored for other kinds, and clients without the newer field rely on that. */
function withoutUnknownSource(spec: PersistentVolumeClaimSpec, previous: PersistentVolumeClaimSpec): PersistentVolumeClaimSpec {
  const hadSource = previous.dataSource !== undefined || previous.dataSourceRef !== undefined;
  if (hadSource || spec.dataSourceRef !== undefined || isClaimOrSnapshot(spec.dataSource)) return spec;
  return without(spec, "dataSource");
}

function isClaimOrSnapshot(source: TypedLocalObjectReference | undefined): boolean {
  if (source?.kind === "PersistentVolumeClaim") return !source.apiGroup;
  return source?.kind === "VolumeSnapshot" && source.apiGroup === SNAPSHOT_GROUP;
}

function completed(spec: PersistentVolumeClaimSpec): PersistentVolumeClaimSpec {
  const { dataSource, dataSourceRef } = spec;
  if (dataSource !== undefined && dataSourceRef === undefined) return withChanges(spec, { dataSourceRef: referenceOf(dataSource) });
  if (dataSource !== undefined || dataSourceRef === undefined || dataSourceRef.namespace) return spec;
  return withChanges(spec, { dataSource: referenceOf(dataSourceRef) });
}

function referenceOf({ apiGroup, kind, name }: TypedLocalObjectReference | TypedObjectReference): TypedLocalObjectReference {
  return defined<TypedLocalObjectReference>({ apiGroup, kind, name });
}
