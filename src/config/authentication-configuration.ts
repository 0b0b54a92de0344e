/**
 * Parses an AuthenticationConfiguration (--authentication-config): JWT issuers and anonymous authentication. The caller reads the file; the
 * text becomes plain values, or one error with all problems, in upstream's words where they concern a field. Not here: mappings of
 * claims by CEL expressions. A configuration with one is rejected, because ignoring it would authenticate other users.
 */
import {
  child,
  describeFieldError,
  duplicate,
  element,
  forbidden,
  invalid,
  required,
  tooMany,
  type FieldError,
} from "../api/machinery/field-error.ts";
import { parseYaml } from "../api/machinery/codec/yaml/yaml.ts";
import { YamlError } from "../api/machinery/codec/yaml/scalar.ts";
import type { Json, JsonObject } from "../api/machinery/object.ts";
import { parsePemCertificates } from "../api/machinery/x509/certificate.ts";
import type { OpenIdIssuer, TokenRule } from "../apiserver/framework/identity.ts";
import { validateTokenRule, type RuleSubject } from "../apiserver/shared/token-rules/token-rules.ts";
import { withoutTrailing } from "../base/text.ts";
import { redactPassword } from "../cli/framework/redact-password.ts";

export interface AuthenticationConfiguration {
  readonly issuers: readonly OpenIdIssuer[];
  /** Absent: the flag applies. */
  readonly anonymous?: { readonly enabled: boolean; readonly paths?: readonly string[] };
}

/** Upstream's. */
const ISSUERS_MAX = 64;
const API_VERSIONS = ["v1", "v1beta1", "v1alpha1"].map((version) => `apiserver.config.k8s.io/${version}`);
const ALL_ALGORITHMS = ["ES256", "ES384", "ES512", "PS256", "PS384", "PS512", "RS256", "RS384", "RS512"];
const NO_EXPRESSIONS = "CEL expressions are only supported in rules; use a claim instead";

/** `otherIssuers`: issuers of service account tokens, which must not be among these. Throws one error with all problems. */
export function readAuthenticationConfiguration(bytes: Uint8Array, otherIssuers: readonly string[]): AuthenticationConfiguration {
  const document = documentOf(bytes);
  const reader = new ConfigurationReader(otherIssuers);
  const configuration = reader.read(document);
  if (reader.problems.length > 0) throw new Error(reader.problems.join("; "));
  return configuration;
}

function documentOf(bytes: Uint8Array): Json {
  try {
    const { value, duplicates } = parseYaml(bytes);
    if (duplicates.length > 0) throw new YamlError(duplicates.join(", "));
    return value;
  } catch (error) {
    if (error instanceof YamlError) throw new Error(`Not valid YAML or JSON: ${error.message}`, { cause: error });
    throw error;
  }
}

class ConfigurationReader {
  readonly problems: string[] = [];
  readonly #otherIssuers: readonly string[];

  constructor(otherIssuers: readonly string[]) {
    this.#otherIssuers = otherIssuers;
  }

  read(document: Json): AuthenticationConfiguration {
    const { apiVersion, kind, jwt, anonymous } = this.#object(document, "", ["apiVersion", "kind", "jwt", "anonymous"]);
    if (kind !== "AuthenticationConfiguration" || !API_VERSIONS.some((version) => version === apiVersion))
      this.problems.push(
        `Must be an AuthenticationConfiguration of ${API_VERSIONS[0]}, is ${kind === undefined ? "an object without kind" : `a ${JSON.stringify(kind)} of ${JSON.stringify(apiVersion)}`}`,
      );
    const list = this.#list(jwt, "jwt");
    if (list.length > ISSUERS_MAX) this.#add(tooMany("jwt", list.length, ISSUERS_MAX));
    const issuers = list.slice(0, ISSUERS_MAX).map((value, index) => this.#issuer(value, element("jwt", index)));
    this.#addRepeated(issuers, "url", (issuer) => issuer.url);
    this.#addRepeated(issuers, "discoveryURL", (issuer) => issuer.discoveryUrl);
    return { issuers, ...(anonymous === undefined || anonymous === null ? {} : { anonymous: this.#anonymous(anonymous) }) };
  }

  #issuer(value: Json, at: string): OpenIdIssuer {
    const parts = this.#object(value, at, ["issuer", "claimValidationRules", "claimMappings", "userValidationRules"]);
    const mapped = child(at, "claimMappings");
    const mappings = this.#object(parts["claimMappings"], mapped, ["username", "groups", "uid", "extra"]);
    const username = this.#prefixedClaim(mappings["username"], child(mapped, "username"));
    const groups = this.#prefixedClaim(mappings["groups"], child(mapped, "groups"));
    if (username.claim === "" && !username.isExpression) this.#add(required(child(mapped, "username"), "claim or expression is required"));
    const uidClaim = this.#claim(mappings["uid"], child(mapped, "uid"));
    this.#refuseList(mappings, "extra", mapped);
    const userRules = this.#userRules(parts["userValidationRules"], child(at, "userValidationRules"));
    return {
      ...this.#provider(parts["issuer"], child(at, "issuer")),
      usernameClaim: username.claim,
      usernamePrefix: username.prefix,
      ...(groups.claim === "" ? {} : { groupsClaim: groups.claim }),
      groupsPrefix: groups.prefix,
      ...(uidClaim === "" ? {} : { uidClaim }),
      ...this.#claimRules(parts["claimValidationRules"], child(at, "claimValidationRules")),
      ...(userRules.length === 0 ? {} : { userRules }),
      algorithms: ALL_ALGORITHMS,
    };
  }

  #provider(value: Json | undefined, at: string): Pick<OpenIdIssuer, "url" | "discoveryUrl" | "audiences" | "certificateAuthority"> {
    const known = ["url", "discoveryURL", "certificateAuthority", "audiences", "audienceMatchPolicy", "egressSelectorType"];
    const issuer = this.#object(value, at, known);
    const url = this.#text(issuer, "url", at);
    const discoveryUrl = this.#text(issuer, "discoveryURL", at);
    const certificateAuthority = this.#text(issuer, "certificateAuthority", at);
    if (url === "") this.#add(required(child(at, "url")));
    else this.#checkUrl(url, child(at, "url"));
    if (this.#otherIssuers.includes(url))
      this.#add(invalid(child(at, "url"), url, `URL must not overlap with disallowed issuers: [${this.#otherIssuers.join(" ")}]`));
    if (discoveryUrl !== "") this.#checkUrl(discoveryUrl, child(at, "discoveryURL"));
    if (discoveryUrl !== "" && withoutTrailing(discoveryUrl, "/") === withoutTrailing(url, "/"))
      this.#add(invalid(child(at, "discoveryURL"), redactPassword(discoveryUrl), "discoveryURL must be different from URL"));
    if (certificateAuthority !== "" && !hasCertificates(certificateAuthority))
      this.#add(invalid(child(at, "certificateAuthority"), "<omitted>", "data does not contain any valid RSA or ECDSA certificates"));
    if (this.#text(issuer, "egressSelectorType", at) !== "")
      this.#add(forbidden(child(at, "egressSelectorType"), "egress selectors are not supported; leave it out"));
    return {
      url,
      ...(discoveryUrl === "" ? {} : { discoveryUrl }),
      ...(certificateAuthority === "" ? {} : { certificateAuthority }),
      audiences: this.#audiences(issuer, at),
    };
  }

  #audiences(issuer: JsonObject, at: string): readonly string[] {
    const list = this.#list(issuer["audiences"], child(at, "audiences"));
    const audiences = list.map((audience, index) => this.#textOf(audience, element(child(at, "audiences"), index)));
    if (audiences.length === 0) this.#add(required(child(at, "audiences"), `at least one ${child(at, "audiences")} is required`));
    for (const [index, audience] of audiences.entries()) {
      const place = element(child(at, "audiences"), index);
      if (audience === "") this.#add(required(place));
      if (audiences.indexOf(audience) < index) this.#add(duplicate(place, audience));
    }
    const policy = this.#text(issuer, "audienceMatchPolicy", at);
    if (policy !== "MatchAny" && (policy !== "" || audiences.length > 1)) {
      const rule = audiences.length > 1 ? "MatchAny for multiple audiences" : "empty or MatchAny for single audience";
      this.#add(invalid(child(at, "audienceMatchPolicy"), policy, `audienceMatchPolicy must be ${rule}`));
    }
    return audiences;
  }

  #checkUrl(text: string, at: string): void {
    const shown = redactPassword(text);
    if (!URL.canParse(text)) return this.#add(invalid(at, shown, "must be a URL"));
    const { protocol, username, password, search, hash } = new URL(text);
    if (protocol !== "https:") this.#add(invalid(at, shown, "URL scheme must be https"));
    if (username !== "" || password !== "") this.#add(invalid(at, shown, "URL must not contain a username or password"));
    if (search !== "") this.#add(invalid(at, shown, "URL must not contain a query"));
    if (hash !== "") this.#add(invalid(at, shown, "URL must not contain a fragment"));
  }

  #prefixedClaim(value: Json | undefined, at: string): { readonly claim: string; readonly prefix: string; readonly isExpression: boolean } {
    const mapping = this.#object(value ?? {}, at, ["claim", "prefix", "expression"]);
    const claim = this.#text(mapping, "claim", at);
    if (claim !== "" && typeof mapping["prefix"] !== "string")
      this.#add(
        required(child(at, "prefix"), "prefix is required when claim is set. It can be set to an empty string to disable prefixing"),
      );
    return { claim, prefix: this.#text(mapping, "prefix", at), isExpression: this.#refuseExpression(mapping, at) };
  }

  #claim(value: Json | undefined, at: string): string {
    const mapping = this.#object(value ?? {}, at, ["claim", "expression"]);
    this.#refuseExpression(mapping, at);
    return this.#text(mapping, "claim", at);
  }

  #claimRules(value: Json | undefined, at: string): Pick<OpenIdIssuer, "requiredClaims" | "claimRules"> {
    const claims = new Map<string, string>();
    const claimRules: TokenRule[] = [];
    for (const [index, each] of this.#list(value, at).entries()) {
      const place = element(at, index);
      const rule = this.#object(each, place, ["claim", "requiredValue", "expression", "message"]);
      const claim = this.#text(rule, "claim", place);
      const expression = this.#text(rule, "expression", place);
      const message = this.#text(rule, "message", place);
      const requiredValue = this.#text(rule, "requiredValue", place);
      if (claim !== "" && expression !== "") {
        this.#add(invalid(place, claim, "claim and expression can't both be set"));
      } else if (expression !== "") {
        if (requiredValue !== "")
          this.#add(invalid(child(place, "requiredValue"), requiredValue, "may not be specified when expression is set"));
        this.#addRule(claimRules, "claims", { expression, message }, child(place, "expression"));
      } else {
        if (claim === "") this.#add(required(place, "claim or expression is required"));
        else if (message !== "") this.#add(invalid(child(place, "message"), message, "may not be specified when claim is set"));
        if (claims.has(claim)) this.#add(duplicate(child(place, "claim"), claim));
        claims.set(claim, requiredValue);
      }
    }
    return { requiredClaims: Object.fromEntries(claims), ...(claimRules.length === 0 ? {} : { claimRules }) };
  }

  #userRules(value: Json | undefined, at: string): readonly TokenRule[] {
    const rules: TokenRule[] = [];
    for (const [index, each] of this.#list(value, at).entries()) {
      const place = element(at, index);
      const rule = this.#object(each, place, ["expression", "message"]);
      const expression = this.#text(rule, "expression", place);
      const message = this.#text(rule, "message", place);
      if (expression === "") this.#add(required(child(place, "expression")));
      else this.#addRule(rules, "user", { expression, message }, child(place, "expression"));
    }
    return rules;
  }

  #addRule(rules: TokenRule[], subject: RuleSubject, rule: TokenRule, at: string): void {
    if (rules.some(({ expression }) => expression === rule.expression)) return this.#add(duplicate(at, rule.expression));
    for (const problem of validateTokenRule(subject, rule.expression, at)) this.#add(problem);
    rules.push(rule);
  }

  #anonymous(value: Json): { readonly enabled: boolean; readonly paths?: readonly string[] } {
    const { enabled, conditions } = this.#object(value, "anonymous", ["enabled", "conditions"]);
    if (enabled !== undefined && typeof enabled !== "boolean") this.#add(invalid("anonymous.enabled", enabled, "must be true or false"));
    const list = this.#list(conditions, "anonymous.conditions");
    const paths = list.map((each, index) => {
      const at = element("anonymous.conditions", index);
      return this.#text(this.#object(each, at, ["path"]), "path", at);
    });
    if (enabled !== true && list.length > 0)
      this.#add(invalid("anonymous.conditions", list, "enabled should be set to true when conditions are defined"));
    return { enabled: enabled === true, ...(paths.length === 0 ? {} : { paths }) };
  }

  #refuseExpression(mapping: JsonObject, at: string): boolean {
    const isExpression = this.#text(mapping, "expression", at) !== "";
    if (isExpression) this.#add(forbidden(child(at, "expression"), NO_EXPRESSIONS));
    return isExpression;
  }

  /** Fields that only have expressions. */
  #refuseList(object: JsonObject, name: string, at: string): void {
    if (this.#list(object[name], child(at, name)).length > 0) this.#add(forbidden(child(at, name), NO_EXPRESSIONS));
  }

  #addRepeated(issuers: readonly OpenIdIssuer[], member: string, read: (issuer: OpenIdIssuer) => string | undefined): void {
    const values = issuers.map(read);
    for (const [index, value] of values.entries()) {
      if (value !== undefined && value !== "" && values.indexOf(value) < index)
        this.#add(duplicate(child(element("jwt", index), "issuer", member), value));
    }
  }

  /** An object with only these members; empty if it is not an object. */
  #object(value: Json | undefined, at: string, known: readonly string[]): JsonObject {
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      this.problems.push(`${at === "" ? "The document" : at} must be an object`);
      return {};
    }
    const object = value as JsonObject;
    for (const name of Object.keys(object)) if (!known.includes(name)) this.problems.push(`Unknown field ${child(at, name)}`);
    return object;
  }

  #list(value: Json | undefined, at: string): readonly Json[] {
    if (value === undefined || value === null) return [];
    if (Array.isArray(value)) return value as readonly Json[];
    this.problems.push(`${at} must be a list`);
    return [];
  }

  /** "" if absent. */
  #text(object: JsonObject, name: string, at: string): string {
    return this.#textOf(Object.hasOwn(object, name) ? object[name] : undefined, child(at, name));
  }

  #textOf(value: Json | undefined, at: string): string {
    if (typeof value === "string") return value;
    if (value !== undefined && value !== null) this.problems.push(`${at} must be a string`);
    return "";
  }

  #add(problem: FieldError): void {
    this.problems.push(describeFieldError(problem));
  }
}

function hasCertificates(pem: string): boolean {
  try {
    return parsePemCertificates(pem).length > 0;
  } catch {
    return false;
  }
}
