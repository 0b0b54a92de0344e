/** An address as it may be shown: who puts a password into one has not meant it for a log. */
export function withoutPassword(text: string): string {
  return text.replace(/(?<=:\/\/)[^/?#\s]*@/g, "…@");
}
