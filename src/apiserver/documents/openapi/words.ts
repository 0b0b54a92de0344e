/** Words as parts of operation ids and of sentences about operations. */

export function capitalise(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

/** "a Pod", "an Ingress"; a plural (Endpoints) has none. */
export function withArticle(kind: string): string {
  if (/[^s]s$/.test(kind)) return kind;
  return `${/^[AEIOU]/.test(kind) ? "an" : "a"} ${kind}`;
}
