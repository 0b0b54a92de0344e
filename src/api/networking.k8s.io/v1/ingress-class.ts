/**
 * networking.k8s.io/v1 IngressClass: the controller that serves Ingresses of this class, and its parameters.
 *
 * The controller is immutable: two would otherwise serve the same Ingresses for a while. One class may be marked as the default, which
 * admission sets in Ingresses without one.
 */
import { deepEqual } from "../../../base/deep.ts";
import { changed, withChanges } from "../../changes.ts";
import type { IngressClass, IngressClassParametersReference, IngressClassSpec } from "../../generated/networking.k8s.io/v1.ts";
import { ageColumn, nameColumn, NONE, textColumn } from "../../machinery/columns.ts";
import { child, forbidden, immutable, invalid, notSupported, required, tooLong, type FieldError } from "../../machinery/field-error.ts";
import { isLongerThan, validateDnsLabel, validateDomainPrefixedPath } from "../../machinery/names.ts";
import { defineResource } from "../../machinery/resource.ts";
import { validateTypedReference } from "./typed-reference.ts";

const DEFAULT_CLASS = "ingressclass.kubernetes.io/is-default-class";
/** Upstream's limit. */
const CONTROLLER_LENGTH_MAX_BYTES = 250;
const SCOPES = ["Cluster", "Namespace"];

export const ingressClasses = defineResource<IngressClass>({
  kind: "IngressClass",
  plural: "ingressclasses",
  singular: "ingressclass",
  scope: "Cluster",
  served: [{ group: "networking.k8s.io", version: "v1", schema: "io.k8s.api.networking.v1.IngressClass", defaults: defaultClass }],

  changesGeneration: (next, previous) => !deepEqual(next.spec, previous.spec),

  *validate({ spec = {} }, previous) {
    const { controller = "", parameters } = spec;
    const at = "spec.controller";
    if (previous !== undefined && controller !== (previous.spec?.controller ?? "")) yield immutable(at, controller);
    if (isLongerThan(controller, CONTROLLER_LENGTH_MAX_BYTES)) yield tooLong(at, CONTROLLER_LENGTH_MAX_BYTES);
    yield* validateDomainPrefixedPath(controller, at);
    if (parameters !== undefined) yield* validateParameters(parameters, "spec.parameters");
  },

  columns: [
    {
      ...nameColumn,
      value: ({ metadata }) => (metadata.annotations?.[DEFAULT_CLASS] === "true" ? `${metadata.name} (default)` : metadata.name),
    },
    textColumn("Controller", "Controller of the class", ({ spec }) => spec?.controller ?? ""),
    textColumn("Parameters", "Parameters object", ({ spec }) => parametersText(spec?.parameters)),
    ageColumn,
  ],
});

function defaultClass(object: IngressClass): IngressClass {
  return withChanges(object, { spec: changed(object.spec, defaultSpec) });
}

function defaultSpec(spec: IngressClassSpec): IngressClassSpec {
  const { parameters } = spec;
  return withChanges(spec, { parameters: changed(parameters, (given) => withChanges(given, { scope: given.scope ?? "Cluster" })) });
}

function* validateParameters(parameters: IngressClassParametersReference, at: string): Iterable<FieldError> {
  const { scope = "", namespace } = parameters;
  const namespaceAt = child(at, "namespace");
  yield* validateTypedReference(parameters, at);
  if (!SCOPES.includes(scope)) yield notSupported(child(at, "scope"), scope, SCOPES);
  else if (scope === "Cluster") {
    if (namespace !== undefined) yield forbidden(namespaceAt, "`parameters.scope` is set to 'Cluster'");
  } else if (namespace === undefined) yield required(namespaceAt, "`parameters.scope` is set to 'Namespace'");
  else for (const wrong of validateDnsLabel(namespace)) yield invalid(namespaceAt, namespace, wrong);
}

/** "IngressParameters.example.com/golden". */
function parametersText(parameters: IngressClassParametersReference | undefined): string {
  if (parameters === undefined) return NONE;
  const { apiGroup, kind, name } = parameters;
  return `${apiGroup === undefined ? kind : `${kind}.${apiGroup}`}/${name}`;
}
