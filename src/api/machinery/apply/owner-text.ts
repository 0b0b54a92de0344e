/**
 * Parses the stored text of managedFields into owners, without parsing their fields. It expects what this program and upstream store: an
 * array of flat objects with at most one nested object each, fieldsV1. For anything else it falls back to JSON.parse.
 */
import type { ManagedFieldsEntry } from "../object.ts";
import { endOfObject, endOfString } from "./field-text.ts";
import { FieldSet } from "./field-set.ts";
import { Owner, ownerOfEntry, type OwnerParts } from "./owner.ts";

export function ownersOfText(text: string): readonly Owner[] {
  if (text === "" || text === "[]") return [];
  const owners: Owner[] = [];
  for (let position = text.indexOf("{"); position !== -1; position = text.indexOf("{", position)) {
    const read = readOwner(text, position);
    if (read === undefined) return (JSON.parse(text) as ManagedFieldsEntry[]).map(ownerOfEntry);
    owners.push(read.owner);
    position = read.end;
  }
  return owners;
}

/** The owner whose entry opens at `start`; undefined if it does not have the expected form. */
function readOwner(text: string, start: number): { readonly owner: Owner; readonly end: number } | undefined {
  const members = new Map<string, string>();
  let position = start + 1;
  while (text[position] === '"') {
    const endOfName = endOfString(text, position);
    const name = text.slice(position + 1, endOfName - 1);
    const value = endOfName + 1;
    if (text[endOfName] !== ":") return undefined;
    const end = endOfMember(text, value);
    if (end === undefined) return undefined;
    members.set(name, text.slice(value, end));
    position = text[end] === "," ? end + 1 : end;
  }
  if (text[position] !== "}") return undefined;
  const parts = partsOfMembers(members);
  if (parts === undefined) return undefined;
  const end = position + 1;
  return { owner: new Owner(parts, FieldSet.fromText(members.get("fieldsV1") ?? "{}"), text.slice(start, end)), end };
}

function endOfMember(text: string, start: number): number | undefined {
  if (text[start] === '"') return endOfString(text, start);
  return text[start] === "{" ? endOfObject(text, start).close : undefined;
}

function partsOfMembers(members: ReadonlyMap<string, string>): OwnerParts | undefined {
  const read = (name: string): string => {
    const text = members.get(name);
    return text === undefined ? "" : (JSON.parse(text) as string);
  };
  const operation = read("operation");
  if ((operation !== "Apply" && operation !== "Update") || read("fieldsType") !== "FieldsV1") return undefined;
  const time = read("time");
  return {
    manager: read("manager"),
    operation,
    apiVersion: read("apiVersion"),
    subresource: read("subresource"),
    time: time === "" ? undefined : time,
  };
}
