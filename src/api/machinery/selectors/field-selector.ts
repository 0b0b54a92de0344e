/**
 * Field selectors (`metadata.name=web,status.phase!=Running`). Commas, equals signs and backslashes of a value are escaped with a
 * backslash. The supported fields are each kind's own; a field that an object does not have counts as empty. Texts are parsed with
 * upstream's grammar and error messages.
 */
import { SelectorError } from "./label-requirement.ts";
import { apiVersionOf, type GroupVersionKind } from "../object.ts";

export interface FieldRequirement {
  readonly field: string;
  readonly operator: "=" | "!=";
  readonly value: string;
}

export class FieldSelector {
  readonly requirements: readonly FieldRequirement[];

  constructor(requirements: readonly FieldRequirement[]) {
    this.requirements = requirements;
  }

  get isEverything(): boolean {
    return this.requirements.length === 0;
  }

  matches(read: (field: string) => string | undefined): boolean {
    return this.requirements.every(({ field, operator, value }) => ((read(field) ?? "") === value) === (operator === "="));
  }

  /** The value that a field must have, if it is determined: for callers with an index of that field. */
  exactValue(field: string): string | undefined {
    return this.requirements.find((requirement) => requirement.field === field && requirement.operator === "=")?.value;
  }

  /** Adds a requirement: a path that names one object becomes part of a selector. */
  and(requirement: FieldRequirement): FieldSelector {
    return new FieldSelector([...this.requirements, requirement]);
  }

  /** Parses back to the same selector, up to the order. */
  toString(): string {
    return this.requirements.map(({ field, operator, value }) => `${field}${operator}${escapeFieldValue(value)}`).join(",");
  }
}

export const EVERY_FIELD = new FieldSelector([]);

/** Throws SelectorError. */
export function parseFieldSelector(text: string): FieldSelector {
  // Sorted as upstream does, so that the text of a selector does not depend on its author.
  const terms = splitTerms(text).filter((term) => term !== "");
  const all = terms.toSorted().map((term) => parseTerm(term, text));
  // "=" alone is no requirement.
  const requirements = all.filter(({ field, value }) => field !== "" || value !== "");
  return requirements.length === 0 ? EVERY_FIELD : new FieldSelector(requirements);
}

/**
 * Error message for a field that the kind does not support. `hasOwn`: the kind has fields beyond the two common ones, or is a custom
 * resource. Upstream has a message of its own for two kinds.
 */
export function unsupportedFieldMessage(field: string, kind: GroupVersionKind & { readonly hasOwn: boolean }): string {
  if (kind.group === "batch" && kind.kind === "Job") return `field label ${JSON.stringify(field)} not supported for Job`;
  if (kind.group === "resource.k8s.io" && kind.kind === "ResourceSlice") {
    return `field label not supported for ${apiVersionOf(kind)}, Kind=${kind.kind}: ${field}`;
  }
  if (kind.hasOwn) return `field label not supported: ${field}`;
  return `${JSON.stringify(field)} is not a known field selector: only "metadata.name", "metadata.namespace"`;
}

export function escapeFieldValue(value: string): string {
  return value.replace(/[\\,=]/g, "\\$&");
}

/** Splits at commas without a backslash before them. */
function splitTerms(text: string): string[] {
  const terms: string[] = [];
  let start = 0;
  for (let index = 0; index < text.length; index++) {
    if (text[index] === "\\") index++;
    else if (text[index] === ",") {
      terms.push(text.slice(start, index));
      start = index + 1;
    }
  }
  return [...terms, text.slice(start)];
}

function parseTerm(term: string, whole: string): FieldRequirement {
  const match = /!=|==|=/.exec(term);
  if (match === null) throw new SelectorError(`invalid selector: '${whole}'; can't understand '${term}'`);
  const value = unescapeFieldValue(term.slice(match.index + match[0].length));
  return { field: term.slice(0, match.index), operator: match[0] === "!=" ? "!=" : "=", value };
}

function unescapeFieldValue(text: string): string {
  return text.replace(/\\(.?)|[,=]/gsu, (found, escaped: string | undefined) => {
    // Upstream names the character by its number.
    if (escaped === undefined) throw new SelectorError(`invalid field selector: unescaped character in value: ${found.charCodeAt(0)}`);
    if (!["\\", ",", "="].includes(escaped)) throw new SelectorError(`invalid field selector: invalid escape sequence: ${found}`);
    return escaped;
  });
}
