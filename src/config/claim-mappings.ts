/** Reads claimMappings of an AuthenticationConfiguration: attributes of users are claims, or expressions on them. Messages are upstream's. */
import { child, duplicate, element, invalid, required } from "../api/machinery/field-error.ts";
import { validateDomainPrefixedPath } from "../api/machinery/names.ts";
import type { Json, JsonObject } from "../api/machinery/object.ts";
import type { ClaimMappings, OpenIdIssuer, TokenRule } from "../apiserver/framework/identity.ts";
import { readsClaim, validateClaimMapping } from "../apiserver/shared/token-rules/token-rules.ts";
import type { FieldReader } from "./field-reader.ts";

type Mapped = Pick<OpenIdIssuer, "usernameClaim" | "usernamePrefix" | "groupsClaim" | "groupsPrefix" | "uidClaim" | "mappings">;

export interface MappingsInput {
  readonly mappings: Json | undefined;
  readonly at: string;
  readonly claimRules?: readonly TokenRule[];
}

export function readClaimMappings(fields: FieldReader, { mappings, at, claimRules = [] }: MappingsInput): Mapped {
  const parts = fields.object(mappings, at, ["username", "groups", "uid", "extra"]);
  const username = prefixed(fields, parts["username"], child(at, "username"));
  const groups = prefixed(fields, parts["groups"], child(at, "groups"));
  const uid = uidOf(fields, parts["uid"], child(at, "uid"));
  const extra = extraOf(fields, parts["extra"], child(at, "extra"));
  if (username.claim === "" && username.expression === "") fields.add(required(child(at, "username"), "claim or expression is required"));
  checkEmail(fields, { username: username.expression, at, others: [...extra, ...claimRules].map(({ expression }) => expression) });
  const expressions: ClaimMappings = {
    ...(username.expression === "" ? {} : { username: username.expression }),
    ...(groups.expression === "" ? {} : { groups: groups.expression }),
    ...(uid.expression === "" ? {} : { uid: uid.expression }),
    ...(extra.length === 0 ? {} : { extra }),
  };
  return {
    usernameClaim: username.claim,
    usernamePrefix: username.prefix,
    ...(groups.claim === "" ? {} : { groupsClaim: groups.claim }),
    groupsPrefix: groups.prefix,
    ...(uid.claim === "" ? {} : { uidClaim: uid.claim }),
    ...(Object.keys(expressions).length === 0 ? {} : { mappings: expressions }),
  };
}

interface ClaimOrExpression {
  /** "" if absent. */
  readonly claim: string;
  readonly expression: string;
}

function prefixed(fields: FieldReader, value: Json | undefined, at: string): ClaimOrExpression & { readonly prefix: string } {
  const mapping = fields.object(value ?? {}, at, ["claim", "prefix", "expression"]);
  const { claim, expression } = claimOrExpression(fields, mapping, at);
  const prefix = fields.text(mapping, "prefix", at);
  const hasPrefix = typeof mapping["prefix"] === "string";
  const isOne = claim === "" || expression === "";
  if (isOne && expression !== "" && hasPrefix)
    fields.add(invalid(child(at, "prefix"), prefix, "may not be specified when expression is set"));
  if (isOne && claim !== "" && !hasPrefix)
    fields.add(
      required(child(at, "prefix"), "prefix is required when claim is set. It can be set to an empty string to disable prefixing"),
    );
  return { claim, expression, prefix };
}

function uidOf(fields: FieldReader, value: Json | undefined, at: string): ClaimOrExpression {
  return claimOrExpression(fields, fields.object(value ?? {}, at, ["claim", "expression"]), at);
}

function claimOrExpression(fields: FieldReader, mapping: JsonObject, at: string): ClaimOrExpression {
  const claim = fields.text(mapping, "claim", at);
  const expression = fields.text(mapping, "expression", at);
  if (claim !== "" && expression !== "") fields.add(invalid(at, "", "claim and expression can't both be set"));
  else if (expression !== "") checkExpression(fields, expression, child(at, "expression"));
  return { claim, expression };
}

function checkExpression(fields: FieldReader, expression: string, at: string): void {
  for (const problem of validateClaimMapping(expression, at)) fields.add(problem);
}

type ExtraMapping = NonNullable<ClaimMappings["extra"]>[number];

function extraOf(fields: FieldReader, value: Json | undefined, at: string): readonly ExtraMapping[] {
  const mappings: ExtraMapping[] = [];
  const keys = new Set<string>();
  for (const [index, each] of fields.list(value, at).entries()) {
    const place = element(at, index);
    const mapping = fields.object(each, place, ["key", "valueExpression"]);
    const key = fields.text(mapping, "key", place);
    const expression = fields.text(mapping, "valueExpression", place);
    checkKey(fields, key, child(place, "key"));
    if (keys.has(key)) {
      fields.add(duplicate(child(place, "key"), key));
      continue;
    }
    keys.add(key);
    if (expression === "") fields.add(required(child(place, "valueExpression")));
    else checkExpression(fields, expression, child(place, "valueExpression"));
    mappings.push({ key, expression });
  }
  return mappings;
}

function checkKey(fields: FieldReader, key: string, at: string): void {
  for (const problem of validateDomainPrefixedPath(key, at)) fields.add(problem);
  if (key !== key.toLowerCase()) fields.add(invalid(at, key, "must be lowercase"));
  const slash = key.indexOf("/");
  const domain = slash === -1 ? "" : key.slice(0, slash);
  if (RESERVED_DOMAINS.some((reserved) => domain === reserved || domain.endsWith(`.${reserved}`)))
    fields.add(invalid(at, key, "k8s.io, kubernetes.io and their subdomains are reserved for Kubernetes use"));
}

const RESERVED_DOMAINS = ["kubernetes.io", "k8s.io"];

const EMAIL_UNVERIFIED =
  "claims.email_verified must be used in claimMappings.username.expression or claimMappings.extra[*].valueExpression or " +
  "claimValidationRules[*].expression when claims.email is used in claimMappings.username.expression";

interface EmailInput {
  readonly username: string;
  readonly at: string;
  /** Expressions that may check it, besides that of the username. */
  readonly others: readonly string[];
}

/** A name that is an e-mail address that the issuer has not verified would let anyone be anyone. */
function checkEmail(fields: FieldReader, { username, at, others }: EmailInput): void {
  if (!readsClaim(username, "email") || [username, ...others].some((expression) => readsClaim(expression, "email_verified"))) return;
  fields.add(invalid(child(at, "username", "expression"), username, EMAIL_UNVERIFIED));
}
