/**
 * Configuration of a kubelet from a ConfigMap, a feature that is gone: new nodes cannot ask for it, and what old ones still carry is held to
 * its rules.
 */
import type { ConfigMapNodeConfigSource, NodeConfigSource, NodeConfigStatus } from "../../../generated/core/v1.ts";
import { child, forbidden, invalid, required, type FieldError } from "../../../machinery/field-error.ts";
import { validateConfigMapKey, validateDnsLabel, validateDnsSubdomain, type NameValidator } from "../../../machinery/names.ts";

const ONE_REFERENCE = "exactly one reference subfield must be non-nil";

/** What is wanted names a ConfigMap, not one state of it. */
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

/** What is in use names exactly one state. */
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
