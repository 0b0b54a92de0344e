/** Names of fields that CEL identifiers cannot have are escaped: "a-b" is written `a__dash__b`, "namespace" `__namespace__`. */

/** Keywords of CEL. */
export const KEYWORDS: ReadonlySet<string> = new Set([
  ...["true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function", "if", "import", "let"],
  ...["loop", "package", "namespace", "return", "var", "void", "while"],
]);

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ["__", "__underscores__"],
  [".", "__dot__"],
  ["-", "__dash__"],
  ["/", "__slash__"],
]);
const UNESCAPES: ReadonlyMap<string, string> = new Map(Array.from(ESCAPES, ([plain, escaped]) => [escaped, plain]));

/** The name in expressions; undefined: the field cannot be used in any. */
export function escapeName(name: string): string | undefined {
  if (name === "" || /^[0-9]/.test(name) || /[^a-zA-Z0-9_./-]/.test(name)) return undefined;
  if (KEYWORDS.has(name)) return `__${name}__`;
  return name.replaceAll(/__|[-./]/g, (found) => ESCAPES.get(found) ?? found);
}

/** The name of the field; undefined: not an escaped name. */
export function unescapeName(escaped: string): string | undefined {
  if (!escaped.includes("__")) return escaped;
  let isValid = true;
  const name = escaped.replaceAll(/__[^_]+__/g, (found) => {
    const plain = UNESCAPES.get(found);
    if (plain !== undefined) return plain;
    const keyword = found.slice(2, -2);
    if (!KEYWORDS.has(keyword) || found.length !== escaped.length) isValid = false;
    return keyword;
  });
  return isValid ? name : undefined;
}
