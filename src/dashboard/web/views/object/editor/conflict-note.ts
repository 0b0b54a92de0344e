/** Another writer changed the object meanwhile: which fields, who wrote them, and the user's own value of the same field. */
import { h, type JSX } from "preact";
import type { Json, JsonObject, KubeObject } from "../../../../../api/machinery/object.ts";
import { fieldChanges, fieldText, ownerOf, withoutBookkeeping, type FieldChange } from "../../../../data/editor/field-changes.ts";
import { Button } from "../../../parts/form.ts";
import { SmallTable } from "../../../parts/small-table.ts";

export interface ConflictNoteProps {
  readonly base: KubeObject;
  readonly mine: JsonObject;
  readonly theirs: KubeObject;
  takeTheirs(): void;
  keepMine(): void;
}

export function ConflictNote({ base, mine, theirs, takeTheirs, keepMine }: ConflictNoteProps): JSX.Element {
  const comparable = (object: KubeObject) => withoutBookkeeping(object) as JsonObject;
  const changed = fieldChanges(comparable(base), comparable(theirs));
  const own = new Map(fieldChanges(comparable(base), comparable(mine as KubeObject)).map((change) => [fieldText(change.path), change]));
  const rows = changed.map((change) => rowOf(change, own.get(fieldText(change.path)), theirs));
  const isSameField = changed.some(({ path }) => own.has(fieldText(path)));
  return h(
    "div",
    { class: "note conflict", role: "alert" },
    h("strong", null, "The object was changed while you edited it."),
    rows.length === 0
      ? h("p", null, "Only its status or bookkeeping changed.")
      : h(SmallTable, { title: "Changed meanwhile", heads: ["Field", "Was", "Is now", "Written by", "Yours"], rows }),
    h(
      "div",
      { class: "controls" },
      h(Button, { text: isSameField ? "Keep mine where both changed" : "Keep both changes", look: "primary", press: keepMine }),
      h(Button, { text: "Take theirs, discard mine", press: takeTheirs }),
    ),
  );
}

function rowOf({ path, before, after }: FieldChange, mine: FieldChange | undefined, theirs: KubeObject): readonly string[] {
  return [
    fieldText(path),
    valueText(before),
    valueText(after),
    ownerOf(theirs, path) || "unknown",
    mine === undefined ? "" : valueText(mine.after),
  ];
}

function valueText(value: Json | undefined): string {
  return value === undefined ? "(none)" : typeof value === "string" ? value : JSON.stringify(value);
}
