/**
 * networking.k8s.io/v1 Ingress: routes external HTTP requests to Services, by host and path. An ingress controller, which is not part of
 * Kubernetes, serves it.
 *
 * Not here: validation (ingress/validate.ts), the default class (admission).
 */
import { deepEqual } from "../../../base/deep.ts";
import { changed, changedItems, withChanges, withMembersOf } from "../../changes.ts";
import { ingressAddresses } from "../../core/v1/service.ts";
import type { HTTPIngressPath, Ingress, IngressBackend, IngressRule, IngressSpec } from "../../generated/networking.k8s.io/v1.ts";
import { ageColumn, nameColumn, NONE, SHOWN_MAX, textColumn } from "../../machinery/columns.ts";
import { ipWarnings } from "../../machinery/ip/ip-validation.ts";
import { defineResource } from "../../machinery/resource.ts";
import { CLASS_ANNOTATION, validateIngress, validateIngressStatus } from "./ingress/validate.ts";
import { withGroup } from "./typed-reference.ts";

export const ingresses = defineResource<Ingress>({
  kind: "Ingress",
  plural: "ingresses",
  singular: "ingress",
  shortNames: ["ing"],
  scope: "Namespaced",
  served: [{ group: "networking.k8s.io", version: "v1", schema: "io.k8s.api.networking.v1.Ingress", defaults: defaultIngress }],

  prepareForCreate: (ingress) => ({ ...ingress, status: { loadBalancer: {} } }),
  prepareForUpdate: (next, previous) => withMembersOf(next, previous, "status"),
  changesGeneration: (next, previous) => !deepEqual(next.spec, previous.spec),

  validate: validateIngress,
  *warnings({ metadata, spec }, previous) {
    const isByAnnotation = metadata.annotations?.[CLASS_ANNOTATION] !== undefined && spec?.ingressClassName === undefined;
    if (previous === undefined && isByAnnotation) {
      yield `annotation "${CLASS_ANNOTATION}" is deprecated, please use 'spec.ingressClassName' instead`;
    }
  },

  subresources: {
    status: {
      of: "object",
      verbs: ["get", "patch", "update"],
      prepareForUpdate: (next, previous) => withMembersOf(next, previous, "spec"),
      validateUpdate: validateIngressStatus,
      *warnings({ status }) {
        for (const [index, { ip = "" }] of (status?.loadBalancer?.ingress ?? []).entries()) {
          if (ip !== "") yield* ipWarnings(ip, `status.loadBalancer.ingress[${index}]`);
        }
      },
    },
  },

  columns: [
    nameColumn,
    textColumn("Class", "IngressClass", ({ spec }) => spec?.ingressClassName ?? NONE),
    textColumn("Hosts", "Hosts of the rules", ({ spec }) => hostsText(spec?.rules ?? [])),
    textColumn("Address", "Addresses of the load balancer", ({ status }) => ingressAddresses(status?.loadBalancer ?? {}).join(",")),
    textColumn("Ports", "Ports: 80, and 443 with TLS", ({ spec }) => portsText(spec?.tls ?? [])),
    ageColumn,
  ],
});

function defaultIngress(ingress: Ingress): Ingress {
  return withChanges(ingress, { spec: changed(ingress.spec, defaultSpec) });
}

function defaultSpec(spec: IngressSpec): IngressSpec {
  const rules = changedItems(spec.rules, (rule) => withChanges(rule, { http: changed(rule.http, defaultHttp) }));
  return withChanges(spec, { defaultBackend: changed(spec.defaultBackend, defaultBackend), rules });
}

function defaultHttp(http: NonNullable<IngressRule["http"]>): NonNullable<IngressRule["http"]> {
  const defaultPath = (path: HTTPIngressPath): HTTPIngressPath => withChanges(path, { backend: changed(path.backend, defaultBackend) });
  return withChanges(http, { paths: changedItems(http.paths, defaultPath) });
}

function defaultBackend(backend: IngressBackend): IngressBackend {
  return withChanges(backend, { resource: changed(backend.resource, withGroup) });
}

/** The first hosts. The rest counts all other rules, with a host or without, as upstream. */
function hostsText(rules: readonly IngressRule[]): string {
  const named = rules.flatMap(({ host = "" }, index) => (host === "" ? [] : [{ host, index }]));
  if (named.length === 0) return "*";
  const shown = named.slice(0, SHOWN_MAX);
  const text = shown.map(({ host }) => host).join(",");
  const isAll = shown.length < SHOWN_MAX || shown.at(-1)?.index === rules.length - 1;
  return isAll ? text : `${text} + ${rules.length - SHOWN_MAX} more...`;
}

function portsText(tls: readonly unknown[]): string {
  return tls.length === 0 ? "80" : "80, 443";
}
