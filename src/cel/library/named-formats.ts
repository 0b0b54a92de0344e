/** Named formats: format.dns1123Label().validate(text). */
import {
  maskTrailingDash,
  validateDns1035Label,
  validateDnsLabel,
  validateDnsSubdomain,
  validateLabelValue,
  validateQualifiedName,
} from "../../api/machinery/names.ts";
import { ArrayList } from "../values/containers.ts";
import { spend } from "../values/meter.ts";
import { parseDate } from "../values/time.ts";
import { textOf } from "../values/text.ts";
import { NONE, Optional, type CelResult } from "../values/value.ts";
import { listOf, optionalOf, STRING } from "../types/type.ts";
import { FORMAT, FormatValue } from "./format-value.ts";
import { member, overload, type Library } from "./library.ts";
import { requestUrlProblem } from "./urls.ts";

/** Sizes of patterns as upstream estimates them. */
const LABEL_SIZE = 30;
const SUBDOMAIN_SIZE = 60;
const LABEL_VALUE_SIZE = 40;
const BASE64_SIZE = 84;
const URI_SIZE = 1103;
const UUID_SIZE = 70;
const DATE_TIME_SIZE = 71;

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/;
const UUID = /^[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}$/i;

function isDateTime(text: string): boolean {
  const lower = text.toLowerCase();
  const separator = lower.indexOf("t");
  const [date, time] = [lower.slice(0, Math.max(0, separator)), lower.slice(separator + 1)];
  if (text.length < 4 || separator < 0 || time.includes("t") || parseDate(date) === undefined) return false;
  const match = /^(\d{2}):(\d{2}):(\d{2})(?:.\d+)?(?:z|[+-]\d{2}:\d{2})$/.exec(time);
  return match !== null && Number(match[1]) <= 23 && Number(match[2]) <= 59 && Number(match[3]) <= 59;
}

function test(isValid: (text: string) => boolean, message: string): (text: string) => readonly string[] {
  return (text) => (isValid(text) ? [] : [message]);
}

function prefixed(validate: (text: string) => readonly string[]): (text: string) => readonly string[] {
  return (text) => validate(maskTrailingDash(text));
}

/** By the name in expressions. */
const FORMATS: Readonly<Record<string, FormatValue>> = {
  dns1123Label: new FormatValue("DNS1123Label", LABEL_SIZE, validateDnsLabel),
  dns1123Subdomain: new FormatValue("DNS1123Subdomain", SUBDOMAIN_SIZE, validateDnsSubdomain),
  dns1035Label: new FormatValue("DNS1035Label", LABEL_SIZE, validateDns1035Label),
  qualifiedName: new FormatValue("QualifiedName", SUBDOMAIN_SIZE, validateQualifiedName),
  dns1123LabelPrefix: new FormatValue("DNS1123LabelPrefix", LABEL_SIZE, prefixed(validateDnsLabel)),
  dns1123SubdomainPrefix: new FormatValue("DNS1123SubdomainPrefix", SUBDOMAIN_SIZE, prefixed(validateDnsSubdomain)),
  dns1035LabelPrefix: new FormatValue("DNS1035LabelPrefix", LABEL_SIZE, prefixed(validateDns1035Label)),
  labelValue: new FormatValue("LabelValue", LABEL_VALUE_SIZE, validateLabelValue),
  uri: new FormatValue("URI", URI_SIZE, (text) => [requestUrlProblem(text) ?? []].flat()),
  uuid: new FormatValue(
    "uuid",
    UUID_SIZE,
    test((text) => UUID.test(text), "does not match the UUID format"),
  ),
  byte: new FormatValue(
    "byte",
    BASE64_SIZE,
    test((text) => BASE64.test(text), "invalid base64"),
  ),
  date: new FormatValue(
    "date",
    DATE_TIME_SIZE,
    test((text) => parseDate(text) !== undefined, "invalid date"),
  ),
  datetime: new FormatValue("datetime", DATE_TIME_SIZE, test(isDateTime, "invalid datetime")),
};

/** Steps of matching a character of a text with a format's pattern. */
const VALIDATE_STEPS = 6;

function validate(format: FormatValue, text: string): CelResult {
  spend(text.length * VALIDATE_STEPS);
  const problems = format.validate(text);
  return problems.length === 0 ? NONE : new Optional(new ArrayList(problems));
}

function named(name: string): CelResult {
  const format = Object.hasOwn(FORMATS, name) ? FORMATS[name] : undefined;
  return format === undefined ? NONE : new Optional(format);
}

export const namedFormats: Library = {
  functions: [
    {
      name: "validate",
      overloads: [
        member("format-validate", [FORMAT, STRING], optionalOf(listOf(STRING)), ([format, text]) =>
          validate(format as FormatValue, textOf(text)),
        ),
      ],
    },
    { name: "format.named", overloads: [overload("format-named", [STRING], optionalOf(FORMAT), ([name]) => named(textOf(name)))] },
    ...Object.entries(FORMATS).map(([name, format]) => ({
      name: `format.${name}`,
      overloads: [overload(`format.${name}`, [], FORMAT, () => format)],
    })),
  ],
};
