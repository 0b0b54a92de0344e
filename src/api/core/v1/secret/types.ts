/** The built-in types of Secrets, and their required contents. Any other type may hold anything. */
import type { Secret } from "../../../generated/core/v1.ts";
import { parseExactly } from "../../../machinery/codec/json-parser.ts";
import { element, invalid, required, type FieldError } from "../../../machinery/field-error.ts";
import type { Json } from "../../../machinery/object.ts";
import { decodeText, type Contents } from "./contents.ts";
import { SERVICE_ACCOUNT_NAME_ANNOTATION, SERVICE_ACCOUNT_TOKEN_TYPE, serviceAccountNameOf } from "./service-account-token.ts";

type Rule = (data: Contents, secret: Secret) => Iterable<FieldError>;

const RULES: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  [SERVICE_ACCOUNT_TOKEN_TYPE, needsServiceAccount],
  ["kubernetes.io/dockercfg", (data) => needsJsonObject(data, ".dockercfg")],
  ["kubernetes.io/dockerconfigjson", (data) => needsJsonObject(data, ".dockerconfigjson")],
  // One of them is enough, and either may be empty.
  [
    "kubernetes.io/basic-auth",
    (data) => (Object.hasOwn(data, "username") ? [] : Object.hasOwn(data, "password") ? [] : missing(["username", "password"])),
  ],
  ["kubernetes.io/ssh-auth", (data) => ((data["ssh-privatekey"] ?? "") === "" ? missing(["ssh-privatekey"]) : [])],
  ["kubernetes.io/tls", (data) => missing(["tls.crt", "tls.key"].filter((key) => !Object.hasOwn(data, key)))],
]);

export function validateContentsOfType(secret: Secret): Iterable<FieldError> {
  return RULES.get(secret.type ?? "")?.(secret.data ?? {}, secret) ?? [];
}

function missing(keys: readonly string[]): readonly FieldError[] {
  return keys.map((key) => required(element("data", key)));
}

/** The token itself may be added later, by the token controller. */
function needsServiceAccount(_data: Contents, secret: Secret): readonly FieldError[] {
  return serviceAccountNameOf(secret) === "" ? [required(element("metadata.annotations", SERVICE_ACCOUNT_NAME_ANNOTATION))] : [];
}

/** Secret values are not quoted in the message. */
function needsJsonObject(data: Contents, key: string): readonly FieldError[] {
  if (!Object.hasOwn(data, key)) return missing([key]);
  const wrong = wrongWithJsonObject(decodeText(data[key] ?? ""));
  return wrong === undefined ? [] : [invalid(element("data", key), "<secret contents redacted>", wrong)];
}

function wrongWithJsonObject(text: string): string | undefined {
  try {
    const what = typeName(parseExactly(text).value);
    return what === undefined ? undefined : `json: cannot unmarshal ${what} into Go value of type map[string]interface {}`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** The name of the Go type; undefined for what Go decodes as an object, including null. */
function typeName(value: Json): string | undefined {
  if (Array.isArray(value)) return "array";
  if (typeof value === "boolean") return "bool";
  if (typeof value === "bigint") return "number";
  return typeof value === "object" ? undefined : typeof value;
}
