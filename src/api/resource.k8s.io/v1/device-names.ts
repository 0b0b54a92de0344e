/**
 * Names of drivers, pools, attributes and shares of devices. A driver name is a domain in any case, a pool name is several domains
 * separated by slashes, and an attribute name is a C identifier with an optional domain.
 */
import { dnsSubdomain } from "../../core/v1/pod/validation/checks.ts";
import { invalid, required, tooLong, type FieldError } from "../../machinery/field-error.ts";
import { byteLength, isLongerThan, validateCIdentifier, validateDnsSubdomain, validateLabelValue } from "../../machinery/names.ts";

export const DRIVER_LENGTH_MAX_BYTES = 63;
const POOL_LENGTH_MAX_BYTES = 253;
/** The part of an attribute's or a capacity's name after the domain. */
export const IDENTIFIER_LENGTH_MAX_BYTES = 32;

/** The full name of an attribute or a capacity, with its domain and a slash. */
export const QUALIFIED_NAME_LENGTH_MAX_BYTES = DRIVER_LENGTH_MAX_BYTES + 1 + IDENTIFIER_LENGTH_MAX_BYTES;

export function* validateDriverName(name: string, at: string): Iterable<FieldError> {
  if (name === "") return yield required(at);
  if (isLongerThan(name, DRIVER_LENGTH_MAX_BYTES)) yield tooLong(at, DRIVER_LENGTH_MAX_BYTES);
  for (const wrong of validateDnsSubdomain(name.toLowerCase())) yield invalid(at, name, wrong);
}

export function* validatePoolName(name: string, at: string): Iterable<FieldError> {
  if (name === "") return yield required(at);
  if (isLongerThan(name, POOL_LENGTH_MAX_BYTES)) yield tooLong(at, POOL_LENGTH_MAX_BYTES);
  for (const part of name.split("/")) yield* dnsSubdomain(part, at);
}

/** "model", "gpu.example.com/model". Upstream accepts any name with two slashes or more, and so does this. */
export function* validateQualifiedName(name: string, at: string): Iterable<FieldError> {
  const [first = "", second, ...more] = name.split("/");
  if (more.length > 0) return;
  if (second === undefined) return yield* validateIdentifier(first, at);
  if (first === "") yield invalid(at, "", "the domain must not be empty");
  else yield* validateDriverName(first, at);
  if (second === "") yield invalid(at, "", "the name must not be empty");
  else yield* validateIdentifier(second, at);
}

/** A qualified name whose domain is required. */
export function* validateFullyQualifiedName(name: string, at: string): Iterable<FieldError> {
  yield* validateQualifiedName(name, at);
  if (!name.includes("/")) yield invalid(at, name, "a fully qualified name must be a domain and a name separated by a slash");
}

function* validateIdentifier(name: string, at: string): Iterable<FieldError> {
  if (isLongerThan(name, IDENTIFIER_LENGTH_MAX_BYTES)) yield tooLong(at, IDENTIFIER_LENGTH_MAX_BYTES);
  for (const wrong of validateCIdentifier(name)) yield invalid(at, name, wrong);
}

export function* validateTextOfLabel(value: string, at: string): Iterable<FieldError> {
  for (const wrong of validateLabelValue(value)) yield invalid(at, value, wrong);
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const UUID_LENGTH = 36;
const URN_PREFIX = "urn:uuid:";

/** The id of a share of a device: a UUID in canonical form. */
export function* validateShareId(uid: string, at: string): Iterable<FieldError> {
  const wrong = uuidProblem(uid);
  if (wrong !== undefined) {
    yield invalid(at, uid, `error validating uid: ${wrong}`);
  } else if (uid.length !== UUID_LENGTH || uid !== uid.toLowerCase()) {
    const form = "`xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase hexadecimal characters";
    yield invalid(at, uid, `uid must be in RFC 4122 normalized form, ${form}`);
  }
}

/** Why it is no UUID in any of its forms: plain, as a URN, in braces, or without hyphens. */
function uuidProblem(uid: string): string | undefined {
  const wrongFormat = "invalid UUID format";
  switch (byteLength(uid)) {
    case UUID_LENGTH:
      return UUID.test(uid) ? undefined : wrongFormat;
    case UUID_LENGTH + URN_PREFIX.length: {
      const prefix = uid.slice(0, URN_PREFIX.length);
      if (prefix.toLowerCase() !== URN_PREFIX) return `invalid urn prefix: ${JSON.stringify(prefix)}`;
      return UUID.test(uid.slice(URN_PREFIX.length)) ? undefined : wrongFormat;
    }
    case UUID_LENGTH + 2:
      if (!uid.startsWith("{") || !uid.endsWith("}")) return "invalid bracketed UUID format";
      return UUID.test(uid.slice(1, -1)) ? undefined : wrongFormat;
    case UUID_LENGTH - 4:
      return /^[0-9a-f]+$/i.test(uid) ? undefined : wrongFormat;
    default:
      return `invalid UUID length: ${byteLength(uid)}`;
  }
}
