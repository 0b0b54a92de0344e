/** An Ingress whose requests reach no Pod: its class, the Services of its rules, their ports and endpoints. */
import type { Seen, Subject } from "./cluster-view.ts";
import { defineExplainer, found, nameOf, patch, type ExplainContext, type Explanation, type Remedy } from "./explainer.ts";

const IS_DEFAULT = "ingressclass.kubernetes.io/is-default-class";
const LEGACY_CLASS = "kubernetes.io/ingress.class";

export const ingress = defineExplainer({
  resources: ["ingresses.networking.k8s.io"],
  explain(object, subject, context) {
    const classes = context.view.list("ingressclasses.networking.k8s.io");
    const className: string | undefined = object.spec.ingressClassName;
    const text = `${nameOf(subject)} serves no backend`;
    if (className !== undefined && !classes.some(({ metadata }) => metadata.name === className)) {
      const cause = { text: `IngressClass ${className} does not exist: no controller serves it`, root: "MissingIngressClass" };
      const known = classes.find(({ metadata }) => metadata.annotations?.[IS_DEFAULT] === "true") ?? classes[0];
      return found({ text, because: [cause] }, known === undefined ? [] : [useClass(subject, known)]);
    }
    const isDefault = ({ metadata }: Seen) => metadata.annotations?.[IS_DEFAULT] === "true";
    if (className === undefined && object.metadata.annotations?.[LEGACY_CLASS] === undefined && !classes.some(isDefault)) {
      const cause = {
        text: "it names no IngressClass, and the cluster has no default one: no controller serves it",
        root: "NoIngressClass",
      };
      return found(
        { text, because: [cause] },
        classes.slice(0, 1).map((known) => useClass(subject, known)),
      );
    }
    const paths: readonly Seen[] = (object.spec.rules ?? []).flatMap(({ http }: Seen) => http?.paths ?? []);
    const backends = [...paths.map(({ backend }) => backend), object.spec.defaultBackend].filter(
      (backend) => backend?.service !== undefined,
    );
    for (const { service } of backends) {
      const problem = backendProblem(text, service, object, subject, context);
      if (problem !== undefined) return problem;
    }
    return certificateProblem(object, subject, context);
  },
});

function useClass(subject: Subject, { metadata }: Seen): Remedy {
  return { text: `Use the class ${metadata.name}`, changes: [patch(subject, { spec: { ingressClassName: metadata.name } })] };
}

/** Its rules work, and clients do not accept the certificate. */
function certificateProblem(object: Seen, subject: Subject, { view }: ExplainContext): Explanation | undefined {
  for (const { secretName, hosts = [] } of (object.spec.tls ?? []) as readonly Seen[]) {
    if (secretName === undefined) continue;
    const secret = view.get({ resource: "secrets", namespace: subject.namespace, name: secretName });
    const text = `${nameOf(subject)} has no certificate for ${hosts.length === 0 ? "its hosts" : hosts.join(", ")}`;
    if (secret === undefined)
      return found({
        text,
        because: [{ text: `Secret ${subject.namespace}/${secretName}, named in spec.tls, does not exist`, root: "MissingSecret" }],
      });
    if (secret.data?.["tls.crt"] === undefined || secret.data?.["tls.key"] === undefined)
      return found({
        text,
        because: [{ text: `Secret ${subject.namespace}/${secretName} has no tls.crt and tls.key`, root: "MissingSecretKey" }],
      });
  }
  return undefined;
}

function backendProblem(
  text: string,
  backend: Seen,
  object: Seen,
  subject: Subject,
  { view, explain }: ExplainContext,
): Explanation | undefined {
  const target = { resource: "services", namespace: subject.namespace, name: backend.name as string };
  const service = view.get(target);
  if (service === undefined)
    return found({ text, because: [{ text: `${nameOf(target)}, the backend of a rule, does not exist`, root: "MissingService" }] });
  const { port = {} } = backend;
  const ports: readonly Seen[] = service.spec.ports ?? [];
  if (!ports.some(({ name, port: number }) => (port.name === undefined ? number === port.number : name === port.name))) {
    const shown = ports.map(({ name, port: number }) => (name === undefined ? number : `${number} (${name})`)).join(", ");
    const cause = { text: `${nameOf(target)} has no port ${port.name ?? port.number}; it has ${shown}`, root: "ServicePort" };
    return found({ text, because: [cause] }, ports.length === 1 ? [withPort(object, subject, backend, ports[0].port)] : []);
  }
  const explained = explain(target);
  if (explained === undefined) return undefined;
  return found(
    { text, because: [explained.finding] },
    explained.remedies.map((remedy) => ({ ...remedy, goal: subject })),
  );
}

function withPort(object: Seen, subject: Subject, backend: Seen, number: number): Remedy {
  const changed = (each: Seen) => (each?.service === backend ? { ...each, service: { ...backend, port: { number } } } : each);
  const rules = object.spec.rules?.map((rule: Seen) => ({
    ...rule,
    http: { ...rule.http, paths: (rule.http?.paths ?? []).map((path: Seen) => ({ ...path, backend: changed(path.backend) })) },
  }));
  const fallback = object.spec.defaultBackend === undefined ? {} : { defaultBackend: changed(object.spec.defaultBackend) };
  return { text: `Use port ${number}`, changes: [patch(subject, { spec: { ...(rules === undefined ? {} : { rules }), ...fallback } })] };
}
