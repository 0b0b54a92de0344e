/** What Go says about a malformed IPv4 address. */
import { quoted } from "../values/text.ts";

/** undefined: the text is not meant as an IPv4 address. */
export function ipv4Problem(text: string): string | undefined {
  if (!/^[^:%]*\./.test(text)) return undefined;
  let fields = 0;
  let value = 0;
  let digits = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text[at] ?? "";
    if (/\d/.test(character)) {
      if (digits === 1 && value === 0) return "IPv4 field has octet with leading zero";
      value = value * 10 + Number(character);
      digits++;
      if (value > 255) return "IPv4 field has value >255";
    } else if (character === ".") {
      if (digits === 0 || at === text.length - 1) return `IPv4 field must have at least one digit (at ${quoted(text.slice(at))})`;
      if (fields === 3) return "IPv4 address too long";
      fields++;
      value = 0;
      digits = 0;
    } else return `unexpected character (at ${quoted(text.slice(at))})`;
  }
  return fields < 3 ? "IPv4 address too short" : undefined;
}
