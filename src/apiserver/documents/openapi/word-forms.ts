/** Formats words for operation ids and descriptions. */

export function capitalise(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

/** "a Pod", "an Ingress"; a plural (Endpoints) has no article. */
export function withArticle(kind: string): string {
  if (/[^s]s$/.test(kind)) return kind;
  return `${/^[AEIOU]/.test(kind) ? "an" : "a"} ${kind}`;
}
