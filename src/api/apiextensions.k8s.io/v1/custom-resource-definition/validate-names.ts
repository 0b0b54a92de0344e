/** Validation of names: in the spec, which requests them, and in the status, which has the accepted ones. */
import type { CustomResourceDefinitionNames } from "../../../generated/apiextensions.k8s.io/v1.ts";
import { child, element, invalid, required, type FieldError } from "../../../machinery/field-error.ts";
import { validateDns1035Label } from "../../../machinery/names.ts";

/** Required names; two have defaults. */
export function* validateNamesAreThere(names: CustomResourceDefinitionNames, at: string): Iterable<FieldError> {
  for (const name of ["plural", "singular", "kind", "listKind"] as const) if ((names[name] ?? "") === "") yield required(child(at, name));
}

export function* validateNames(names: CustomResourceDefinitionNames, at: string): Iterable<FieldError> {
  const { kind, listKind = "", shortNames = [], categories = [] } = names;
  for (const name of ["plural", "singular"] as const)
    if ((names[name] ?? "") !== "") yield* validateName(names[name] ?? "", child(at, name));
  for (const name of ["kind", "listKind"] as const)
    if ((names[name] ?? "") !== "") yield* validateKindName(names[name] ?? "", child(at, name));
  for (const [index, name] of shortNames.entries()) yield* validateName(name, element(child(at, "shortNames"), index));
  if (kind !== "" && kind === listKind) yield invalid(child(at, "listKind"), listKind, "kind and listKind may not be the same");
  for (const [index, name] of categories.entries()) yield* validateName(name, element(child(at, "categories"), index));
}

export function* validateName(name: string, at: string): Iterable<FieldError> {
  const wrong = validateDns1035Label(name);
  if (wrong.length > 0) yield invalid(at, name, wrong.join(","));
}

function* validateKindName(name: string, at: string): Iterable<FieldError> {
  const wrong = validateDns1035Label(name.toLowerCase());
  if (wrong.length > 0) yield invalid(at, name, `may have mixed case, but should otherwise match: ${wrong.join(",")}`);
}
