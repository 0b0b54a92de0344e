/** Texts of the values whose Go struct differs from their JSON: quantities, ports by number or name, times and managed fields. Pure. */
import { encodeUtf8 } from "../../../../base/utf8.ts";
import { canonicalQuantity, isInt64Quantity, parseQuantity, type Quantity } from "../../../machinery/quantity.ts";

const WORD_BITS = 64n;
const WORD = 2n ** WORD_BITS;
/** Scale of large quantities in Go: they are counted in units of 10^-9. */
const DEC_SCALE = 9;
/** Seconds from the year 1, which Go's times count from, to 1970. */
const SECONDS_BEFORE_1970 = 62_135_596_800n;
/** The time zone of a controller manager in its container image, which has no file of zones. */
const LOCATION =
  "{name:(string)UTC zone:([]time.zone)<nil> tx:([]time.zoneTrans)<nil> extend:(string) " +
  "cacheStart:(int64)0 cacheEnd:(int64)0 cacheZone:(*time.zone)<nil>}";

/** True for what JSON has besides null, lists and objects; large integers are bigints. */
export function isScalar(value: unknown): value is string | number | bigint | boolean {
  return ["string", "number", "bigint", "boolean"].includes(typeof value);
}

/** A quantity as parsed from its canonical text. A text that is no quantity cannot be stored; it counts as unset. */
export function quantityText(value: unknown): string {
  if (typeof value !== "string" && typeof value !== "number") return amountText({ value: 0n, scale: 0, text: "", format: "" });
  const text = canonicalQuantity(String(value));
  if (text === "0") return amountText({ value: 0n, scale: 0, text, format: "DecimalSI" });
  const parsed = parseQuantity(text);
  const { unscaled, exponent, format } = parsed;
  if (!isInt64Quantity(text)) return amountText({ value: 0n, scale: 0, text: "", format, large: largeText(parsed) });
  return amountText({ value: unscaled, scale: exponent, text: parsed.text ?? "", format });
}

interface Amount {
  readonly value: bigint;
  readonly scale: number;
  /** The text, if Go keeps it. */
  readonly text: string;
  readonly format: string;
  readonly large?: string;
}

function amountText({ value, scale, text, format, large = "<nil>" }: Amount): string {
  const small = `(resource.int64Amount){value:(int64)${value} scale:(resource.Scale)${scale}}`;
  return `{i:${small} d:(resource.infDecAmount){Dec:(*inf.Dec)${large}} s:(string)${text} Format:(resource.Format)${format}}`;
}

function largeText({ unscaled, exponent }: Quantity): string {
  const magnitude = (unscaled < 0n ? -unscaled : unscaled) * 10n ** BigInt(exponent + DEC_SCALE);
  const number = `(big.Int){neg:(bool)${unscaled < 0n} abs:(big.nat)[${words(magnitude).join(" ")}]}`;
  return `{unscaled:${number} scale:(inf.Scale)${DEC_SCALE}}`;
}

/** Lowest first. */
function words(magnitude: bigint): readonly bigint[] {
  return magnitude < WORD ? [magnitude] : [magnitude % WORD, ...words(magnitude / WORD)];
}

export function intOrStringText(value: unknown): string {
  const isText = typeof value === "string";
  const number = isText || !isScalar(value) ? 0 : value;
  return `{Type:(intstr.Type)${isText ? 1 : 0} IntVal:(int32)${number} StrVal:(string)${isText ? value : ""}}`;
}

export function timeText(value: unknown): string {
  if (typeof value !== "string") return "{Time:(time.Time){wall:(uint64)0 ext:(int64)0 loc:(*time.Location)<nil>}}";
  const seconds = BigInt(Math.floor(Date.parse(value) / 1_000)) + SECONDS_BEFORE_1970;
  return `{Time:(time.Time){wall:(uint64)0 ext:(int64)${seconds} loc:(*time.Location)${LOCATION}}}`;
}

/** The JSON of managed fields, byte by byte. */
export function fieldsText(value: unknown): string {
  return `{Raw:([]uint8)[${encodeUtf8(JSON.stringify(value)).join(" ")}]}`;
}
