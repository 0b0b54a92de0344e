/** A name of the cluster's DNS that does not resolve: `k8ts why dns/NAME`. Names of Services, and of Pods behind a headless one. */
import type { ClusterView, Seen, Subject } from "./cluster-view.ts";
import { defineExplainer, found, nameOf, subjectOf, type ExplainContext, type Explanation } from "./explainer.ts";
import { similarName } from "./facts/similar-name.ts";
import { blockedQueries } from "./facts/blocked-queries.ts";

const DOMAIN = "cluster.local";

interface ClusterName {
  readonly service: Subject;
  /** The host name of a Pod: "web-0" of "web-0.web.default.svc.cluster.local". */
  readonly host?: string;
}

export const dnsName = defineExplainer({
  resources: ["dns"],
  explain(_object, subject, context) {
    const text = `${subject.name} does not resolve`;
    const name = clusterNameOf(subject);
    if (name === undefined) {
      return outside(subject);
    }
    const service = context.view.get(name.service);
    if (service === undefined) return missingService(text, name, { view: context.view, subject });
    if (name.host !== undefined) return hostProblem(text, name.host, name.service, context);
    return (
      (service.spec.clusterIP === "None" ? headlessProblem(text, subject, name.service, context) : undefined) ??
      blockedQueries(subject, context.view)
    );
  },
});

/** "web", "web.shop", "web.shop.svc", "web-0.web.shop.svc.cluster.local"; undefined: a name of another domain. */
function clusterNameOf({ name, namespace }: Subject): ClusterName | undefined {
  const labels = name.replace(/\.$/, "").split(".");
  const at = labels.indexOf("svc");
  const domain = at < 0 ? "" : labels.slice(at + 1).join(".");
  const own = at < 0 ? labels : labels.slice(0, at);
  if ((domain !== "" && domain !== DOMAIN) || own.length > (at < 0 ? 2 : 3) || (at >= 0 && own.length < 2)) return undefined;
  const [host, ...rest] = own.length === 3 ? own : [undefined, ...own];
  const [service = "", within = namespace] = rest;
  const target = { resource: "services", namespace: within, name: service };
  return host === undefined ? { service: target } : { service: target, host };
}

interface MissingContext {
  readonly view: ClusterView;
  readonly subject: Subject;
}

/** Whether upstream servers know a name is not known here. */
function outside(subject: Subject, more = ""): Explanation {
  const form = "it is not a name of a Service (NAME, NAME.NAMESPACE or NAME.NAMESPACE.svc.cluster.local)";
  const text = `${more === "" ? form : more}; other names are answered by the upstream servers of DNS, which are not asked here`;
  return found({ text: `whether ${subject.name} resolves is not known`, because: [{ text, isUnknown: true }] });
}

function missingService(text: string, { service: target }: ClusterName, context: MissingContext): Explanation {
  const { view, subject } = context;
  const services = view.list("services");
  const elsewhere = services
    .filter(({ metadata }) => metadata.name === target.name)
    .map(({ metadata }) => `${target.name}.${metadata.namespace}`);
  const here = services.filter(({ metadata }) => metadata.namespace === target.namespace).map(({ metadata }) => metadata.name as string);
  const similar = similarName(target.name, here);
  const hasNamespace = view.get({ resource: "namespaces", namespace: "", name: target.namespace }) !== undefined;
  // "example.com" has the form of a Service and its namespace.
  if (subject.name.includes(".") && !hasNamespace && elsewhere.length === 0 && !subject.name.includes(".svc"))
    return outside(subject, `in the cluster it would be Service ${target.name} of the namespace ${target.namespace}, which does not exist`);
  const hint =
    elsewhere.length > 0
      ? `; that name exists in another namespace: ${elsewhere.join(", ")}`
      : similar === undefined
        ? ""
        : `; a similar name exists: ${similar}`;
  return found({ text, because: [{ text: `${nameOf(target)} does not exist${hint}`, root: "MissingService" }] });
}

/** Pods have names of their own below the headless Service that they name in spec.subdomain, as those of a StatefulSet do. */
function hostProblem(text: string, host: string, target: Subject, { view, explain }: ExplainContext): Explanation | undefined {
  const service = view.get(target);
  const pods = view.list("pods", target.namespace).filter(({ spec }) => spec.subdomain === target.name);
  const pod = pods.find(({ spec, metadata }) => (spec.hostname ?? metadata.name) === host);
  if (pod === undefined) {
    const names = pods.map(({ spec, metadata }) => spec.hostname ?? metadata.name).join(", ");
    const cause = `no Pod has the host name ${host} and the subdomain ${target.name}; ${names === "" ? "none has this subdomain" : `there are ${names}`}`;
    return found({ text, because: [{ text: cause, root: "MissingPod" }] });
  }
  if (service.spec.publishNotReadyAddresses === true) return undefined;
  const explained = explain(subjectOf("pods", pod));
  return explained === undefined ? undefined : found({ text, because: [explained.finding] }, explained.remedies);
}

function headlessProblem(text: string, subject: Subject, target: Subject, { explain }: ExplainContext): Explanation | undefined {
  const explained = explain(target);
  if (explained === undefined) return undefined;
  const headless: Seen = {
    text: `${nameOf(target)} is headless: its name resolves to its ready Pods, and it has no ready Pod`,
    because: [explained.finding],
  };
  return found(
    { text, because: [headless] },
    explained.remedies.map((remedy) => ({ ...remedy, goal: subject })),
  );
}
