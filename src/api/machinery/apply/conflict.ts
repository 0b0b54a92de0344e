/** The Conflict of an apply that would change fields of other managers: 409, with one cause per field and upstream's messages. */
import { StatusError } from "../status-error.ts";
import { describePath } from "./field-path.ts";
import type { FieldSet } from "./field-set.ts";
import { compareText, ownerId, type OwnerParts } from "./owner.ts";

/** Fields of one other owner that the applied object would change. */
export interface Conflict {
  readonly owner: OwnerParts;
  readonly fields: FieldSet;
}

export function conflictError(conflicts: readonly Conflict[]): StatusError {
  const ordered = conflicts
    .toSorted((a, b) => compareText(ownerId(a.owner), ownerId(b.owner)))
    .map(({ owner, fields }) => {
      return { title: titleOf(owner), paths: [...fields.paths()].map(describePath) };
    });
  const causes = ordered.flatMap(({ title, paths }) => {
    return paths.map((field) => ({ reason: "FieldManagerConflict", message: `conflict with ${title}`, field }));
  });
  const [only] = causes;
  const message =
    causes.length === 1 && only !== undefined
      ? `Apply failed with 1 conflict: ${only.message}: ${only.field}`
      : `Apply failed with ${causes.length} conflicts: ${ordered.map(describeConflicts).join("\n")}`;
  return new StatusError("Conflict", message, { details: { causes } });
}

function describeConflicts({ title, paths }: { readonly title: string; readonly paths: readonly string[] }): string {
  return [`conflicts with ${title}:`, ...paths.map((path) => `- ${path}`)].join("\n");
}

function titleOf({ manager, operation, apiVersion, subresource }: OwnerParts): string {
  const name = JSON.stringify(manager) + (subresource === "" ? "" : ` with subresource ${JSON.stringify(subresource)}`);
  return operation === "Update" ? `${name} using ${apiVersion}` : name;
}
