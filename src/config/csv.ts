/**
 * Records of texts, separated by commas and line breaks, as Go reads them: a text in double quotes may have commas and line breaks in it,
 * and double quotes that are written twice; empty lines are no records.
 */

/** A text, and what ends it. */
const FIELD = /(?:"(?<quoted>(?:[^"]|"")*)"|(?<plain>[^",\n]*))(?<end>,|\n|$)/y;

/** Throws one sentence, without the text, which may be a secret. */
export function csvRecords(text: string): readonly (readonly string[])[] {
  const lines = text.replaceAll("\r\n", "\n").replace(/\r$/, "");
  const records: string[][] = [];
  for (let at = 0; at < lines.length;) {
    if (lines[at] === "\n") {
      at++;
      continue;
    }
    const record: string[] = [];
    for (let isOpen = true; isOpen;) {
      FIELD.lastIndex = at;
      const { quoted, plain = "", end } = FIELD.exec(lines)?.groups ?? misquoted(lines, at);
      record.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
      at = FIELD.lastIndex;
      isOpen = end === ",";
    }
    records.push(record);
  }
  return records;
}

function misquoted(lines: string, at: number): never {
  const line = lines.slice(0, at).split("\n").length;
  throw new Error(`Line ${line} has a bare double quote: a field that contains one must be quoted`);
}
