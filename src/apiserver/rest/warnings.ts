/** Warnings as `Warning` headers (RFC 7234, code 299), which kubectl shows. Few and short, since headers have limits. */

/** Maximum length of all warnings; upstream's limit. */
const WARNINGS_LENGTH_MAX = 4_096;
/** Maximum length of each, if all together are too long. */
const TRUNCATED_LENGTH = 256;

/** Control characters in a warning: upstream does not send it. */
// oxlint-disable-next-line no-control-regex -- the characters that are searched for
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

export function warningHeaders(sentences: readonly string[]): { readonly warning?: readonly string[] } {
  if (sentences.length === 0) return {};
  const distinct = [...new Set(sentences)].filter((sentence) => sentence !== "" && !CONTROL.test(sentence));
  if (distinct.length === 0) return {};
  const total = distinct.reduce((length, sentence) => length + sentence.length, 0);
  const shown = total <= WARNINGS_LENGTH_MAX ? distinct : fitting(distinct.map((sentence) => sentence.slice(0, TRUNCATED_LENGTH)));
  return { warning: shown.map((sentence) => `299 - "${quoted(sentence)}"`) };
}

/** Until the limit is reached; the last one may exceed it. */
function fitting(sentences: readonly string[]): string[] {
  let length = 0;
  return sentences.filter((sentence) => {
    if (length >= WARNINGS_LENGTH_MAX) return false;
    length += sentence.length;
    return true;
  });
}

/** A header is sent as a byte per character, and as UTF-8 as upstream does: kubectl shows warnings in every language. */
function quoted(sentence: string): string {
  return bytesOf(sentence.replaceAll(/["\\]/g, "\\$&"));
}

const UTF_8 = new TextEncoder();
// oxlint-disable-next-line no-control-regex -- the characters that are not searched for
const ASCII = /^[\u0000-\u007f]*$/;

function bytesOf(text: string): string {
  return ASCII.test(text) ? text : String.fromCharCode(...UTF_8.encode(text));
}
