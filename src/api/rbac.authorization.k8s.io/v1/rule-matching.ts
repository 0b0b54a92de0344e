/**
 * Matches a request with one rule of a role. Rules only allow; everything else is denied. A resource name is matched exactly; a path may
 * end in a star. Any other star is literal. Not here: which rules apply to a user (apiserver/authorization/rbac), whether rules cover other
 * rules (rule-covering.ts, held-rules.ts).
 */
import type { PolicyRule } from "../../generated/rbac.authorization.k8s.io/v1.ts";
import { withoutTrailing } from "../../../base/text.ts";

export const EVERY = "*";

export interface AskedResource {
  readonly verb: string;
  readonly group: string;
  readonly plural: string;
  /** "" for the object itself. */
  readonly subresource: string;
}

/** For any name: see `ruleAllowsName`. */
export function ruleAllowsResource(rule: PolicyRule, { verb, group, plural, subresource }: AskedResource): boolean {
  return hasOrAll(rule.verbs, verb) && hasOrAll(rule.apiGroups, group) && matchesResource(rule.resources, plural, subresource);
}

/** `name` is "" for a collection, which a rule with resourceNames does not allow. */
export function ruleAllowsName({ resourceNames = [] }: PolicyRule, name: string): boolean {
  return resourceNames.length === 0 || resourceNames.includes(name);
}

export interface AskedPath {
  readonly verb: string;
  readonly path: string;
}

export function ruleAllowsPath({ verbs, nonResourceURLs = [] }: PolicyRule, { verb, path }: AskedPath): boolean {
  return nonResourceURLs.some((pattern) => pathCovers(pattern, path)) && hasOrAll(verbs, verb);
}

/** As upstream, any number of trailing stars is one. */
function pathCovers(pattern: string, path: string): boolean {
  return pattern === path || (pattern.endsWith(EVERY) && path.startsWith(withoutTrailing(pattern, EVERY)));
}

function hasOrAll(set: readonly string[] | undefined, member: string): boolean {
  return set !== undefined && (set.includes(EVERY) || set.includes(member));
}

/** "*" also covers every subresource; with a slash and a subresource it is that subresource of every resource. */
function matchesResource(resources: readonly string[] | undefined, plural: string, subresource: string): boolean {
  if (resources === undefined) return false;
  if (subresource === "") return hasOrAll(resources, plural);
  return hasOrAll(resources, `${plural}/${subresource}`) || resources.includes(`*/${subresource}`);
}
