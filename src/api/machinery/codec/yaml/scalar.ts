/**
 * Resolves plain YAML scalars by the rules of YAML 1.1 as go-yaml has them, since manifests are written for those: `yes` and `off` are
 * booleans, `0777` is octal, `1_000` a number, dates are text. Explicit tags (`!!str 5`) are honored.
 */
import { Base64Error, decodeBase64 } from "../base64.ts";
import { decodeText } from "../json.ts";

/** The text is not YAML, or YAML that JSON cannot represent. */
export class YamlError extends Error {
  override readonly name = "YamlError";
}

export type YamlScalar = null | boolean | number | bigint | string;

const WORDS: ReadonlyMap<string, null | boolean> = new Map([
  ...["y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"].map((word) => [word, true] as const),
  ...["n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"].map((word) => [word, false] as const),
  ...["", "~", "null", "Null", "NULL"].map((word) => [word, null] as const),
]);

const NOT_IN_JSON: ReadonlyMap<string, string> = new Map([
  ...[".nan", ".NaN", ".NAN"].map((word) => [word, "NaN"] as const),
  ...[".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"].map((word) => [word, "+Inf"] as const),
  ...["-.inf", "-.Inf", "-.INF"].map((word) => [word, "-Inf"] as const),
]);

const WHOLE = /^([+-]?)(?:0[xX]([0-9a-fA-F]+)|0[oO]?([0-7]+)|0[bB]([01]+)|([1-9][0-9]*|0))$/;
const FLOAT = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/;
/** 64 bits have at most 64 digits, a sign and the prefix "0b". Parsing longer ones is not linear. */
const WHOLE_LENGTH_MAX = 67;
const INT64_MAX = 2n ** 63n - 1n;
const UINT64_MAX = 2n ** 64n - 1n;

const TAG_PREFIX = "tag:yaml.org,2002:";
/** Tags that go-yaml resolves; text under any other tag is text. */
const RESOLVED_TAGS = ["str", "bool", "int", "float", "null"];

/** `tag` is the long form of the explicit one; without it only plain scalars are resolved. */
export function resolveScalar(text: string, { tag, isPlain }: { readonly tag: string | undefined; readonly isPlain: boolean }): YamlScalar {
  if (tag === undefined) return isPlain ? resolvePlain(text) : text;
  const name = tag.startsWith(TAG_PREFIX) ? tag.slice(TAG_PREFIX.length) : "";
  if (name === "binary") return decodeBinary(text);
  if (name === "str" || !RESOLVED_TAGS.includes(name)) return text;
  const value = resolvePlain(text);
  const found = typeName(value);
  if (found === name || (name === "float" && found === "int")) return value;
  throw new YamlError(`yaml: cannot decode !!${found} \`${text}\` as a !!${name}`);
}

/** YAML 1.1 reads these as timestamps. */
const TIMESTAMP = /^\d{4}-\d{1,2}-\d{1,2}(?:$|[Tt \t])/;

/** Line breaks or forbidden characters in YAML 1.1, and ordinary ones in YAML 1.2: they must be escaped. */
export const ESCAPED_CHARACTERS = /[\u007F-\u009F\u2028\u2029\uFEFF\uFFFE\uFFFF]/g;

/** True if the unquoted text resolves to itself. */
export function isPlainText(text: string): boolean {
  return (
    text !== "<<" &&
    text.search(ESCAPED_CHARACTERS) === -1 &&
    !TIMESTAMP.test(text) &&
    !WORDS.has(text) &&
    !NOT_IN_JSON.has(text) &&
    resolveNumber(text) === undefined
  );
}

function typeName(value: YamlScalar): string {
  if (value === null) return "null";
  if (typeof value === "string") return "str";
  if (typeof value === "boolean") return "bool";
  return typeof value === "bigint" || Number.isInteger(value) ? "int" : "float";
}

function resolvePlain(text: string): YamlScalar {
  const word = WORDS.get(text);
  if (word !== undefined) return word;
  if (!/^[-+.0-9]/.test(text)) return text;
  const special = NOT_IN_JSON.get(text);
  if (special !== undefined) throw new YamlError(`json: unsupported value: ${special}`);
  return resolveNumber(text) ?? text;
}

function resolveNumber(text: string): number | bigint | undefined {
  const plain = text.replaceAll("_", "");
  const [, sign, hex, octal, binary, decimal] = (plain.length > WHOLE_LENGTH_MAX ? undefined : WHOLE.exec(plain)) ?? [];
  if (sign !== undefined) {
    const literal = hex !== undefined ? `0x${hex}` : octal !== undefined ? `0o${octal}` : binary !== undefined ? `0b${binary}` : decimal;
    const whole = wholeNumber(BigInt(literal ?? "0") * (sign === "-" ? -1n : 1n));
    if (whole !== undefined) return whole;
  }
  if (!FLOAT.test(plain)) return undefined;
  const value = Number(plain);
  return Number.isFinite(value) ? value : undefined;
}

/** Undefined beyond 64 bits. What only fits unsigned becomes a float in between, upstream too. */
function wholeNumber(value: bigint): number | bigint | undefined {
  const number = Number(value);
  if (Number.isSafeInteger(number)) return number;
  if (value > UINT64_MAX || value < -INT64_MAX - 1n) return undefined;
  return value > INT64_MAX ? number : value;
}

function decodeBinary(text: string): string {
  try {
    return decodeText(decodeBase64(text.replaceAll(/\s/g, "")));
  } catch (error) {
    if (error instanceof Base64Error) throw new YamlError("yaml: !!binary value contains invalid base64 data", { cause: error });
    throw error;
  }
}
