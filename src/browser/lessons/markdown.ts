/**
 * Parses the Markdown of lessons into blocks: headings, paragraphs, lists, tables, pictures, quotes and fenced code. What it does not know
 * stays text, so nothing is lost. Pages render the blocks as elements, never as HTML. Pure.
 */

export type Inline =
  | { readonly is: "text"; readonly text: string }
  | { readonly is: "code"; readonly text: string }
  | { readonly is: "strong" | "emphasis"; readonly of: readonly Inline[] }
  | { readonly is: "link"; readonly of: readonly Inline[]; readonly address: string }
  | { readonly is: "image"; readonly description: string; readonly address: string };

export type Block =
  | { readonly is: "heading"; readonly level: number; readonly of: readonly Inline[]; readonly text: string }
  | { readonly is: "paragraph"; readonly of: readonly Inline[] }
  | { readonly is: "list"; readonly isOrdered: boolean; readonly items: readonly (readonly Inline[])[] }
  | { readonly is: "table"; readonly head: readonly (readonly Inline[])[]; readonly rows: readonly (readonly (readonly Inline[])[])[] }
  | { readonly is: "quote"; readonly of: readonly Inline[] }
  | CodeBlock;

export interface CodeBlock {
  readonly is: "code";
  /** After the fence: "sh", "yaml file=web.yaml", "check pods -l app=web". */
  readonly info: string;
  readonly text: string;
}

export function parseMarkdown(text: string): readonly Block[] {
  const lines = text.replaceAll("\r\n", "\n").split("\n");
  const blocks: Block[] = [];
  for (let at = 0; at < lines.length;) {
    const { block, next } = blockAt(lines, at);
    if (block !== undefined) blocks.push(block);
    at = next;
  }
  return blocks;
}

const FENCE = /^```(.*)$/;
const HEADING = /^(#{1,6}) +(.*)$/;
const ITEM = /^(?:([-*])|\d+\.) +(.*)$/;
const ROW = /^\|(.*)\|\s*$/;

function blockAt(lines: readonly string[], at: number): { readonly block?: Block; readonly next: number } {
  const line = lines[at] ?? "";
  if (line.trim() === "") return { next: at + 1 };
  const fence = FENCE.exec(line);
  if (fence !== null) return codeAt(lines, at, (fence[1] ?? "").trim());
  const heading = HEADING.exec(line);
  if (heading !== null) {
    const text = (heading[2] ?? "").trim();
    return { block: { is: "heading", level: heading[1]?.length ?? 1, of: parseInline(text), text }, next: at + 1 };
  }
  if (ITEM.test(line)) return listAt(lines, at);
  if (ROW.test(line)) return tableAt(lines, at);
  const isQuote = line.startsWith(">");
  const end = endOfText(lines, at, isQuote);
  const joined = lines
    .slice(at, end)
    .map((each) => (isQuote ? each.replace(/^> ?/, "") : each))
    .join(" ");
  return { block: { is: isQuote ? "quote" : "paragraph", of: parseInline(joined) }, next: end };
}

function codeAt(lines: readonly string[], at: number, info: string): { readonly block: Block; readonly next: number } {
  let end = at + 1;
  while (end < lines.length && lines[end] !== "```") end++;
  return { block: { is: "code", info, text: lines.slice(at + 1, end).join("\n") }, next: end + 1 };
}

function listAt(lines: readonly string[], at: number): { readonly block: Block; readonly next: number } {
  const isOrdered = ITEM.exec(lines[at] ?? "")?.[1] === undefined;
  const items: string[] = [];
  let end = at;
  for (; end < lines.length; end++) {
    const line = lines[end] ?? "";
    const item = ITEM.exec(line);
    if (item !== null) items.push(item[2] ?? "");
    else if (line.startsWith("  ") && line.trim() !== "") items.push(`${items.pop() ?? ""} ${line.trim()}`);
    else break;
  }
  return { block: { is: "list", isOrdered, items: items.map(parseInline) }, next: end };
}

function tableAt(lines: readonly string[], at: number): { readonly block: Block; readonly next: number } {
  let end = at;
  while (end < lines.length && ROW.test(lines[end] ?? "")) end++;
  const cells = (line: string) => (ROW.exec(line)?.[1] ?? "").split("|").map((cell) => parseInline(cell.trim()));
  const [head = "", , ...rows] = lines.slice(at, end);
  return { block: { is: "table", head: cells(head), rows: rows.map(cells) }, next: end };
}

function endOfText(lines: readonly string[], at: number, isQuote: boolean): number {
  let end = at + 1;
  const ends = (line: string) =>
    line.trim() === "" ||
    FENCE.test(line) ||
    HEADING.test(line) ||
    ROW.test(line) ||
    (ITEM.test(line) && !isQuote) ||
    line.startsWith(">") !== isQuote;
  while (end < lines.length && !ends(lines[end] ?? "")) end++;
  return end;
}

/** The alternatives in the order in which they are tried. */
const INLINE = /`([^`]+)`|!\[([^\]]*)\]\(([^)\s]+)\)|\[([^\]]+)\]\(([^)\s]+)\)|\*\*(.+?)\*\*|\*([^*\s][^*]*)\*/;

export function parseInline(text: string): readonly Inline[] {
  const found = INLINE.exec(text);
  if (found === null) return text === "" ? [] : [{ is: "text", text }];
  const [all, code, description, picture, label, address, strong, emphasis] = found;
  const before = text.slice(0, found.index);
  return [
    ...(before === "" ? [] : [{ is: "text", text: before } as const]),
    inlineOf(),
    ...parseInline(text.slice(found.index + all.length)),
  ];

  function inlineOf(): Inline {
    if (code !== undefined) return { is: "code", text: code };
    if (picture !== undefined) return { is: "image", description: description ?? "", address: picture };
    if (label !== undefined) return { is: "link", of: parseInline(label), address: address ?? "" };
    if (strong !== undefined) return { is: "strong", of: parseInline(strong) };
    return { is: "emphasis", of: parseInline(emphasis ?? "") };
  }
}
