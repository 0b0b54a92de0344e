/** Impersonation headers. */
import type { Impersonation } from "../kubeconfig/connection-config.ts";

const encoder = new TextEncoder();

export function impersonationHeaders({ user, uid, groups, extra }: Impersonation): Readonly<Record<string, string | readonly string[]>> {
  const headers: [string, string | readonly string[]][] = [["impersonate-user", headerText(user)]];
  if (uid !== undefined) headers.push(["impersonate-uid", headerText(uid)]);
  if (groups.length > 0) headers.push(["impersonate-group", groups.map(headerText)]);
  for (const [key, values] of extra) headers.push([`impersonate-extra-${headerName(key)}`, values.map(headerText)]);
  return Object.fromEntries(headers);
}

/** Characters allowed in header names, without the percent sign, which escapes the rest. */
const LEGAL = /[!#$&'*+.^_`|~0-9A-Za-z-]/;

function headerName(key: string): string {
  const letters = [...encoder.encode(key)].map((byte) => {
    const letter = String.fromCharCode(byte);
    return LEGAL.test(letter) ? letter : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  });
  return letters.join("").toLowerCase();
}

/** Headers are bytes; each is written as the character of the same code, which Node sends as that byte. */
export function headerText(text: string): string {
  return String.fromCharCode(...encoder.encode(text));
}
