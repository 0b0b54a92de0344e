/** Who a certificate is for: the user and the groups that a client certificate stands for. */

export interface Subject {
  readonly commonName: string;
  readonly organizations: readonly string[];
}

/** One statement of a name: of what it is, and the text; undefined if it is no text. */
export interface NamePart {
  readonly type: string;
  readonly text: string | undefined;
}

export const COMMON_NAME = "2.5.4.3";
export const ORGANIZATION = "2.5.4.10";

/** As Go has it: of several common names the last counts; all organizations do, in their order. */
export function subjectOf(parts: readonly NamePart[]): Subject {
  return {
    commonName: parts.findLast(({ type, text }) => type === COMMON_NAME && text !== undefined)?.text ?? "",
    organizations: parts.flatMap(({ type, text }) => (type === ORGANIZATION && text !== undefined ? [text] : [])),
  };
}
