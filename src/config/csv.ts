/** Parses CSV as Go's encoding/csv does: a quoted field may contain commas, line breaks and doubled quotes; empty lines are skipped. */

/** A field and its terminator. */
const FIELD = /(?:"(?<quoted>(?:[^"]|"")*)"|(?<plain>[^",\n]*))(?<end>,|\n|$)/y;

/** Throws without quoting the text, which may be a secret. */
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
