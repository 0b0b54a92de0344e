/**
 * Parses an audit policy (--audit-policy-file: Policy of audit.k8s.io/v1). The caller reads the file. Throws one error with all problems, in
 * upstream's words where they concern a field.
 */
import { YamlError } from "../../api/machinery/codec/yaml/scalar.ts";
import { parseYaml } from "../../api/machinery/codec/yaml/yaml.ts";
import { child, element, invalid, notSupported, required } from "../../api/machinery/field-error.ts";
import { validateDnsSubdomain } from "../../api/machinery/names.ts";
import type { Json, JsonObject } from "../../api/machinery/object.ts";
import {
  AUDIT_LEVELS,
  AUDIT_STAGES,
  type AuditedResources,
  type AuditLevel,
  type AuditPolicy,
  type AuditRule,
  type AuditStage,
} from "../../apiserver/framework/audit.ts";
import { FieldReader } from "../field-reader.ts";

const RULE_FIELDS = [
  ...["level", "users", "userGroups", "verbs", "resources", "namespaces"],
  ...["nonResourceURLs", "omitStages", "omitManagedFields"],
];

export function readAuditPolicy(bytes: Uint8Array): AuditPolicy {
  const reader = new PolicyReader();
  const policy = reader.read(documentOf(bytes));
  if (reader.problems.length > 0) throw new Error(reader.problems.join("; "));
  if (policy.rules.length === 0) throw new Error("loaded illegal policy with 0 rules");
  return policy;
}

function documentOf(bytes: Uint8Array): Json {
  try {
    return parseYaml(bytes).value;
  } catch (error) {
    if (error instanceof YamlError) throw new Error(`Not valid YAML or JSON: ${error.message}`, { cause: error });
    throw error;
  }
}

class PolicyReader {
  readonly #fields = new FieldReader();

  get problems(): readonly string[] {
    return this.#fields.problems;
  }

  read(document: Json): AuditPolicy {
    const known = ["apiVersion", "kind", "metadata", "rules", "omitStages", "omitManagedFields"];
    const policy = this.#fields.object(document, "", known);
    const { apiVersion, kind } = policy;
    if (apiVersion !== "audit.k8s.io/v1" || kind !== "Policy")
      this.#fields.problems.push(
        `Must be a Policy of audit.k8s.io/v1, is a ${JSON.stringify(kind ?? "")} of ${JSON.stringify(apiVersion ?? "")}`,
      );
    const rules = this.#fields.list(policy["rules"], "rules");
    return {
      omitStages: this.#stages(policy["omitStages"], "omitStages"),
      rules: rules.map((rule, index) => this.#rule(rule, element("rules", index))),
      omitManagedFields: this.#flag(policy, "omitManagedFields", "") ?? false,
    };
  }

  #rule(value: Json, at: string): AuditRule {
    const rule = this.#fields.object(value, at, RULE_FIELDS);
    const level = this.#level(rule, at);
    const nonResourceUrls = this.#urls(rule, child(at, "nonResourceURLs"));
    const resources = this.#resources(rule, child(at, "resources"));
    const omitStages = this.#stages(rule["omitStages"], child(at, "omitStages"));
    const namespaces = this.#texts(rule, "namespaces", at);
    if (nonResourceUrls.length > 0 && resources.length + namespaces.length > 0) {
      const why = "rules cannot apply to both regular resources and non-resource URLs";
      this.#fields.add(invalid(child(at, "nonResourceURLs"), nonResourceUrls, why));
    }
    const omitManagedFields = this.#flag(rule, "omitManagedFields", at);
    return {
      level,
      users: this.#texts(rule, "users", at),
      userGroups: this.#texts(rule, "userGroups", at),
      verbs: this.#texts(rule, "verbs", at),
      resources,
      namespaces,
      nonResourceUrls,
      omitStages,
      ...(omitManagedFields === undefined ? {} : { omitManagedFields }),
    };
  }

  #level(rule: JsonObject, at: string): AuditLevel {
    const text = this.#fields.text(rule, "level", at);
    const level = AUDIT_LEVELS.find((known) => known === text);
    if (text === "") this.#fields.add(required(child(at, "level")));
    else if (level === undefined) this.#fields.add(notSupported(child(at, "level"), text, [...AUDIT_LEVELS]));
    return level ?? "None";
  }

  #urls(rule: JsonObject, at: string): readonly string[] {
    const urls = this.#fields.list(rule["nonResourceURLs"], at).map((url, index) => this.#fields.textOf(url, element(at, index)));
    for (const [index, url] of urls.entries()) {
      if (url === "*") continue;
      const place = element(at, index);
      if (!url.startsWith("/")) this.#fields.add(invalid(place, url, "non-resource URL rules must begin with a '/' character"));
      if (url.slice(0, -1).includes("*"))
        this.#fields.add(invalid(place, url, "non-resource URL wildcards '*' must be the final character of the rule"));
    }
    return urls;
  }

  #resources(rule: JsonObject, at: string): readonly AuditedResources[] {
    return this.#fields.list(rule["resources"], at).map((value, index) => {
      const place = element(at, index);
      const entry = this.#fields.object(value, place, ["group", "resources", "resourceNames"]);
      const group = this.#fields.text(entry, "group", place);
      const resources = this.#texts(entry, "resources", place);
      const resourceNames = this.#texts(entry, "resourceNames", place);
      const problems = group === "" || group === "*" ? [] : validateDnsSubdomain(group);
      // As upstream, the item is not named.
      if (problems.length > 0) this.#fields.add(invalid(child(at, "group"), group, problems.join(",")));
      if (resourceNames.length > 0 && resources.length === 0)
        this.#fields.add(invalid(child(at, "resourceNames"), resourceNames, "using resourceNames requires at least one resource"));
      return { group, resources, resourceNames };
    });
  }

  #stages(value: Json | undefined, at: string): readonly AuditStage[] {
    return this.#fields.list(value, at).flatMap((item, index) => {
      const text = this.#fields.textOf(item, element(at, index));
      const stage = AUDIT_STAGES.find((known) => known === text);
      if (stage !== undefined) return [stage];
      this.#fields.add(invalid(element(at, index), text, `allowed stages are ${AUDIT_STAGES.join(",")}`));
      return [];
    });
  }

  #texts(object: JsonObject, name: string, at: string): readonly string[] {
    const place = child(at, name);
    return this.#fields.list(object[name], place).map((item, index) => this.#fields.textOf(item, element(place, index)));
  }

  #flag(object: JsonObject, name: string, at: string): boolean | undefined {
    const value = object[name];
    if (value === undefined || value === null || typeof value === "boolean") return value ?? undefined;
    this.#fields.problems.push(`${child(at, name)} must be a boolean`);
    return undefined;
  }
}
