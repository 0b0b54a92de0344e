/**
 * Validation of names and other short texts of the API. Each `validate…` returns messages, none for a valid value; the messages, and the
 * expressions that they quote, are upstream's word for word, because kubectl shows them and tools match them. Lengths are bytes, also where
 * a message says characters: as upstream counts them. Not here: IP addresses (ip-validation.ts), and metadata as a whole
 * (metadata-validation.ts).
 */
import { utf8Length } from "../../base/utf8.ts";
import { invalid, required, type FieldError } from "./field-error.ts";

export type NameValidator = (name: string) => readonly string[];

const DNS_1123_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const DNS_1123_SUBDOMAIN = `${DNS_1123_LABEL}(\\.${DNS_1123_LABEL})*`;
const DNS_1123_UNDERSCORE_LABEL = "_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?";
const DNS_1123_UNDERSCORE_SUBDOMAIN = `${DNS_1123_UNDERSCORE_LABEL}(\\.${DNS_1123_UNDERSCORE_LABEL})*`;
const DNS_1035_LABEL = "[a-z]([-a-z0-9]*[a-z0-9])?";
const WILDCARD_SUBDOMAIN = `\\*\\.${DNS_1123_SUBDOMAIN}`;
const QUALIFIED_NAME = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
const LABEL_VALUE = `(${QUALIFIED_NAME})?`;
const C_IDENTIFIER = "[A-Za-z_][A-Za-z0-9_]*";
const ENV_VAR_NAME = "[-._a-zA-Z][-._a-zA-Z0-9]*";
const CONFIG_MAP_KEY = "[-._a-zA-Z0-9]+";
const HTTP_HEADER_NAME = "[-A-Za-z0-9]+";
const HTTP_PATH = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+";
const PERCENT = "[0-9]+%";
const CONDITION_REASON = "[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?";

/** RFC 1035 and RFC 1123: a label, and a subdomain of several labels. */
export const DNS_LABEL_LENGTH_MAX = 63;
export const DNS_SUBDOMAIN_LENGTH_MAX = 253;
const QUALIFIED_NAME_LENGTH_MAX = 63;
export const LABEL_VALUE_LENGTH_MAX = 63;
/** RFC 6335: service names. */
const PORT_NAME_LENGTH_MAX = 15;
const PORT_MAX = 65_535;
/** User and group ids are int64 in the API, but systems have at most 31 bits of them. */
const ID_MAX = 2 ** 31 - 1;

const EMPTY = "must be non-empty";
const DNS_1123_LABEL_WORDS =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character";
const DNS_1123_SUBDOMAIN_WORDS =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character";
const QUALIFIED_NAME_MESSAGE = regexMessage(
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  QUALIFIED_NAME,
  "MyName",
  "my.name",
  "123-abc",
);

const DNS_1123_LABEL_EXPRESSION = whole(DNS_1123_LABEL);
const DNS_1123_SUBDOMAIN_EXPRESSION = whole(DNS_1123_SUBDOMAIN);
const QUALIFIED_NAME_EXPRESSION = whole(QUALIFIED_NAME);
const LABEL_VALUE_EXPRESSION = whole(LABEL_VALUE);

/** "… (e.g. 'a', or 'b', regex used for validation is '…')". */
export function regexMessage(message: string, expression: string, ...examples: readonly string[]): string {
  const words = examples.map((example) => `'${example}', `).join(" or ");
  return `${message} (${words === "" ? "" : `e.g. ${words}`}regex used for validation is '${expression}')`;
}

/** Length message of most names. */
export function maxLengthMessage(max: number): string {
  return `must be no more than ${max} characters`;
}

/** Length message of labels and qualified names. */
function maxBytesMessage(max: number): string {
  return `must be no more than ${max} bytes`;
}

export function rangeMessage(low: number, high: number): string {
  return `must be between ${low} and ${high}, inclusive`;
}

/** RFC 1123 label: Namespaces, containers, volumes. */
export function validateDnsLabel(value: string): readonly string[] {
  const wrong = tooLongBy(value, DNS_LABEL_LENGTH_MAX);
  if (DNS_1123_LABEL_EXPRESSION.test(value)) return wrong;
  if (DNS_1123_SUBDOMAIN_EXPRESSION.test(value)) return [...wrong, "must not contain dots"];
  return [...wrong, regexMessage(DNS_1123_LABEL_WORDS, DNS_1123_LABEL, "my-name", "123-abc")];
}

/** RFC 1123 subdomain: names of most objects. */
export function validateDnsSubdomain(value: string): readonly string[] {
  const wrong = tooLongBy(value, DNS_SUBDOMAIN_LENGTH_MAX);
  return DNS_1123_SUBDOMAIN_EXPRESSION.test(value)
    ? wrong
    : [...wrong, regexMessage(DNS_1123_SUBDOMAIN_WORDS, DNS_1123_SUBDOMAIN, "example.com")];
}

/** The same rule with the messages of upstream's declarative validation, which says bytes: for the kinds whose names it validates. */
export function validateLongName(value: string): readonly string[] {
  const [characters, bytes] = [maxLengthMessage(DNS_SUBDOMAIN_LENGTH_MAX), maxBytesMessage(DNS_SUBDOMAIN_LENGTH_MAX)];
  return validateDnsSubdomain(value).map((wrong) => (wrong === characters ? bytes : wrong));
}

const UNDERSCORE_SUBDOMAIN = matcher(
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character",
  DNS_1123_UNDERSCORE_SUBDOMAIN,
  "example.com",
);

/** Search domains of a Pod's DNS may begin with underscores. */
export function validateDnsSubdomainWithUnderscore(value: string): readonly string[] {
  return [...tooLongBy(value, DNS_SUBDOMAIN_LENGTH_MAX), ...UNDERSCORE_SUBDOMAIN(value)];
}

const RFC_1035_LABEL = matcher(
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
  DNS_1035_LABEL,
  "my-name",
  "abc-123",
);

/** RFC 1035 label: as RFC 1123, but begins with a letter. Services. */
export function validateDns1035Label(value: string): readonly string[] {
  return [...tooLongBy(value, DNS_LABEL_LENGTH_MAX), ...RFC_1035_LABEL(value)];
}

const WILDCARD = matcher(
  "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character",
  WILDCARD_SUBDOMAIN,
  "*.example.com",
);

/** "*.example.com": hosts of an Ingress. */
export function validateWildcardDnsSubdomain(value: string): readonly string[] {
  return [...tooLongBy(value, DNS_SUBDOMAIN_LENGTH_MAX), ...WILDCARD(value)];
}

/** "name" or "example.com/name": keys of labels and annotations, finalizers, resource names. */
export function validateQualifiedName(value: string): readonly string[] {
  const parts = value.split("/");
  if (parts.length > 2) {
    return [`a valid label key ${QUALIFIED_NAME_MESSAGE} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`];
  }
  const name = parts.at(-1) ?? "";
  const wrong = parts.length === 2 ? prefixErrors(parts[0] ?? "") : [];
  if (name === "") wrong.push(`name part ${EMPTY}`);
  if (isLongerThan(name, QUALIFIED_NAME_LENGTH_MAX)) wrong.push(`name part ${maxBytesMessage(QUALIFIED_NAME_LENGTH_MAX)}`);
  if (!QUALIFIED_NAME_EXPRESSION.test(name)) wrong.push(`name part ${QUALIFIED_NAME_MESSAGE}`);
  return wrong;
}

function prefixErrors(prefix: string): string[] {
  if (prefix === "") return [`prefix part ${EMPTY}`];
  const wrong: string[] = [];
  if (isLongerThan(prefix, DNS_SUBDOMAIN_LENGTH_MAX)) wrong.push(`prefix part ${maxBytesMessage(DNS_SUBDOMAIN_LENGTH_MAX)}`);
  if (!DNS_1123_SUBDOMAIN_EXPRESSION.test(prefix)) {
    wrong.push(`prefix part ${regexMessage(DNS_1123_SUBDOMAIN_WORDS, DNS_1123_SUBDOMAIN, "example.com")}`);
  }
  return wrong;
}

const LABEL_VALUE_MESSAGE = regexMessage(
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  LABEL_VALUE,
  "MyValue",
  "my_value",
  "12345",
);

export function validateLabelValue(value: string): readonly string[] {
  const wrong: string[] = [];
  if (isLongerThan(value, LABEL_VALUE_LENGTH_MAX)) wrong.push(maxBytesMessage(LABEL_VALUE_LENGTH_MAX));
  if (!LABEL_VALUE_EXPRESSION.test(value)) wrong.push(LABEL_VALUE_MESSAGE);
  return wrong;
}

/** A port name. */
export function validatePortName(value: string): readonly string[] {
  const wrong = [...tooLongBy(value, PORT_NAME_LENGTH_MAX)];
  if (!/^[-a-z0-9]+$/.test(value)) wrong.push("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
  if (!/[a-z]/.test(value)) wrong.push("must contain at least one letter (a-z)");
  if (value.includes("--")) wrong.push("must not contain consecutive hyphens");
  if (value.startsWith("-") || value.endsWith("-")) wrong.push("must not begin or end with a hyphen");
  return wrong;
}

export function validatePortNumber(value: number): readonly string[] {
  return validateInRange(value, 1, PORT_MAX);
}

export function validateInRange(value: number | bigint, low: number, high: number): readonly string[] {
  return value >= low && value <= high ? [] : [rangeMessage(low, high)];
}

export function validateUserId(value: number | bigint): readonly string[] {
  return validateInRange(value, 0, ID_MAX);
}

export function validateGroupId(value: number | bigint): readonly string[] {
  return validateInRange(value, 0, ID_MAX);
}

const STRICT_ENV_VAR_NAME = matcher(
  "a valid environment variable name must consist of alphabetic characters, digits, '_', '-', or '.', and must not start with a digit",
  ENV_VAR_NAME,
  "my.env-name",
  "MY_ENV.NAME",
  "MyEnvName1",
);

/** The rule before 1.30, and where relaxed names are not allowed. */
export function validateEnvVarName(value: string): readonly string[] {
  return [...STRICT_ENV_VAR_NAME(value), ...directoryErrors(value)];
}

/** Any name that a Linux process accepts. */
export function validateRelaxedEnvVarName(value: string): readonly string[] {
  if (value === "") return [`environment variable name ${EMPTY}`];
  if (/^[ -<>-~]+$/.test(value)) return [];
  return ["a valid environment variable name must consist only of printable ASCII characters other than '='"];
}

const KEY = matcher(
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
  CONFIG_MAP_KEY,
  "key.name",
  "KEY_NAME",
  "key-name",
);

/** Keys of ConfigMaps and Secrets become file names. */
export function validateConfigMapKey(value: string): readonly string[] {
  return [...tooLongBy(value, DNS_SUBDOMAIN_LENGTH_MAX), ...KEY(value), ...directoryErrors(value)];
}

function directoryErrors(value: string): readonly string[] {
  if (value === "." || value === "..") return [`must not be '${value}'`];
  return value.startsWith("..") ? ["must not start with '..'"] : [];
}

/** Any text that fits one path segment: names of RBAC objects. */
export function validatePathSegmentName(value: string): readonly string[] {
  if (value === "." || value === "..") return [`may not be '${value}'`];
  return ["/", "%"].filter((forbidden) => value.includes(forbidden)).map((forbidden) => `may not contain '${forbidden}'`);
}

export const validateCIdentifier: NameValidator = matcher(
  "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_'",
  C_IDENTIFIER,
  "my_name",
  "MY_NAME",
  "MyName",
);

export const validateHttpHeaderName: NameValidator = matcher(
  "a valid HTTP header must consist of alphanumeric characters or '-'",
  HTTP_HEADER_NAME,
  "X-Header-Name",
);

export const validatePercent: NameValidator = matcher(
  "a valid percent string must be a numeric string followed by an ending '%'",
  PERCENT,
  "1%",
  "93%",
);

export const validateConditionReason: NameValidator = matcher(
  "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_'",
  CONDITION_REASON,
  "my_name",
  "MY_NAME",
  "MyName",
  "ReasonA,ReasonB",
  "ReasonA:ReasonB",
);

/** At least three segments: webhook names, signer domains. */
export function validateFullyQualifiedName(name: string, at: string): readonly FieldError[] {
  if (name === "") return [required(at)];
  const wrong = validateDnsSubdomain(name);
  if (wrong.length > 0) return [invalid(at, name, wrong.join(","))];
  return name.split(".").length >= 3 ? [] : [invalid(at, name, "should be a domain with at least three segments separated by dots")];
}

/** At least two labels, each within the length of one; a trailing dot is allowed. */
export function validateFullyQualifiedDomainName(name: string, at: string): readonly FieldError[] {
  if (name === "") return [required(at)];
  const domain = name.endsWith(".") ? name.slice(0, -1) : name;
  const wrong = validateDnsSubdomain(domain);
  if (wrong.length > 0) return [invalid(at, domain, wrong.join(","))];
  const labels = domain.split(".");
  if (labels.length < 2) return [invalid(at, domain, "should be a domain with at least two segments separated by dots")];
  const long = labels.find((label) => validateDnsLabel(label).length > 0);
  return long === undefined ? [] : [invalid(at, long, validateDnsLabel(long).join(","))];
}

const PATH = matcher("Invalid path", HTTP_PATH);

/** "acme.io/foo/bar". */
export function validateDomainPrefixedPath(value: string, at: string): readonly FieldError[] {
  if (value === "") return [required(at)];
  const slash = value.indexOf("/");
  const [host, path] = [value.slice(0, Math.max(slash, 0)), value.slice(slash + 1)];
  if (host === "" || path === "") return [invalid(at, value, 'must be a domain-prefixed path (such as "acme.io/foo")')];
  return [...validateDnsSubdomain(host).map((wrong) => invalid(at, host, wrong)), ...PATH(path).map((wrong) => invalid(at, path, wrong))];
}

/** "acme.io/foo". */
export function validateDomainPrefixedKey(value: string, at: string): readonly FieldError[] {
  if (value === "") return [required(at)];
  const wrong = validateQualifiedName(value);
  if (wrong.length > 0) return wrong.map((sentence) => invalid(at, value, sentence));
  return value.includes("/") ? [] : [invalid(at, value, 'must be a domain-prefixed key (such as "acme.io/foo")')];
}

/** Random characters will follow a `generateName`: "web-" is validated as if one were there already. */
export function maskTrailingDash(name: string): string {
  return name.length > 1 && name.endsWith("-") ? `${name.slice(0, -2)}a` : name;
}

function tooLongBy(value: string, max: number): readonly string[] {
  return isLongerThan(value, max) ? [maxLengthMessage(max)] : [];
}

function matcher(message: string, expression: string, ...examples: readonly string[]): NameValidator {
  const wrong = [regexMessage(message, expression, ...examples)];
  const compiled = whole(expression);
  return (value) => (compiled.test(value) ? [] : wrong);
}

function whole(expression: string): RegExp {
  return new RegExp(`^(?:${expression})$`);
}

/** Length in UTF-8. */
export function byteLength(text: string): number {
  return utf8Length(text);
}

export function isLongerThan(text: string, maxBytes: number): boolean {
  // A UTF-16 code unit takes one to three bytes, so most texts need not be encoded.
  return text.length > maxBytes || (text.length * 3 > maxBytes && byteLength(text) > maxBytes);
}
