/**
 * Finds out whether rules of a webhook or policy apply to a request, and in which version it wants the object. The answer depends on the
 * endpoint, the operation and the subresource only, so that callers compute it once for each and keep it.
 */
import type { RuleWithOperations } from "../../../api/generated/admissionregistration.k8s.io/v1.ts";
import { apiVersionOf, type GroupVersionKind } from "../../../api/machinery/object.ts";
import type { ObjectSchema } from "../../../api/machinery/schema.ts";
import type { AdmissionRequest } from "../../framework/admission.ts";
import type { Endpoint, Endpoints } from "../../framework/endpoints.ts";

/** What a request is about, as far as rules see it. */
export interface RequestPlace {
  readonly endpoint: Endpoint;
  readonly operation: AdmissionRequest["operation"];
  readonly subresource: string;
}

/** A matching rule, and the form in which its owner gets the object. */
export interface AdmissionTarget {
  /** Of the version that the rule names; that of the request if the rule names it. */
  readonly endpoint: Endpoint;
  /** Of the object: that of the subresource where it has one of its own (Scale, Eviction, PodExecOptions). */
  readonly kind: GroupVersionKind;
  /** True if it is the resource itself, also where a subresource writes a part of it. */
  readonly isWhole: boolean;
  /** Of the object. undefined: the server does not know the type. */
  readonly schema: ObjectSchema | undefined;
}

/** The part of rules that webhooks and policies have in common. */
export type MatchedRule = Pick<RuleWithOperations, "apiGroups" | "apiVersions" | "operations" | "resources" | "scope">;

export interface TargetRules {
  readonly rules: readonly MatchedRule[];
  /** Equivalent: a rule for another version of the same resource applies, too. */
  readonly matchPolicy: "Equivalent" | "Exact";
}

const GROUP = "admissionregistration.k8s.io";
const EXEMPT: readonly string[] = [
  "ValidatingWebhookConfiguration",
  "MutatingWebhookConfiguration",
  "ValidatingAdmissionPolicy",
  "ValidatingAdmissionPolicyBinding",
  "MutatingAdmissionPolicy",
  "MutatingAdmissionPolicyBinding",
];

/** As upstream: what decides on admission is not decided on by others, or a mistake could not be undone. */
export function isAdmissionConfiguration({ resource }: Endpoint): boolean {
  return resource.storage.group === GROUP && EXEMPT.includes(resource.kind);
}

/** Never seen by policies: what would make one impossible to remove. As upstream, webhook configurations are. */
export function isAdmissionPolicy(endpoint: Endpoint): boolean {
  return isAdmissionConfiguration(endpoint) && !endpoint.resource.kind.endsWith("WebhookConfiguration");
}

/** Never seen by policies: reviews of users and permissions, on which the cluster itself depends. */
export function isReview({ resource: { storage, stored } }: Endpoint): boolean {
  return !stored && (storage.group === "authentication.k8s.io" || storage.group === "authorization.k8s.io");
}

/** undefined: no rule matches. */
export function findTarget(
  endpoints: Pick<Endpoints, "find">,
  place: RequestPlace,
  { rules, matchPolicy }: TargetRules,
): AdmissionTarget | undefined {
  if (rules.some((rule) => matches(rule, place, place.endpoint))) return targetOf(place.endpoint, place);
  if (matchPolicy !== "Equivalent") return undefined;
  const others = equivalents(endpoints, place.endpoint);
  // Earlier rules take precedence over the order of versions, as upstream.
  for (const rule of rules) {
    const other = others.find((endpoint) => matches(rule, place, endpoint));
    if (other !== undefined) return targetOf(other, place);
  }
  return undefined;
}

/** The same resource in its other groups and versions. */
function equivalents(endpoints: Pick<Endpoints, "find">, { resource, served }: Endpoint): readonly Endpoint[] {
  return resource.served.flatMap((version) => {
    if (version.group === served.group && version.version === served.version) return [];
    return endpoints.find(version.group, version.version, resource.plural) ?? [];
  });
}

function targetOf(endpoint: Endpoint, { subresource }: RequestPlace): AdmissionTarget {
  const { schema: name, ...kind } = typeOf(endpoint, subresource);
  if (name === undefined) return { endpoint, kind, isWhole: true, schema: endpoint.schema };
  const schema = endpoint.schemas.get(name);
  return { endpoint, kind, isWhole: false, schema: schema?.type === "object" ? schema : undefined };
}

const SCALE = { group: "autoscaling", version: "v1", kind: "Scale", schema: "io.k8s.api.autoscaling.v1.Scale" };

/** The kind of the object that a request to this path carries. */
export function kindOf(endpoint: Endpoint, subresource: string): GroupVersionKind {
  const { schema: _schema, ...kind } = typeOf(endpoint, subresource);
  return kind;
}

/** Without the name of a schema, if it is the resource itself. */
function typeOf({ resource, served }: Endpoint, subresource: string): GroupVersionKind & { readonly schema?: string } {
  const own = { group: served.group, version: served.version, kind: resource.kind };
  const definition = resource.subresources[subresource];
  switch (definition?.of) {
    case "scale":
      return SCALE;
    case "action":
      return typeIn(definition.takes);
    case "connection":
      return typeIn(definition.options);
    default:
      return own;
  }
}

function typeIn({
  group,
  version,
  kind,
  schema,
}: GroupVersionKind & { readonly schema: string }): GroupVersionKind & { readonly schema: string } {
  return { group, version, kind, schema };
}

function matches(rule: MatchedRule, { operation, subresource }: RequestPlace, { resource, served }: Endpoint): boolean {
  return (
    hasScope(rule, resource.scope) &&
    (rule.operations ?? []).some((wanted) => wanted === "*" || wanted === operation) &&
    isListed(rule.apiGroups, served.group) &&
    isListed(rule.apiVersions, served.version) &&
    (rule.resources ?? []).some((wanted) => isResource(wanted, resource.plural, subresource))
  );
}

function hasScope({ scope = "*" }: MatchedRule, actual: "Namespaced" | "Cluster"): boolean {
  return scope === "*" || scope === actual;
}

function isListed(wanted: readonly string[] | undefined, actual: string): boolean {
  return wanted?.some((one) => one === "*" || one === actual) ?? false;
}

/** "pods", "pods/*", "*", "*\/scale". */
function isResource(wanted: string, plural: string, subresource: string): boolean {
  const slash = wanted.indexOf("/");
  const [wantedPlural, wantedSubresource] = slash === -1 ? [wanted, ""] : [wanted.slice(0, slash), wanted.slice(slash + 1)];
  return (wantedPlural === "*" || wantedPlural === plural) && (wantedSubresource === "*" || wantedSubresource === subresource);
}

/** "apps/v1, Kind=Deployment", as Go prints it. */
export function kindText(kind: GroupVersionKind): string {
  return `${apiVersionOf(kind)}, Kind=${kind.kind}`;
}
