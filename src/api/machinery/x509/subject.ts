/** The user and the groups of a client certificate. */

export interface Subject {
  readonly commonName: string;
  readonly organizations: readonly string[];
}

/** One attribute of a name: its type and text; undefined if it is not text. */
export interface NamePart {
  readonly type: string;
  readonly text: string | undefined;
}

export const COMMON_NAME = "2.5.4.3";
export const ORGANIZATION = "2.5.4.10";

/** As Go: of several common names the last counts; all organizations count, in their order. */
export function subjectOf(parts: readonly NamePart[]): Subject {
  return {
    commonName: parts.findLast(({ type, text }) => type === COMMON_NAME && text !== undefined)?.text ?? "",
    organizations: parts.flatMap(({ type, text }) => (type === ORGANIZATION && text !== undefined ? [text] : [])),
  };
}
