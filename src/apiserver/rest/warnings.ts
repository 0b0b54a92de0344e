/** Warnings as `Warning` headers (RFC 7234, code 299), which kubectl shows. Few and short, since headers have limits. */

/** Maximum length of all warnings; upstream's limit. */
const WARNINGS_LENGTH_MAX = 4_096;
/** Maximum length of each, if all together are too long. */
const TRUNCATED_LENGTH = 256;

export function warningHeaders(sentences: readonly string[]): { readonly warning?: readonly string[] } {
  if (sentences.length === 0) return {};
  const distinct = [...new Set(sentences)];
  const total = distinct.reduce((length, sentence) => length + sentence.length, 0);
  const shown = total <= WARNINGS_LENGTH_MAX ? distinct : fitting(distinct.map((sentence) => sentence.slice(0, TRUNCATED_LENGTH)));
  return { warning: shown.map((sentence) => `299 - "${quoted(sentence)}"`) };
}

function fitting(sentences: readonly string[]): string[] {
  let left = WARNINGS_LENGTH_MAX;
  return sentences.filter((sentence) => {
    left -= sentence.length;
    return left >= 0;
  });
}

/** Headers cannot contain line breaks and, to be safe with every client, no characters beyond ASCII. */
function quoted(sentence: string): string {
  return sentence
    .replaceAll(/[\r\n\t]+/g, " ")
    .replaceAll(/[^\x20-\x7e]/g, "?")
    .replaceAll(/["\\]/g, "\\$&");
}
