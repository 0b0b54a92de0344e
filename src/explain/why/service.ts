/** A Service without ready endpoints: its selector, its Pods, or the port. */
import type { Seen, Subject } from "./cluster-view.ts";
import { defineExplainer, found, nameOf, patch, subjectOf, type ExplainContext, type Explanation, type Remedy } from "./explainer.ts";
import { labelsOf, matchesLabels } from "./pod-template.ts";

export const service = defineExplainer({
  resources: ["services"],
  explain(object, subject, context) {
    const { view } = context;
    const selector = labelsOf(object.spec.selector);
    if (object.spec.type === "ExternalName") return undefined;
    const slices = view
      .list("endpointslices.discovery.k8s.io", subject.namespace)
      .filter(({ metadata }) => metadata.labels?.["kubernetes.io/service-name"] === subject.name);
    const ready = slices
      .flatMap(({ endpoints, ports }) => ((ports ?? []).length === 0 && (object.spec.ports ?? []).length > 0 ? [] : (endpoints ?? [])))
      .filter((endpoint: Seen) => endpoint.conditions?.ready !== false);
    if (ready.length > 0) return unbalanced(object, subject, view);
    const text = `${nameOf(subject)} has no ready endpoints`;
    if (Object.keys(selector).length === 0) {
      const cause = { text: "it has no selector, and no EndpointSlice with ready endpoints was created for it", root: "NoSelector" };
      return found({ text, because: [cause] });
    }
    const pods = view
      .list("pods", subject.namespace)
      .filter(
        ({ metadata, status }) => matchesLabels(selector, labelsOf(metadata.labels)) && !["Succeeded", "Failed"].includes(status?.phase),
      );
    if (pods.length === 0) return noPods(text, subject, selector, context);
    const explained = pods.flatMap((pod) => context.explain(subjectOf("pods", pod)) ?? []);
    const [first] = explained;
    if (first !== undefined)
      return found(
        { text, because: explained.slice(0, SHOWN_MAX).map(({ finding }) => finding) },
        first.remedies.map((remedy) => ({ ...remedy, goal: subject })),
      );
    return (
      portProblem(text, object, subject, pods) ??
      found({ text, because: [{ text: "its Pods are ready; the endpoints are not written yet", isUnknown: true }] })
    );
  },
});

/** Of type LoadBalancer, and still without an address. */
function unbalanced(object: Seen, subject: Subject, view: ExplainContext["view"]): Explanation | undefined {
  const { type, loadBalancerClass } = object.spec;
  if (type !== "LoadBalancer" || (object.status?.loadBalancer?.ingress ?? []).length > 0) return undefined;
  const said = warningOf(object, view);
  const provider = loadBalancerClass === undefined ? "" : ` of the class ${loadBalancerClass}`;
  const cause =
    said === undefined
      ? { text: `no controller${provider} has given it an address; none may run in this cluster`, root: "NoLoadBalancer" }
      : { text: said, root: "NoLoadBalancer" };
  return found({ text: `${nameOf(subject)} has no external address`, because: [cause] }, [
    {
      text: "Publish it on a port of every node instead",
      changes: [patch(subject, { spec: { type: "NodePort", loadBalancerClass: null } })],
    },
  ]);
}

function warningOf(object: Seen, view: ExplainContext["view"]): string | undefined {
  const own = (view.objects.get("events") ?? []) as readonly Seen[];
  return own.findLast(({ involvedObject, type }) => involvedObject?.uid === object.metadata.uid && type === "Warning")?.message;
}

/** Pods of one Service usually have the same problem. */
const SHOWN_MAX = 3;

function noPods(
  text: string,
  subject: Subject,
  selector: Readonly<Record<string, string>>,
  { view, explain }: ExplainContext,
): Explanation {
  const shown = Object.entries(selector)
    .map(([key, value]) => `${key}=${value}`)
    .join(", ");
  const owners = ["deployments.apps", "statefulsets.apps", "daemonsets.apps"].flatMap((resource) =>
    view.list(resource, subject.namespace).map((owner) => ({ resource, owner })),
  );
  const intended = owners.find(({ owner }) => matchesLabels(selector, labelsOf(owner.spec.template.metadata?.labels)));
  if (intended !== undefined) {
    const explained = explain(subjectOf(intended.resource, intended.owner));
    const remedies = (explained?.remedies ?? []).map((remedy) => ({ ...remedy, goal: subject }));
    return found(
      {
        text,
        because: [explained?.finding ?? { text: `${nameOf(subjectOf(intended.resource, intended.owner))} has no Pods`, isUnknown: true }],
      },
      remedies,
    );
  }
  const cause = { text: `no Pod in ${subject.namespace} has the labels of its selector: ${shown}`, root: "SelectorMismatch" };
  return found(
    { text, because: [cause] },
    nearest(
      subject,
      selector,
      owners.map(({ owner }) => owner),
    ),
  );
}

/** The workloads that share a label key with the selector, the most similar first: their own selector is the smallest change. */
function nearest(subject: Subject, selector: Readonly<Record<string, string>>, owners: readonly Seen[]): readonly Remedy[] {
  const candidates = owners
    .map((owner) => ({ owner, labels: labelsOf(owner.spec.selector?.matchLabels) }))
    .map((each) => ({ ...each, shared: Object.keys(selector).filter((key) => key in each.labels).length }))
    .filter(({ shared }) => shared > 0)
    .toSorted((a, b) => b.shared - a.shared);
  return candidates.slice(0, 2).map(({ owner, labels }) => {
    const dropped = Object.fromEntries(
      Object.keys(selector)
        .filter((key) => !(key in labels))
        .map((key) => [key, null]),
    );
    return {
      text: `Select the Pods of ${owner.metadata.name}`,
      changes: [patch(subject, { spec: { selector: { ...dropped, ...labels } } })],
    };
  });
}

function portProblem(text: string, object: Seen, subject: Subject, pods: readonly Seen[]): Explanation | undefined {
  const named = (object.spec.ports ?? []).filter(({ targetPort }: Seen) => typeof targetPort === "string");
  const offered = new Set(
    pods.flatMap(({ spec }) => spec.containers.flatMap(({ ports = [] }: Seen) => ports.map(({ name }: Seen) => name))),
  );
  const missing = named.find(({ targetPort }: Seen) => !offered.has(targetPort));
  if (missing === undefined) return undefined;
  const names = [...offered].filter((name) => name !== undefined);
  const cause = {
    text: `its targetPort "${missing.targetPort}" is not the name of a container port${names.length === 0 ? "" : `; there are ${names.join(", ")}`}`,
    root: "TargetPort",
  };
  const numbers = pods.flatMap(({ spec }) =>
    spec.containers.flatMap(({ ports = [] }: Seen) => ports.map(({ containerPort }: Seen) => containerPort)),
  );
  const target = names[0] ?? numbers[0];
  const ports = object.spec.ports.map((port: Seen) => (port === missing ? { ...port, targetPort: target } : port));
  return found(
    { text, because: [cause] },
    target === undefined ? [] : [{ text: `Use the container port ${target}`, changes: [patch(subject, { spec: { ports } })] }],
  );
}
