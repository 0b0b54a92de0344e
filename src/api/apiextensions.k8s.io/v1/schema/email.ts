/**
 * E-mail addresses as Go's net/mail parses one: alone or in angle brackets after a name. By a pattern that is matched in linear time, since
 * the text is untrusted.
 */
import { parseIp } from "../../../machinery/ip/ip-address.ts";
import type { Patterns } from "./expression/match.ts";

const SPACE = "[ \\t]*";
/** Every character without a special meaning in addresses. */
const WORD = '[^\\x00-\\x20\\x7f()<>\\[\\]:;@\\\\,."]+';
const DOTTED = `${WORD}(?:\\.${WORD})*`;
const QUOTED = '"(?:[^\\x00-\\x08\\x0a-\\x1f\\x7f"\\\\]|\\\\[^\\x00-\\x08\\x0a-\\x1f\\x7f])+"';
const LITERAL = "\\[[^\\[\\]\\\\]*\\]";
const ADDRESS = `(?:${DOTTED}|${QUOTED})@${SPACE}(?:${DOTTED}|${LITERAL})`;
const COMMENT = "(?:\\([^()\\\\]*\\))?";
const NAME = `(?:(?:${WORD}|${QUOTED}|\\.)${SPACE})*`;
const MAILBOX = `^${SPACE}(?:${ADDRESS}|${NAME}<${SPACE}${ADDRESS}${SPACE}>)${SPACE}${COMMENT}${SPACE}$`;

export function isEmail(text: string, patterns: Patterns): boolean {
  if (!patterns.matches(MAILBOX, text)) return false;
  const literal = /@[ \t]*\[([^[\]\\]*)\]/.exec(text)?.[1];
  return literal === undefined || parseIp(literal.replace(/^IPv6:/i, "")) !== undefined;
}
