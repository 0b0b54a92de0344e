/**
 * Rewrites the links of an HTML page on its way through a proxy, chunk by chunk. The link attributes are upstream's list; everything else
 * passes unchanged (upstream also reserializes all start tags, which makes no difference to browsers). Works on text with one character per
 * byte (latin1), so that any encoding survives. Memory is bounded: a tag longer than TAG_LENGTH_MAX passes unchanged.
 */

/** Keyed by element. */
const LINKS: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    a: ["href"],
    applet: ["codebase"],
    area: ["href"],
    audio: ["src"],
    base: ["href"],
    blockquote: ["cite"],
    body: ["background"],
    button: ["formaction"],
    command: ["icon"],
    del: ["cite"],
    embed: ["src"],
    form: ["action"],
    frame: ["longdesc", "src"],
    head: ["profile"],
    html: ["manifest"],
    iframe: ["longdesc", "src"],
    img: ["longdesc", "src", "usemap"],
    input: ["src", "usemap", "formaction"],
    ins: ["cite"],
    link: ["href"],
    object: ["classid", "codebase", "data", "usemap"],
    q: ["cite"],
    script: ["src"],
    source: ["src"],
    video: ["poster", "src"],
  }),
);

/** Raw text elements: their content is text up to the end tag. */
const RAW_TEXT = new Set(["iframe", "noembed", "noframes", "plaintext", "script", "style", "textarea", "title", "xmp"]);

/**
 * Far more than tags of real pages have except for data URLs, which are not rewritten anyway. A tag is parsed in one go, so a malicious
 * page can block the event loop for up to twice this much.
 */
const TAG_LENGTH_MAX = 32 * 1024;

/** An incomplete tag is parsed again when the buffer has doubled, at least to this: the cost stays linear. */
const RETRY_LENGTH_MIN = 256;

type State = { readonly is: "markup" } | { readonly is: "comment" } | { readonly is: "raw"; readonly element: string };

const MARKUP: State = { is: "markup" };

/** State for one page. */
export class HtmlLinks {
  readonly #rewrite: (link: string) => string;
  #state: State = MARKUP;
  /** Start of incomplete markup. */
  #held = "";
  /** Buffer length at which the held tag is parsed again. */
  #retryLength = 0;

  constructor(rewrite: (link: string) => string) {
    this.#rewrite = rewrite;
  }

  /** Takes a chunk of the page, returns the text that can be sent. */
  write(piece: string): string {
    this.#held += piece;
    return this.#held.length < this.#retryLength ? "" : this.#read();
  }

  /** Returns the buffered rest; no write may follow. */
  end(): string {
    return this.#read() + this.#held;
  }

  #read(): string {
    const text = this.#held;
    let written = "";
    let at = 0;
    while (at < text.length) {
      const step = this.#step(text, at);
      written += step.text;
      if (step.next === at && step.text === "") break;
      at = step.next;
    }
    this.#held = text.slice(at);
    this.#retryLength = this.#state === MARKUP && this.#held.length >= RETRY_LENGTH_MIN ? 2 * this.#held.length : 0;
    return written;
  }

  /** The text to send, and where to continue; the same position without text: more input is needed. */
  #step(text: string, at: number): Step {
    switch (this.#state.is) {
      case "markup":
        return this.#markup(text, at);
      case "comment":
        return this.#until(text, at, endOfComment(text, at), "-->".length);
      case "raw":
        return this.#until(text, at, endOfRaw(text, at, this.#state.element), this.#state.element.length + "</>".length);
    }
  }

  /** Everything up to `end`, where markup starts again; without an end, all but a possible prefix of it. */
  #until(text: string, at: number, end: number, markLength: number): Step {
    if (end === -1) return passed(text, at, Math.max(at, text.length - markLength));
    this.#state = MARKUP;
    return passed(text, at, end);
  }

  #markup(text: string, at: number): Step {
    const open = text.indexOf("<", at);
    if (open === -1) return passed(text, at, text.length);
    if (open > at) return passed(text, at, open);
    if (text.startsWith("<!--", at)) {
      this.#state = { is: "comment" };
      // "<!-->" is a whole comment: its end may overlap the dashes of its start.
      return passed(text, at, at + "<!".length);
    }
    if ("<!--".startsWith(text.slice(at))) return more(at);
    if (!/[a-z]/i.test(text[at + 1] ?? "")) return passed(text, at, at + 1);
    const tag = readTag(text, at);
    if (tag !== undefined) return this.#startTag(text, at, tag);
    return text.length - at > TAG_LENGTH_MAX ? passed(text, at, text.length) : more(at);
  }

  #startTag(text: string, at: number, { name, attributes, end }: Tag): Step {
    if (RAW_TEXT.has(name)) this.#state = { is: "raw", element: name };
    const links = LINKS.get(name);
    if (links === undefined) return passed(text, at, end);
    let written = "";
    let copied = at;
    for (const { key, start, end: valueEnd, value } of attributes) {
      if (!links.includes(key)) continue;
      const rewritten = this.#rewritten(value);
      if (rewritten === value) continue;
      written += `${text.slice(copied, start)}"${rewritten}"`;
      copied = valueEnd;
    }
    return { text: written + text.slice(copied, end), next: end };
  }

  /** The value of an attribute, with its original escaping if unchanged. */
  #rewritten(value: string): string {
    const link = unescape(value);
    if (link === undefined) return this.#rewrite(value).replaceAll('"', "&#34;");
    const rewritten = this.#rewrite(link);
    return rewritten === link ? value : escape(rewritten);
  }
}

interface Step {
  readonly text: string;
  readonly next: number;
}

function passed(text: string, at: number, next: number): Step {
  return { text: text.slice(at, next), next };
}

function more(at: number): Step {
  return { text: "", next: at };
}

function endOfComment(text: string, at: number): number {
  const end = text.indexOf("-->", at);
  return end === -1 ? -1 : end + "-->".length;
}

/** Start of the end tag. plaintext has none. */
function endOfRaw(text: string, at: number, element: string): number {
  if (element === "plaintext") return -1;
  const pattern = new RegExp(`</${element}[\\t\\n\\f\\r />]`, "gi");
  pattern.lastIndex = at;
  return pattern.exec(text)?.index ?? -1;
}

interface Tag {
  /** Lower case. */
  readonly name: string;
  readonly attributes: readonly Attribute[];
  /** After its ">". */
  readonly end: number;
}

interface Attribute {
  /** Lower case. */
  readonly key: string;
  readonly value: string;
  /** Range of the value, with its quotes. */
  readonly start: number;
  readonly end: number;
}

/** One match per name, attribute, or end: sticky, so that the cost is linear. */
const NAME = /[^\t\n\f\r />]+/y;
const ATTRIBUTE = /[\t\n\f\r /]*([^\t\n\f\r />=][^\t\n\f\r />=]*|=[^\t\n\f\r />=]*)/y;
const VALUE = /[\t\n\f\r ]*=[\t\n\f\r ]*(?:"([^"]*)"|'([^']*)'|([^\t\n\f\r >"'][^\t\n\f\r >]*)|(?=>))/y;
const END = /[\t\n\f\r /]*>/y;
const OPEN_VALUE = /[\t\n\f\r ]*=[\t\n\f\r ]*(?:["']|$)/y;

/** Undefined: its end is not received yet. */
function readTag(text: string, at: number): Tag | undefined {
  const name = matched(NAME, text, at + 1);
  if (name === undefined) return undefined;
  const attributes: Attribute[] = [];
  let next = at + 1 + name[0].length;
  for (;;) {
    const end = matched(END, text, next);
    if (end !== undefined) return { name: name[0].toLowerCase(), attributes, end: next + end[0].length };
    const key = matched(ATTRIBUTE, text, next);
    if (key === undefined) return undefined;
    next += key[0].length;
    const value = matched(VALUE, text, next);
    if (value === undefined) {
      // A value without its end, unless there is no value.
      if (matched(OPEN_VALUE, text, next) !== undefined) return undefined;
      continue;
    }
    const content = value[1] ?? value[2] ?? value[3] ?? "";
    const quotes = value[1] !== undefined || value[2] !== undefined ? 2 : 0;
    const valueEnd = next + value[0].length;
    attributes.push({ key: (key[1] ?? "").toLowerCase(), value: content, start: valueEnd - content.length - quotes, end: valueEnd });
    next = valueEnd;
  }
}

function matched(pattern: RegExp, text: string, at: number): RegExpExecArray | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text) ?? undefined;
}

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

/** Undefined: unknown character references. Such a link is rewritten unparsed. */
function unescape(value: string): string | undefined {
  let isKnown = true;
  const text = value.replace(REFERENCE, (reference: string, decimal?: string, hexadecimal?: string, name?: string) => {
    const code = decimal !== undefined ? Number(decimal) : hexadecimal !== undefined ? Number.parseInt(hexadecimal, 16) : 0;
    const character = code > 0 && code < FIRST_NON_ASCII ? String.fromCharCode(code) : ENTITIES[(name ?? "").toLowerCase()];
    isKnown &&= character !== undefined;
    return character ?? reference;
  });
  return isKnown ? text : undefined;
}

const REFERENCE = /&(?:#(\d+)|#x([0-9a-f]+)|([a-z][a-z0-9]*));/gi;

/** Characters from here on need several bytes in UTF-8. */
const FIRST_NON_ASCII = 0x80;

const ESCAPES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&#34;", "'": "&#39;", "\r": "&#13;" };

/** As Go's html package. */
function escape(link: string): string {
  return link.replace(/[&<>"'\r]/g, (character) => ESCAPES[character] ?? character);
}
