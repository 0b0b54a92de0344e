/** What changed between the oldest and the newest of several versions of one object: each field with its managers and its last write. Pure. */
import type { JsonObject, ManagedFieldsEntry } from "../api/machinery/object.ts";
import type { CauseItem, FieldChange } from "./explain-api.ts";
import { diffObjects, shownPath, valueAt, writersOf, type ValueChange } from "./object-diff.ts";

export interface ObjectContent {
  /** Absent: the object does not exist in this version. */
  readonly content?: JsonObject;
  managedFields(): readonly ManagedFieldsEntry[];
  /** The write that made this version; absent: unknown. */
  write(): CauseItem | undefined;
}

/** `versions`: newest first; the last is the state before all of them. */
export function fieldChanges(versions: readonly ObjectContent[]): readonly FieldChange[] {
  const [newest, oldest] = [versions[0], versions.at(-1)];
  return diffObjects(oldest?.content, newest?.content).map((change) => fieldChange(change, versions));
}

function fieldChange(change: ValueChange, versions: readonly ObjectContent[]): FieldChange {
  const { path, before, after } = change;
  const owned = after === undefined ? versions.at(-1) : versions[0];
  const managers = owned?.content === undefined ? [] : writersOf(owned.managedFields(), owned.content, path);
  const write = versions
    .find((version, index) => {
      const previous = versions[index + 1];
      return previous !== undefined && diffObjects(boxed(version, change), boxed(previous, change)).length > 0;
    })
    ?.write();
  return {
    path: shownPath(path),
    ...(before === undefined ? {} : { before }),
    ...(after === undefined ? {} : { after }),
    ...(managers.length === 0 ? {} : { managers }),
    ...(write === undefined ? {} : { write }),
  };
}

function boxed({ content }: ObjectContent, { path }: ValueChange): JsonObject {
  return { value: valueAt(content, path) };
}
