/** Which resources a container can be given, or measured by: Kubernetes' own, and those with a domain in their names. */
import { invalid, type FieldError } from "../../machinery/field-error.ts";
import { validateQualifiedName } from "../../machinery/names.ts";
import { isHugePages, isNativeResource } from "./pod/resource-list.ts";

const QUOTA_PREFIX = "requests.";
const OF_CONTAINERS = ["cpu", "memory", "ephemeral-storage"];
const COUNTED = [
  "pods",
  "resourcequotas",
  "services",
  "replicationcontrollers",
  "secrets",
  "configmaps",
  "persistentvolumeclaims",
  "storage",
];
/** Names that mean something somewhere, though not in a container. */
const STANDARD = [
  ...OF_CONTAINERS,
  ...OF_CONTAINERS.map((name) => `${QUOTA_PREFIX}${name}`),
  ...OF_CONTAINERS.map((name) => `limits.${name}`),
  ...COUNTED,
  "requests.storage",
  "services.nodeports",
  "services.loadbalancers",
];

export function* validateContainerResourceName(name: string, field: string): Iterable<FieldError> {
  const wrong = validateQualifiedName(name);
  for (const sentence of wrong) yield invalid(field, name, sentence);
  const isPlain = !name.includes("/");
  const isStandard = STANDARD.includes(name) || isHugePages(name.startsWith(QUOTA_PREFIX) ? name.slice(QUOTA_PREFIX.length) : name);
  if (wrong.length === 0 && isPlain && !isStandard) yield invalid(field, name, "must be a standard resource type or fully qualified");
  if (isPlain) {
    if (!OF_CONTAINERS.includes(name) && !isHugePages(name)) yield invalid(field, name, "must be a standard resource for containers");
  } else if (!isNativeResource(name) && !isExtendedResource(name)) {
    yield invalid(field, name, "doesn't follow extended resource name standard");
  }
}

/** Somebody else's: with a domain of theirs, and also possible in a quota, where it has a prefix. */
function isExtendedResource(name: string): boolean {
  return !name.startsWith(QUOTA_PREFIX) && validateQualifiedName(`${QUOTA_PREFIX}${name}`).length === 0;
}
