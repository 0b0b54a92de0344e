/** A name of the cluster's DNS that does not resolve: `k8ts why dns/NAME`. */
import type { Subject } from "./cluster-view.ts";
import { defineExplainer, found, nameOf } from "./explainer.ts";

export const dnsName = defineExplainer({
  resources: ["dns"],
  explain(_object, subject, { view, explain }) {
    const [name = "", namespace = subject.namespace, kind = "svc", ...domain] = subject.name.replace(/\.$/, "").split(".");
    const text = `${subject.name} does not resolve`;
    if (kind !== "svc" || (domain.length > 0 && domain.join(".") !== "cluster.local")) {
      const cause = {
        text: "it is not a name of a Service (NAME, NAME.NAMESPACE or NAME.NAMESPACE.svc.cluster.local); other names are answered by upstream servers",
        isUnknown: true,
      } as const;
      return found({ text, because: [cause] });
    }
    const target: Subject = { resource: "services", namespace, name };
    const service = view.get(target);
    if (service === undefined) {
      const elsewhere = view
        .list("services")
        .filter(({ metadata }) => metadata.name === name)
        .map(({ metadata }) => `${name}.${metadata.namespace}`);
      const similar = elsewhere.length === 0 ? "" : `; that name exists in another namespace: ${elsewhere.join(", ")}`;
      return found({ text, because: [{ text: `${nameOf(target)} does not exist${similar}`, root: "MissingService" }] });
    }
    if (service.spec.clusterIP !== "None") return undefined;
    const explained = explain(target);
    if (explained === undefined) return undefined;
    const headless = {
      text: `${nameOf(target)} is headless: its name resolves to its ready Pods, and it has no ready Pod`,
      because: [explained.finding],
    };
    return found(
      { text, because: [headless] },
      explained.remedies.map((remedy) => ({ ...remedy, goal: subject })),
    );
  },
});
