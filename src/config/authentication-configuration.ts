/**
 * Parses an AuthenticationConfiguration (--authentication-config): JWT issuers and anonymous authentication. The caller reads the file; the
 * text becomes plain values, or one error with all problems, in upstream's words where they concern a field.
 */
import { child, duplicate, element, forbidden, invalid, required, tooMany } from "../api/machinery/field-error.ts";
import { parseYaml } from "../api/machinery/codec/yaml/yaml.ts";
import { YamlError } from "../api/machinery/codec/yaml/scalar.ts";
import type { Json, JsonObject } from "../api/machinery/object.ts";
import { parsePemCertificates } from "../api/machinery/x509/certificate.ts";
import type { OpenIdIssuer, TokenRule } from "../apiserver/framework/identity.ts";
import { validateTokenRule, type RuleSubject } from "../apiserver/shared/token-rules/token-rules.ts";
import { withoutTrailing } from "../base/text.ts";
import { redactPassword } from "../cli/framework/redact-password.ts";
import { readClaimMappings } from "./claim-mappings.ts";
import { FieldReader } from "./field-reader.ts";

export interface AuthenticationConfiguration {
  readonly issuers: readonly OpenIdIssuer[];
  /** Absent: the flag applies. */
  readonly anonymous?: { readonly enabled: boolean; readonly paths?: readonly string[] };
}

/** Upstream's. */
const ISSUERS_MAX = 64;
const API_VERSIONS = ["v1", "v1beta1", "v1alpha1"].map((version) => `apiserver.config.k8s.io/${version}`);
const ALL_ALGORITHMS = ["ES256", "ES384", "ES512", "PS256", "PS384", "PS512", "RS256", "RS384", "RS512"];

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
  readonly #fields = new FieldReader();
  readonly #otherIssuers: readonly string[];

  constructor(otherIssuers: readonly string[]) {
    this.#otherIssuers = otherIssuers;
  }

  get problems(): readonly string[] {
    return this.#fields.problems;
  }

  read(document: Json): AuthenticationConfiguration {
    const { apiVersion, kind, jwt, anonymous } = this.#fields.object(document, "", ["apiVersion", "kind", "jwt", "anonymous"]);
    if (kind !== "AuthenticationConfiguration" || !API_VERSIONS.some((version) => version === apiVersion))
      this.#fields.problems.push(
        `Must be an AuthenticationConfiguration of ${API_VERSIONS[0]}, is ${kind === undefined ? "an object without kind" : `a ${JSON.stringify(kind)} of ${JSON.stringify(apiVersion)}`}`,
      );
    const list = this.#fields.list(jwt, "jwt");
    if (list.length > ISSUERS_MAX) this.#fields.add(tooMany("jwt", list.length, ISSUERS_MAX));
    const issuers = list.slice(0, ISSUERS_MAX).map((value, index) => this.#issuer(value, element("jwt", index)));
    this.#addRepeated(issuers, "url", (issuer) => issuer.url);
    this.#addRepeated(issuers, "discoveryURL", (issuer) => issuer.discoveryUrl);
    return { issuers, ...(anonymous === undefined || anonymous === null ? {} : { anonymous: this.#anonymous(anonymous) }) };
  }

  #issuer(value: Json, at: string): OpenIdIssuer {
    const parts = this.#fields.object(value, at, ["issuer", "claimValidationRules", "claimMappings", "userValidationRules"]);
    const rules = this.#claimRules(parts["claimValidationRules"], child(at, "claimValidationRules"));
    const userRules = this.#userRules(parts["userValidationRules"], child(at, "userValidationRules"));
    return {
      ...this.#provider(parts["issuer"], child(at, "issuer")),
      ...rules,
      ...readClaimMappings(this.#fields, { mappings: parts["claimMappings"], at: child(at, "claimMappings"), ...rules }),
      ...(userRules.length === 0 ? {} : { userRules }),
      algorithms: ALL_ALGORITHMS,
    };
  }

  #provider(value: Json | undefined, at: string): Pick<OpenIdIssuer, "url" | "discoveryUrl" | "audiences" | "certificateAuthority"> {
    const known = ["url", "discoveryURL", "certificateAuthority", "audiences", "audienceMatchPolicy", "egressSelectorType"];
    const issuer = this.#fields.object(value, at, known);
    const url = this.#fields.text(issuer, "url", at);
    const discoveryUrl = this.#fields.text(issuer, "discoveryURL", at);
    const certificateAuthority = this.#fields.text(issuer, "certificateAuthority", at);
    if (url === "") this.#fields.add(required(child(at, "url")));
    else this.#checkUrl(url, child(at, "url"));
    if (this.#otherIssuers.includes(url))
      this.#fields.add(invalid(child(at, "url"), url, `URL must not overlap with disallowed issuers: [${this.#otherIssuers.join(" ")}]`));
    if (discoveryUrl !== "") this.#checkUrl(discoveryUrl, child(at, "discoveryURL"));
    if (discoveryUrl !== "" && withoutTrailing(discoveryUrl, "/") === withoutTrailing(url, "/"))
      this.#fields.add(invalid(child(at, "discoveryURL"), redactPassword(discoveryUrl), "discoveryURL must be different from URL"));
    if (certificateAuthority !== "" && !hasCertificates(certificateAuthority))
      this.#fields.add(
        invalid(child(at, "certificateAuthority"), "<omitted>", "data does not contain any valid RSA or ECDSA certificates"),
      );
    if (this.#fields.text(issuer, "egressSelectorType", at) !== "")
      this.#fields.add(forbidden(child(at, "egressSelectorType"), "egress selectors are not supported; leave it out"));
    return {
      url,
      ...(discoveryUrl === "" ? {} : { discoveryUrl }),
      ...(certificateAuthority === "" ? {} : { certificateAuthority }),
      audiences: this.#audiences(issuer, at),
    };
  }

  #audiences(issuer: JsonObject, at: string): readonly string[] {
    const list = this.#fields.list(issuer["audiences"], child(at, "audiences"));
    const audiences = list.map((audience, index) => this.#fields.textOf(audience, element(child(at, "audiences"), index)));
    if (audiences.length === 0) this.#fields.add(required(child(at, "audiences"), `at least one ${child(at, "audiences")} is required`));
    for (const [index, audience] of audiences.entries()) {
      const place = element(child(at, "audiences"), index);
      if (audience === "") this.#fields.add(required(place));
      if (audiences.indexOf(audience) < index) this.#fields.add(duplicate(place, audience));
    }
    const policy = this.#fields.text(issuer, "audienceMatchPolicy", at);
    if (policy !== "MatchAny" && (policy !== "" || audiences.length > 1)) {
      const rule = audiences.length > 1 ? "MatchAny for multiple audiences" : "empty or MatchAny for single audience";
      this.#fields.add(invalid(child(at, "audienceMatchPolicy"), policy, `audienceMatchPolicy must be ${rule}`));
    }
    return audiences;
  }

  #checkUrl(text: string, at: string): void {
    const shown = redactPassword(text);
    if (!URL.canParse(text)) return this.#fields.add(invalid(at, shown, "must be a URL"));
    const { protocol, username, password, search, hash } = new URL(text);
    if (protocol !== "https:") this.#fields.add(invalid(at, shown, "URL scheme must be https"));
    if (username !== "" || password !== "") this.#fields.add(invalid(at, shown, "URL must not contain a username or password"));
    if (search !== "") this.#fields.add(invalid(at, shown, "URL must not contain a query"));
    if (hash !== "") this.#fields.add(invalid(at, shown, "URL must not contain a fragment"));
  }

  #claimRules(value: Json | undefined, at: string): Pick<OpenIdIssuer, "requiredClaims" | "claimRules"> {
    const claims = new Map<string, string>();
    const claimRules: TokenRule[] = [];
    for (const [index, each] of this.#fields.list(value, at).entries()) {
      const place = element(at, index);
      const rule = this.#fields.object(each, place, ["claim", "requiredValue", "expression", "message"]);
      const claim = this.#fields.text(rule, "claim", place);
      const expression = this.#fields.text(rule, "expression", place);
      const message = this.#fields.text(rule, "message", place);
      const requiredValue = this.#fields.text(rule, "requiredValue", place);
      if (claim !== "" && expression !== "") {
        this.#fields.add(invalid(place, claim, "claim and expression can't both be set"));
      } else if (expression !== "") {
        if (requiredValue !== "")
          this.#fields.add(invalid(child(place, "requiredValue"), requiredValue, "may not be specified when expression is set"));
        this.#addRule(claimRules, "claims", { expression, message }, child(place, "expression"));
      } else {
        if (claim === "") this.#fields.add(required(place, "claim or expression is required"));
        else if (message !== "") this.#fields.add(invalid(child(place, "message"), message, "may not be specified when claim is set"));
        if (claims.has(claim)) this.#fields.add(duplicate(child(place, "claim"), claim));
        claims.set(claim, requiredValue);
      }
    }
    return { requiredClaims: Object.fromEntries(claims), ...(claimRules.length === 0 ? {} : { claimRules }) };
  }

  #userRules(value: Json | undefined, at: string): readonly TokenRule[] {
    const rules: TokenRule[] = [];
    for (const [index, each] of this.#fields.list(value, at).entries()) {
      const place = element(at, index);
      const rule = this.#fields.object(each, place, ["expression", "message"]);
      const expression = this.#fields.text(rule, "expression", place);
      const message = this.#fields.text(rule, "message", place);
      if (expression === "") this.#fields.add(required(child(place, "expression")));
      else this.#addRule(rules, "user", { expression, message }, child(place, "expression"));
    }
    return rules;
  }

  #addRule(rules: TokenRule[], subject: RuleSubject, rule: TokenRule, at: string): void {
    if (rules.some(({ expression }) => expression === rule.expression)) return this.#fields.add(duplicate(at, rule.expression));
    for (const problem of validateTokenRule(subject, rule.expression, at)) this.#fields.add(problem);
    rules.push(rule);
  }

  #anonymous(value: Json): { readonly enabled: boolean; readonly paths?: readonly string[] } {
    const { enabled, conditions } = this.#fields.object(value, "anonymous", ["enabled", "conditions"]);
    if (enabled !== undefined && typeof enabled !== "boolean")
      this.#fields.add(invalid("anonymous.enabled", enabled, "must be true or false"));
    const list = this.#fields.list(conditions, "anonymous.conditions");
    const paths = list.map((each, index) => {
      const at = element("anonymous.conditions", index);
      return this.#fields.text(this.#fields.object(each, at, ["path"]), "path", at);
    });
    if (enabled !== true && list.length > 0)
      this.#fields.add(invalid("anonymous.conditions", list, "enabled should be set to true when conditions are defined"));
    return { enabled: enabled === true, ...(paths.length === 0 ? {} : { paths }) };
  }

  #addRepeated(issuers: readonly OpenIdIssuer[], member: string, read: (issuer: OpenIdIssuer) => string | undefined): void {
    const values = issuers.map(read);
    for (const [index, value] of values.entries()) {
      if (value !== undefined && value !== "" && values.indexOf(value) < index)
        this.#fields.add(duplicate(child(element("jwt", index), "issuer", member), value));
    }
  }
}

function hasCertificates(pem: string): boolean {
  try {
    return parsePemCertificates(pem).length > 0;
  } catch {
    return false;
  }
}
