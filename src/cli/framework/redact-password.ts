/** Removes the password from a URL, so that it does not end up in logs. */
export function redactPassword(text: string): string {
  return text.replace(/(?<=:\/\/)[^/?#\s]*@/g, "…@");
}
