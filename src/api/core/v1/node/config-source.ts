/** Dynamic kubelet configuration from a ConfigMap, a removed feature: new Nodes cannot set it, and existing values are validated. */
import type { ConfigMapNodeConfigSource, NodeConfigSource, NodeConfigStatus } from "../../../generated/core/v1.ts";
import { child, forbidden, invalid, required, type FieldError } from "../../../machinery/field-error.ts";
import { validateConfigMapKey, validateDnsLabel, validateDnsSubdomain, type NameValidator } from "../../../machinery/names.ts";

const ONE_REFERENCE = "exactly one reference subfield must be non-nil";

/** The desired config names a ConfigMap without a version. */
export function* validateConfigSource({ configMap }: NodeConfigSource, at: string): Iterable<FieldError> {
  if (configMap === undefined) {
    yield invalid(at, { ConfigMap: null }, ONE_REFERENCE);
    return;
  }
  const here = child(at, "configMap");
  if ((configMap.uid ?? "") !== "") yield forbidden(child(here, "uid"), "uid must not be set in spec");
  if ((configMap.resourceVersion ?? "") !== "") {
    yield forbidden(child(here, "resourceVersion"), "resourceVersion must not be set in spec");
  }
  yield* validateReference(configMap, here);
}

/** The active config names an exact version. */
export function* validateConfigStatus(status: NodeConfigStatus, at: string): Iterable<FieldError> {
  for (const part of ["assigned", "active", "lastKnownGood"] as const) {
    const source = status[part];
    if (source === undefined) continue;
    const { configMap } = source;
    if (configMap === undefined) {
      yield invalid(child(at, part), { ConfigMap: null }, ONE_REFERENCE);
      continue;
    }
    const here = child(at, part, "configMap");
    for (const field of ["uid", "resourceVersion"] as const) if ((configMap[field] ?? "") === "") yield required(child(here, field));
    yield* validateReference(configMap, here);
  }
}

const RULES: Readonly<Record<"namespace" | "name" | "kubeletConfigKey", NameValidator>> = {
  namespace: validateDnsLabel,
  name: validateDnsSubdomain,
  kubeletConfigKey: validateConfigMapKey,
};

function* validateReference(configMap: ConfigMapNodeConfigSource, at: string): Iterable<FieldError> {
  for (const field of ["namespace", "name", "kubeletConfigKey"] as const) {
    const text = configMap[field] ?? "";
    if (text === "") yield required(child(at, field));
    else for (const wrong of RULES[field](text)) yield invalid(child(at, field), text, wrong);
  }
}
