/** An Ingress whose requests reach no Pod: its class, the Services of its rules, their ports and endpoints. */
import type { Seen, Subject } from "./cluster-view.ts";
import { defineExplainer, found, nameOf, patch, type ExplainContext, type Explanation, type Remedy } from "./explainer.ts";

const IS_DEFAULT = "ingressclass.kubernetes.io/is-default-class";

export const ingress = defineExplainer({
  resources: ["ingresses.networking.k8s.io"],
  explain(object, subject, context) {
    const classes = context.view.list("ingressclasses.networking.k8s.io");
    const className: string | undefined = object.spec.ingressClassName;
    const text = `${nameOf(subject)} serves no backend`;
    if (className !== undefined && !classes.some(({ metadata }) => metadata.name === className)) {
      const cause = { text: `IngressClass ${className} does not exist: no controller serves it`, root: "MissingIngressClass" };
      const known = classes.find(({ metadata }) => metadata.annotations?.[IS_DEFAULT] === "true") ?? classes[0];
      const remedies: readonly Remedy[] =
        known === undefined
          ? []
          : [
              {
                text: `Use the class ${known.metadata.name}`,
                changes: [patch(subject, { spec: { ingressClassName: known.metadata.name } })],
              },
            ];
      return found({ text, because: [cause] }, remedies);
    }
    const paths: readonly Seen[] = (object.spec.rules ?? []).flatMap(({ http }: Seen) => http?.paths ?? []);
    const backends = [...paths.map(({ backend }) => backend), object.spec.defaultBackend].filter(
      (backend) => backend?.service !== undefined,
    );
    for (const { service } of backends) {
      const problem = backendProblem(text, service, object, subject, context);
      if (problem !== undefined) return problem;
    }
    return undefined;
  },
});

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
